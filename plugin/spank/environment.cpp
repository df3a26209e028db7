// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/spank/environment.h"

#include <cstdio>

namespace paced::spank {
namespace {

// Names whole, and beginnings of names.
constexpr std::string_view visible_names[] = {
    "HOME", "USER", "LOGNAME", "TZ", "TMPDIR", "SLURMD_NODENAME", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER",
    "NVIDIA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "ZE_AFFINITY_MASK",
    "ZE_FLAT_DEVICE_HIERARCHY", "GOMP_CPU_AFFINITY", "KMP_AFFINITY",
};
constexpr std::string_view visible_prefixes[] = {
    "PACED_FABRIC", "SLURM_", "NCCL_", "UCX_", "OMPI_", "PRTE_", "PMIX_", "PMI_", "MPICH_", "MPIR_", "I_MPI_", "FI_", "GLOO_", "NVSHMEM_", "OMP_",
};
constexpr std::string_view hidden_prefixes[] = {"PACED_FABRIC_HELPER_", "PACED_FABRIC_STEP_", "SLURM_PACED_FABRIC_", "SLURM_SPANK_"};

constexpr std::string_view launcher_daemons[] = {"orted", "prted", "hydra_pmi_proxy", "hydra_bstrap_proxy", "pmi_proxy", "slurmstepd"};

bool begins_with_one(std::string_view name, const std::string_view* first, const std::string_view* last) noexcept {
    for (; first != last; ++first) {
        std::string_view rest = name;
        if (cut_prefix(rest, *first)) return true;
    }
    return false;
}

}  // namespace

bool is_launcher_daemon(const char* program) noexcept {
    if (program == nullptr) return false;
    std::string_view name = program;
    const std::size_t slash = name.rfind('/');
    if (slash != std::string_view::npos) name.remove_prefix(slash + 1);
    for (const std::string_view daemon : launcher_daemons) {
        if (name == daemon) return true;
    }
    return false;
}

bool helper_may_see(std::string_view variable) noexcept {
    if (variable.find('=') == std::string_view::npos) return false;
    const std::string_view name = cut_until(variable, '=');
    if (begins_with_one(name, std::begin(hidden_prefixes), std::end(hidden_prefixes))) return false;
    for (const std::string_view visible : visible_names) {
        if (name == visible) return true;
    }
    return begins_with_one(name, std::begin(visible_prefixes), std::end(visible_prefixes));
}

HelperEnvironment& HelperEnvironment::fresh() noexcept {
    static constinit HelperEnvironment only;
    only.count_ = only.used_ = 0;
    only.overflown_ = false;
    return only;
}

char* const* HelperEnvironment::get() noexcept {
    variables_[count_] = nullptr;
    return variables_;
}

void HelperEnvironment::add(char* variable) noexcept {
    if (count_ == limit) {
        overflown_ = true;
        return;
    }
    variables_[count_++] = variable;
}

void HelperEnvironment::take_from(char* const* job_environment) noexcept {
    for (; job_environment != nullptr && *job_environment != nullptr; ++job_environment) {
        std::string_view variable = *job_environment;
        if (helper_may_see(variable)) add(*job_environment);
        else if (cut_prefix(variable, "LD_PRELOAD=")) set("USER_LD_PRELOAD", variable);
    }
}

void HelperEnvironment::set(std::string_view name, std::string_view value) noexcept {
    Name full;
    if (!full.append("PACED_FABRIC_HELPER_") || !full.append(name)) overflown_ = true;
    else set_plain(full.view(), value);
}

void HelperEnvironment::set_number(std::string_view name, std::uint32_t value) noexcept {
    char digits[16];
    const int size = std::snprintf(digits, sizeof digits, "%u", value);
    set(name, {digits, static_cast<std::size_t>(size)});
}

void HelperEnvironment::set_plain(std::string_view name, std::string_view value) noexcept {
    const std::size_t size = name.size() + value.size() + 2;
    if (size > sizeof own_ - used_) {
        overflown_ = true;
        return;
    }
    char* const variable = own_ + used_;
    std::memcpy(variable, name.data(), name.size());
    variable[name.size()] = '=';
    if (!value.empty()) std::memcpy(variable + name.size() + 1, value.data(), value.size());
    variable[size - 1] = '\0';
    used_ += size;
    add(variable);
}

bool merge_preload(std::string_view ours, std::string_view theirs, PreloadList& merged) noexcept {
    for (std::string_view left = theirs; !left.empty();) {
        const std::size_t end = left.find_first_of(": ");
        const std::string_view entry{left.data(), end == left.npos ? left.size() : end};
        if (entry == ours) return merged.assign(theirs);
        left.remove_prefix(end == left.npos ? left.size() : end + 1);
    }
    if (theirs.empty()) return merged.assign(ours);
    return merged.assign(ours) && merged.append(":") && merged.append(theirs);
}

namespace {

// Calls take(from, to) for each part of "0-3,8" until it returns false; false for a text of another form too.
template <class Take>
bool walk_list(std::string_view text, Take take) noexcept {
    if (text.empty() || text.back() == ',') return false;
    while (!text.empty()) {
        std::string_view last = cut_until(text, ',');
        const bool is_range = last.find('-') != std::string_view::npos;
        const std::string_view first = is_range ? cut_until(last, '-') : last;
        std::uint32_t from = 0, to = 0;
        if (!parse_number(first, from) || !parse_number(last, to) || from > to || !take(from, to)) return false;
    }
    return true;
}

}  // namespace

bool parse_cpus(std::string_view text, CpuMask& mask) noexcept {
    return walk_list(text, [&mask](std::uint32_t from, std::uint32_t to) noexcept {
        if (to >= cpu_limit) return false;
        for (std::uint32_t cpu = from; cpu <= to; ++cpu) mask.add(cpu);
        return true;
    });
}

bool is_number_list(std::string_view text) noexcept {
    return walk_list(text, [](std::uint32_t, std::uint32_t) noexcept { return true; });
}

bool list_has(std::string_view list, std::uint32_t number) noexcept {
    bool found = false;
    walk_list(list, [&found, number](std::uint32_t from, std::uint32_t to) noexcept {
        found = found || (from <= number && number <= to);
        return true;
    });
    return found;
}

}  // namespace paced::spank
