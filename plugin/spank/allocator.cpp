// SPDX-License-Identifier: BSD-3-Clause
// Inside sbatch, salloc and scrontab, as the user. A job submitted from within another one starts afresh: like
// Slurm's own options, flags are inherited by the srun of a job and never by a job inside a job. What a user puts
// into PACED_FABRIC* is his to inherit.
#include "plugin/spank/contexts.h"
#include "plugin/spank/state.h"
#include "plugin/spank/submission.h"

namespace paced::spank::allocator {

void init(spank_t spank, int count, char* const* words) noexcept {
    start(spank, count, words);
    if (state.active) forget_inherited();
}

void init_post_opt() noexcept { hand_on(true); }

}  // namespace paced::spank::allocator
