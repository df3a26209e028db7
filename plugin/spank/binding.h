// SPDX-License-Identifier: BSD-3-Clause
// What a task is bound to, of the helper's answer (plugin/helper/PROTOCOL.md).
#pragma once

#include "plugin/spank/slurm.h"
#include "plugin/spank/text.h"

namespace paced::spank {

// In the task, with its final environment and affinity. Sets the variables of `task` and `gpu` lines that are not set
// yet, and narrows the cores to those of `cpus` and `gpu-cpus` lines. Anything that is not understood binds nothing.
void bind_task(spank_t spank, std::uint32_t task) noexcept;

}  // namespace paced::spank
