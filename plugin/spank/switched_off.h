// SPDX-License-Identifier: BSD-3-Clause
// What is left to do under the kill switch: to say so, where somebody asked for more than "off".
#pragma once

#include "plugin/spank/slurm.h"
#include "plugin/spank/state.h"

namespace paced::spank::switched_off {

using Line = FixedText<4096 + 64>;
void describe(Line& line) noexcept;  // "off: /etc/paced-fabric/disabled exists"

void at_submission() noexcept;           // in sbatch and salloc
void in_step(spank_t spank) noexcept;    // in slurmstepd's user_init: before it nothing reaches the job's log

}  // namespace paced::spank::switched_off
