// SPDX-License-Identifier: BSD-3-Clause
// The five flags as Slurm sees them.
#pragma once

#include "plugin/spank/slurm.h"

namespace paced::spank {

// To be called from slurm_spank_init, in every context: a table of options would not be seen by sbatch and salloc.
bool register_options(spank_t spank) noexcept;

}  // namespace paced::spank
