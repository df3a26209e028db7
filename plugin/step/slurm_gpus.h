// SPDX-License-Identifier: BSD-3-Clause
// Whether Slurm hands out the GPUs of this site, so that a step without any has none.
#pragma once

#include "policy/base/environment.h"

namespace paced::step {

// GresTypes of slurm.conf names gpu. False outside of a job, and where the file cannot be read.
bool slurm_gives_gpus(const Environment& environment);

}  // namespace paced::step
