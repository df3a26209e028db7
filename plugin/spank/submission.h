// SPDX-License-Identifier: BSD-3-Clause
// What sbatch, salloc and srun have in common: flags are checked while there is a person to tell, and handed on.
#pragma once

#include "plugin/spank/flags.h"

namespace paced::spank {

// Asks the helper. What cannot be checked is accepted: the step looks again. A refusal is printed here.
bool is_accepted(Flag flag, std::string_view text) noexcept;

// Flags and key of the job around this one, which a submission must not take over. To be called before Slurm reads
// the environment, in slurm_spank_init.
void forget_inherited() noexcept;

// Puts the flags that were given into this process's environment, whence they reach the job under every --export,
// and sees to the job's key: a new one where `draw_key`, else only where there is none.
void hand_on(bool draw_key) noexcept;

}  // namespace paced::spank
