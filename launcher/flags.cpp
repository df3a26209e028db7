// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/flags.h"

#include <CLI/CLI.hpp>

namespace paced::launcher {

namespace {

// For CLI11 these are flags that can have a value, which keeps it from taking the next word for one. "(null)" is a
// bare flag, here as in srun.
void add_flag(CLI::App& command, const config::SettingNames& setting, const char* values, const char* help, config::FlagValue& value) {
    auto* option = command.add_flag(std::string(setting.flag) + "{(null)}", value.text, help);
    option->each([&value](const std::string&) { value.present = true; });
    option->type_name(values)->group("What to do, as for sbatch and srun")->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

}  // namespace

void add_flags(CLI::App& command, config::Flags& flags) {
    add_flag(command, config::mode_setting, "[=MODE]", "off, observe, pace, explain, or a policy of the site;\nwithout a value: the site's flag_mode", flags.mode);
    add_flag(command, config::order_setting, "=PATTERN", "the traffic that ranks are ordered for: none, ring, alltoall,\ntree, or a grid such as tp=8,pp=4,dp=16", flags.order);
    add_flag(command, config::bind_setting, "=WHAT", "bind each task: none, gpu-nic, gpu-nic-cpu", flags.bind);
    add_flag(command, config::window_setting, "=TIME", "longest delay of one collective: auto, 0, or a time: 500us", flags.window);
    add_flag(command, config::report_setting, "=LEVEL[,PATH]", "what the job log gets: none, summary, full; PATH of the JSON\nreport, with %j for the job and %s for the step", flags.report);
}

}  // namespace paced::launcher
