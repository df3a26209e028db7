// SPDX-License-Identifier: BSD-3-Clause
// Inside srun, as the user. init comes before srun reads options and environment, init_post_opt after.
#include <cstdlib>

#include "plugin/spank/contexts.h"
#include "plugin/spank/state.h"
#include "plugin/spank/submission.h"

namespace paced::spank::local {

void init(spank_t spank, int count, char* const* words) noexcept {
    start(spank, count, words);
    // Outside a job this srun makes one of its own; whatever it finds of ours is left over from another.
    if (state.active && std::getenv("SLURM_JOB_ID") == nullptr) forget_inherited();
}

void init_post_opt() noexcept { hand_on(false); }

}  // namespace paced::spank::local
