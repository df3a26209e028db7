// SPDX-License-Identifier: BSD-3-Clause
// What slurmstepd knows of its step, from init_post_opt to exit. Tasks see it as it was when they were forked.
#pragma once

#include "plugin/spank/answer.h"
#include "plugin/spank/flags.h"
#include "plugin/spank/slurm.h"
#include "plugin/spank/spawn.h"

namespace paced::spank {

struct Step {
    Wanted wanted = Wanted::no;
    Identity user;
    std::uint32_t job = 0, id = 0;
    std::uint32_t node = 0, nodes = 0;        // this one's index in the step, and how many there are
    std::uint32_t local_tasks = 0, tasks = 0;
    std::uint32_t tasks_ended = 0;
    Name node_name;
    Path folder;                              // the job's working folder
    Path snapshot;                            // of the node's hardware; empty: none
    Answer answer;                            // the helper's
    bool engaged = false;                     // the answer changes the tasks
    bool ended = false;
};
extern Step step;

// One variable of the job; false where it is unset or does not fit.
template <std::size_t capacity>
bool job_variable(spank_t spank, const char* name, FixedText<capacity>& text) noexcept {
    if (spank_getenv(spank, name, text.raw(), static_cast<int>(capacity)) != ESPANK_SUCCESS) {
        text.clear();
        return false;
    }
    text.measure();
    return true;
}

// An item of Slurm's that is one 32-bit number; `otherwise` where Slurm does not say.
std::uint32_t number_item(spank_t spank, spank_item_t item, std::uint32_t otherwise) noexcept;

// What the launch message left out (22.05 loses flags under --export=NONE) travels in SLURM_PACED_FABRIC_*.
void complete_flags(spank_t spank) noexcept;

// The program of this step where that is a daemon of mpirun's, else nullptr. In srun too, from local_user_init on.
const char* launcher_daemon(spank_t spank) noexcept;

// The snapshot of this node's hardware, made where there is none yet. As root, in init_post_opt. False: go on without.
bool ensure_snapshot(const Identity& user, Path& snapshot) noexcept;

}  // namespace paced::spank
