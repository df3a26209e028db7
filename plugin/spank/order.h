// SPDX-License-Identifier: BSD-3-Clause
// The rank order of a step, in srun. What was done goes to the nodes in one variable.
#pragma once

#include "plugin/spank/slurm.h"

namespace paced::spank::order {

// "42 ordered ring n[1,3,2,4]" or "42 kept -w chooses the nodes" (plugin/helper/placed.h). Each srun sets it or unsets it.
inline constexpr char placed_variable[] = "SLURM_PACED_FABRIC_PLACED";

void before_options() noexcept;  // in srun's init: what srun finds in its environment then, it takes for the user's wish
void after_options() noexcept;   // in its init_post_opt: srun has read the host file, nobody else is to see it

// In a task: an srun inside it must find nothing of ours.
void forget_in_task(spank_t spank) noexcept;

}  // namespace paced::spank::order
