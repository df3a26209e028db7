// SPDX-License-Identifier: BSD-3-Clause
// The binding of one rank of `paced run`: what the plugin does for the tasks of a Slurm step (plugin/helper/step_binding.h),
// for a rank that knows its own local number and its own environment.
#pragma once

#include <string>

#include "launcher/launch.h"
#include "launcher/prepare_step.h"

namespace paced::launcher {

// Adds the variables that are not set yet, the CPUs, and what there is to say. Asks the probe for the node, so only where a
// binding is applied.
void bind_rank(const Launch& launch, const config::Effective& effective, const std::string& probe, const Environment& environment, Preparation& made);

// Narrows this process to those of its CPUs; nothing where none of them is its own, or the set is empty.
void narrow_to(const topology::CpuSet& cpus);

}  // namespace paced::launcher
