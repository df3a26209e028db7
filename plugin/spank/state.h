// SPDX-License-Identifier: BSD-3-Clause
// What the plugin knows in this process, from slurm_spank_init on. Slurm calls one callback at a time, so plain data
// does. Once inactive, for whatever reason, the plugin does nothing more in this process.
#pragma once

#include "plugin/spank/arguments.h"
#include "plugin/spank/flags.h"
#include "plugin/spank/slurm.h"

namespace paced::spank {

struct State {
    bool active = false;        // until start() has found everything in order
    bool switched_off = false;  // by the kill switch; never both
    Arguments arguments;
    Flags flags;
};
extern State state;

// Registers the flags, reads the plugin's arguments and looks for the kill switch. Flags are registered even where
// the plugin is to do nothing: a script that says --paced-fabric must still run.
void start(spank_t spank, int count, char* const* words) noexcept;

// A line for a person: in the job's log (or the terminal of sbatch and srun), begun by "paced-fabric: ".
void tell(const char* format, ...) noexcept __attribute__((format(printf, 1, 2)));

// Which node of the step this is; 0 outside slurmstepd. The first few nodes speak in the job's log, all others in
// slurmd's: a fault of the whole cluster must not become ten thousand lines in a job log.
void this_node_is(std::uint32_t index, std::string_view name) noexcept;

bool exists(const char* path) noexcept;

// One variable of this very process; false where it is unset or does not fit.
bool own_variable(const char* name, Path& text) noexcept;

}  // namespace paced::spank
