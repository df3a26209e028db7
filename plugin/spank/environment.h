// SPDX-License-Identifier: BSD-3-Clause
// What a step is, what the helper may see of a job's environment, and how our library joins a task's LD_PRELOAD.
// Pure: no Slurm in it.
#pragma once

#include "plugin/spank/text.h"

namespace paced::spank {

// Numbered steps are what srun launches. The batch script, interactive shells, the extern step and whatever Slurm
// adds one day stand above.
constexpr bool is_numbered_step(std::uint32_t step) noexcept { return step < 0xfffffff0; }

// orted, prted and the proxies of Hydra: mpirun's own processes, launched by srun. Their ranks get our environment
// from `mpirun paced run`, on all nodes or on none.
bool is_launcher_daemon(const char* program) noexcept;

// Whether the helper may see `variable` ("NAME=VALUE"). A list of what is let through, since a job's environment
// can hold anything: LD_PRELOAD, HWLOC_XMLFILE, GCONV_PATH. What speaks to the helper or to a step is never let through.
bool helper_may_see(std::string_view variable) noexcept;

// The helper's environment: chosen variables of the job, which stay where they are, and our own.
class HelperEnvironment {
public:
    void take_from(char* const* job_environment) noexcept;
    void set(std::string_view name, std::string_view value) noexcept;  // name without PACED_FABRIC_HELPER_
    void set_number(std::string_view name, std::uint32_t value) noexcept;
    void set_plain(std::string_view name, std::string_view value) noexcept;
    bool complete() const noexcept { return !overflown_; }  // false: something did not fit
    char* const* get() noexcept;

    static HelperEnvironment& fresh() noexcept;  // the process's only one, emptied

private:
    void add(char* variable) noexcept;

    static constexpr std::size_t limit = 4096;
    bool overflown_ = false;
    std::size_t count_ = 0, used_ = 0;
    char* variables_[limit + 1] = {};
    char own_[64 * 1024] = {};
};

// `ours` in front of `theirs`; theirs alone where ours is in it already. False where the result does not fit.
using PreloadList = FixedText<16 * 1024>;
bool merge_preload(std::string_view ours, std::string_view theirs, PreloadList& merged) noexcept;

// CPUs as Slurm and the kernel write them: 0-3,8,10-11.
inline constexpr std::size_t cpu_limit = 8192;
struct CpuMask {
    unsigned long words[cpu_limit / (8 * sizeof(unsigned long))] = {};
    void add(std::uint32_t cpu) noexcept { words[cpu / bits] |= 1UL << (cpu % bits); }
    bool has(std::uint32_t cpu) const noexcept { return (words[cpu / bits] >> (cpu % bits) & 1) != 0; }
    static constexpr std::uint32_t bits = 8 * sizeof(unsigned long);
};
bool parse_cpus(std::string_view text, CpuMask& mask) noexcept;
// The same form for any numbers: whether a text has it (not empty), and whether a number is in one that has.
bool is_number_list(std::string_view text) noexcept;
bool list_has(std::string_view list, std::uint32_t number) noexcept;

}  // namespace paced::spank
