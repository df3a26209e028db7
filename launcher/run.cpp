// SPDX-License-Identifier: BSD-3-Clause
// `paced run [flags] -- CMD…`: prepares this rank and becomes CMD. Started once for each rank, by mpirun, torchrun or
// srun, or alone. Only a wrong command line is refused; whatever else goes wrong, CMD runs as it would without us and
// one line says so.
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>
#include <pwd.h>
#include <unistd.h>

#include "launcher/bind_rank.h"
#include "launcher/commands.h"
#include "launcher/flags.h"
#include "launcher/hand_over.h"
#include "launcher/launch.h"
#include "launcher/prepare_step.h"
#include "plugin/step/job_facts.h"
#include "plugin/step_environment.h"
#include "plugin/step_stamp.h"
#include "policy/base/text.h"
#include "policy/io/run_folder.h"
#include "policy/io/site_policy_file.h"

namespace paced::launcher {

namespace {

struct RunOptions {
    config::Flags flags;
    std::string config = io::default_policy_path;
    PrepareOptions prepare{{}, io::run_folder_base};
    std::vector<std::string> command;
};

// One write for all, so that the lines of several ranks do not mix.
void say(const Launch& launch, const std::vector<std::string>& lines) {
    if (launch.local_rank != 0) return;
    std::string text;
    for (const std::string& line : lines) text += "paced-fabric: " + line + '\n';
    std::cerr << text << std::flush;
}

// The command's own exit codes follow; 127 and 126 are what a shell says of one that cannot be started.
int become(const std::vector<std::string>& command) {
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    const int reason = errno;
    std::cerr << "paced run: cannot run '" << command[0] << "': " << std::strerror(reason) << '\n';
    return reason == ENOENT ? 127 : 126;
}

// The policy, or why there is nothing for us to do.
Result<config::SitePolicy> usable_policy(const std::string& file) {
    if (const auto path = io::kill_switch(file)) return fail(*path + " exists");
    const uid_t owner = file == io::default_policy_path ? 0 : geteuid();
    if (const auto why = io::why_untrusted(file, owner)) return fail("the site policy is not used: " + *why);
    Diagnostics diagnostics;
    auto policy = io::read_site_policy(file, diagnostics);
    if (!policy || !diagnostics.has_errors()) return policy;
    for (const Diagnostic& entry : diagnostics.entries())
        if (entry.severity == Severity::error) return fail("the site policy has mistakes: " + to_string(entry.location) + ": " + entry.message);
    return policy;
}

config::JobFacts facts_for(const config::SitePolicy& policy, const Environment& environment, const Launch& launch) {
    config::JobFacts job = step::job_facts(environment);
    if (job.nodes == 0) job.nodes = launch.node_count;
    // asking for the name may mean asking a directory server
    const bool by_user = std::any_of(policy.rules.begin(), policy.rules.end(), [](const config::Rule& rule) { return !rule.match.user.empty(); });
    if (!by_user) return job;
    if (const passwd* entry = getpwuid(geteuid())) job.user = entry->pw_name;
    return job;
}

// Under mpirun in a job whose sbatch or salloc was given flags: the plugin leaves such steps to us, and these are
// its words. They were checked at submission; one that has become wrong since is no reason to refuse a rank.
void take_over_job_flags(const config::SitePolicy& policy, const Environment& environment, config::Flags& flags, std::vector<std::string>& lines) {
    if (!environment.get("SLURM_JOB_ID")) return;  // left over from another job
    const struct {
        const char* name;
        const config::SettingNames& setting;
        config::FlagValue& flag;
    } all[] = {{"SLURM_PACED_FABRIC_MODE", config::mode_setting, flags.mode},
               {"SLURM_PACED_FABRIC_ORDER", config::order_setting, flags.order},
               {"SLURM_PACED_FABRIC_BIND", config::bind_setting, flags.bind},
               {"SLURM_PACED_FABRIC_WINDOW", config::window_setting, flags.window},
               {"SLURM_PACED_FABRIC_REPORT", config::report_setting, flags.report}};
    for (const auto& [name, setting, flag] : all) {
        const auto carried = environment.get(name);
        if (!carried || flag.present) continue;
        const config::FlagValue value{true, *carried};
        Diagnostics found;
        check_flag(policy, std::string_view(setting.flag).substr(2), value, found);
        if (found.has_errors()) lines.push_back(std::string(setting.flag) + " of the job: " + found.entries().front().message + ", ignored");
        else flag = value;
    }
}

// Splits what resolve() found: mistakes on the command line, which are refused, and in the environment, which may
// be years old and are ignored with a line.
bool refuses(const Diagnostics& found, Diagnostics& wrong_flags, std::vector<std::string>& lines) {
    for (const Diagnostic& entry : found.entries()) {
        if (entry.location.file.starts_with("--"))
            wrong_flags.error(entry.location, entry.message).hints = entry.hints;
        else
            lines.push_back(entry.location.file + ": " + entry.message + ", ignored");
    }
    return wrong_flags.has_errors();
}

void apply(const Preparation& made) {
    narrow_to(made.cpus);
    for (const auto& [name, value] : made.set) setenv(name.c_str(), value.c_str(), 1);
    for (const std::string& name : made.unset) unsetenv(name.c_str());
}

// The step around us has prepared everything already: the plugin, or an outer `paced run` of the same rank.
bool prepared_already(const Environment& environment, const Launch& launch) {
    const std::string stamp = environment.get_or(step::stamp, "");
    if (!step::stamp_holds(stamp.c_str())) return false;
    return stamp == launch.stamp || stamp.starts_with("slurm:");
}

// Our own flags once more, for the ranks.
Words flags_again(const RunOptions& options) {
    Words words;
    const auto add = [&](const config::SettingNames& setting, const config::FlagValue& flag) {
        if (flag.present) words.push_back(std::string(setting.flag) + (flag.bare() ? "" : '=' + flag.text));
    };
    add(config::mode_setting, options.flags.mode);
    add(config::order_setting, options.flags.order);
    add(config::bind_setting, options.flags.bind);
    add(config::window_setting, options.flags.window);
    add(config::report_setting, options.flags.report);
    if (!options.prepare.leader.empty()) words.push_back("--leader=" + options.prepare.leader);
    if (options.config != io::default_policy_path) words.push_back("--config=" + options.config);
    if (options.prepare.run_base != io::run_folder_base) words.push_back("--run-base=" + options.prepare.run_base);
    return words;
}

std::string own_path() {
    char path[4096];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
    return length > 0 && length < static_cast<ssize_t>(sizeof path) ? std::string(path, static_cast<std::size_t>(length)) : std::string();
}

bool is_paced(const std::string& word) { return word == "paced" || word.ends_with("/paced"); }

int run(const RunOptions& options) {
    if (options.command.empty()) {
        std::cerr << "paced run: no command\n    hint: paced run [flags] -- CMD…\n";
        return exit_usage;
    }
    const Environment environment = Environment::capture();
    const Launch launch = detect_launch(environment, look_around(environment));
    const bool prepared = prepared_already(environment, launch);
    const OuterKind kind = outer_kind(options.command, real_path_of(options.command[0], environment.get_or("PATH", "")));
    if (prepared && kind == OuterKind::program) return become(options.command);

    const auto policy = usable_policy(options.config);
    if (!policy) {
        say(launch, {"off: " + policy.error().message});
        return become(options.command);
    }
    Diagnostics found, wrong_flags;
    std::vector<std::string> lines;
    config::Flags flags = options.flags;
    take_over_job_flags(*policy, environment, flags, lines);
    config::Effective effective = resolve(*policy, flags, environment, facts_for(*policy, environment, launch), found);
    if (refuses(found, wrong_flags, lines)) {
        if (launch.local_rank == 0) std::cerr << format(wrong_flags);
        return exit_wrong_input;
    }
    lines.insert(lines.end(), effective.notes.begin(), effective.notes.end());

    HandOver handed = hand_over(kind, options.command, effective, environment, options.prepare.run_base);
    lines.insert(lines.end(), handed.lines.begin(), handed.lines.end());
    for (const auto& [name, value] : handed.set) setenv(name.c_str(), value.c_str(), 1);
    if (prepared) {
        say(launch, lines);
        return become(handed.command);
    }
    // The ranks of mpirun and its like are other processes, most on other nodes: each is prepared where it starts, or none is.
    const bool launches_ranks = kind == OuterKind::open_mpi || kind == OuterKind::other_launcher;
    if (launches_ranks && (effective.mode.value == config::Mode::observe || effective.mode.value == config::Mode::pace)) {
        Words ranks = kind == OuterKind::open_mpi ? with_ranks_prepared(handed.command, own_path(), flags_again(options)) : handed.command;
        if (ranks == handed.command && std::none_of(ranks.begin() + 1, ranks.end(), is_paced))
            lines.push_back(ranks[0] + "'s words are not all known here, so nothing is done: start the ranks as '" + ranks[0] + " … paced run -- PROGRAM'");
        say(launch, lines);
        return become(ranks);
    }

    const Preparation made = prepare_step(launch, effective, find_programs(), environment, options.prepare);
    lines.insert(lines.end(), made.log.begin(), made.log.end());
    if (made.reason) lines.push_back("off: " + *made.reason);
    say(launch, lines);
    for (const std::string& line : made.plan) std::cerr << line << '\n';
    apply(made);
    return become(handed.command);
}

}  // namespace

std::vector<std::string> split_off_command(std::vector<std::string>& arguments) {
    if (arguments.empty() || arguments.front() != "run") return {};
    auto begin = std::find_if(arguments.begin() + 1, arguments.end(), [](const std::string& word) { return word == "--" || !word.starts_with('-'); });
    const auto end_of_flags = begin;
    if (begin != arguments.end() && *begin == "--") ++begin;
    std::vector<std::string> command(begin, arguments.end());
    arguments.erase(end_of_flags, arguments.end());
    return command;
}

void add_run(CLI::App& program, Chosen& chosen, std::vector<std::string> command) {
    CLI::App* run_command = program.add_subcommand("run", "Prepare this rank and become CMD; under mpirun, torchrun, srun or alone");
    auto options = std::make_shared<RunOptions>();
    options->command = std::move(command);
    add_flags(*run_command, options->flags);
    // with '=' like all flags here: split_off_command() relies on it
    run_command->add_option("--leader", options->prepare.leader, "node that merges the report, where the launcher\ndoes not tell it")->type_name("=HOST");
    run_command->add_option("--config", options->config, "policy file; default /etc/paced-fabric/policy.toml")->type_name("=FILE");
    run_command->add_option("--run-base", options->prepare.run_base)->group("");  // hidden: for tests
    run_command->footer(
        "Flags have their values behind a '='. PACED_FABRIC, PACED_FABRIC_ORDER, _BIND, _WINDOW and\n"
        "_REPORT say the same in the environment; flags win. Whatever goes wrong with us, CMD runs as\n"
        "it would without us.\n"
        "\n"
        "  mpirun -n 8 paced run --paced-fabric=observe -- ./app\n"
        "  torchrun --no-python --nproc-per-node 8 paced run --paced-fabric -- python train.py\n"
        "\n"
        "The exit code is CMD's; 127 or 126 where it cannot be started; 1 for a wrong value and 2 for\na wrong flag, of ours.");
    run_command->callback([&chosen, options] { chosen = [options] { return run(*options); }; });
}

}  // namespace paced::launcher
