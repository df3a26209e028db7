// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/spank/flags.h"

namespace paced::spank {

// Slurm builds its own names from the plugin's and the option's, every odd character an underscore.
#define PACED_SLURM_NAME(option) "SLURM_SPANK__SLURM_SPANK_OPTION_paced_fabric_" option
#define PACED_SALLOC_NAME(option) "_SLURM_SPANK_OPTION_paced_fabric_" option

const FlagNames flag_names[flag_count] = {
    {"paced-fabric", "PACED_FABRIC", "SLURM_PACED_FABRIC_MODE", PACED_SLURM_NAME("paced_fabric"), PACED_SALLOC_NAME("paced_fabric"),
     "PACED_FABRIC_HELPER_MODE", "MODE",
     "bind GPUs, NICs and cores, order ranks and record collectives: off, observe, pace, explain, or a policy of this site; "
     "without a value what the site recommends"},
    {"paced-fabric-order", "PACED_FABRIC_ORDER", "SLURM_PACED_FABRIC_ORDER", PACED_SLURM_NAME("paced_fabric_order"),
     PACED_SALLOC_NAME("paced_fabric_order"), "PACED_FABRIC_HELPER_ORDER", "PATTERN",
     "the traffic to order ranks for: none, ring, alltoall, tree, or a grid such as tp=8,pp=4,dp=16"},
    {"paced-fabric-bind", "PACED_FABRIC_BIND", "SLURM_PACED_FABRIC_BIND", PACED_SLURM_NAME("paced_fabric_bind"),
     PACED_SALLOC_NAME("paced_fabric_bind"), "PACED_FABRIC_HELPER_BIND", "WHAT", "what each task is bound to: none, gpu-nic, gpu-nic-cpu"},
    {"paced-fabric-window", "PACED_FABRIC_WINDOW", "SLURM_PACED_FABRIC_WINDOW", PACED_SLURM_NAME("paced_fabric_window"),
     PACED_SALLOC_NAME("paced_fabric_window"), "PACED_FABRIC_HELPER_WINDOW", "TIME",
     "longest delay of one collective: auto, 0, or a time such as 500us or 2ms"},
    {"paced-fabric-report", "PACED_FABRIC_REPORT", "SLURM_PACED_FABRIC_REPORT", PACED_SLURM_NAME("paced_fabric_report"),
     PACED_SALLOC_NAME("paced_fabric_report"), "PACED_FABRIC_HELPER_REPORT", "LEVEL[,PATH]",
     "what the job log gets: none, summary, full; PATH: where to write the JSON report (%j: job, %s: step)"},
};

bool is_key(std::string_view text) noexcept {
    if (text.size() != key_digits) return false;
    for (const char c : text) {
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return false;
    }
    return true;
}

std::string_view flag_text(const char* value) noexcept {
    if (value == nullptr) return {};
    const std::string_view text = value;
    return text == "(null)" ? std::string_view{} : text;
}

bool is_builtin_mode(std::string_view text) noexcept {
    return text == "off" || text == "observe" || text == "pace" || text == "explain";
}

}  // namespace paced::spank
