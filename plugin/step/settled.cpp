// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/step/settled.h"

#include "policy/base/text.h"
#include "policy/io/text_file.h"

namespace paced::step {

bool site_has_ucx_list(const std::string& path) {
    const auto text = io::read_text_file(path, 1 << 20);
    if (!text) return false;
    for (std::string_view line : split(*text, '\n'))
        if (trim(line.substr(0, line.find('='))) == "UCX_NET_DEVICES") return true;
    return false;
}

bool is_settled(std::string_view name, const Environment& environment) {
    if (environment.get(name)) return true;
    if (name == "UCX_NET_DEVICES") return site_has_ucx_list();
    // MPICH's number counts what its provider lists, so who changes that is left alone.
    if (name == "MPIR_CVAR_CH4_OFI_PREF_NIC")
        for (const char* other : {"MPIR_CVAR_CH4_OFI_MAX_NICS", "MPIR_CVAR_CH4_OFI_NIC_GPU_AFFINITY", "FI_PROVIDER", "FI_VERBS_IFACE"})
            if (environment.get(other)) return true;
    return false;
}

std::string cores_bound_by(const Environment& environment) {
    const std::string bound = environment.get_or("SLURM_CPU_BIND", "");
    for (std::string_view word : split(bound, ','))
        if (word != "quiet" && word != "verbose" && !word.empty()) return "--cpu-bind or SLURM_CPU_BIND";
    for (const char* name : {"OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"})
        if (environment.get(name)) return name;
    return {};
}

}  // namespace paced::step
