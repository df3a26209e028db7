// SPDX-License-Identifier: BSD-3-Clause
// The callbacks, one namespace and source file for each place that Slurm loads the plugin into. plugin.cpp sends
// each callback where it belongs, and none at all while the plugin is inactive. None of them fails.
#pragma once

#include "plugin/spank/slurm.h"

namespace paced::spank {

namespace allocator {  // sbatch, salloc
void init(spank_t spank, int count, char* const* words) noexcept;
void init_post_opt() noexcept;
}  // namespace allocator

namespace local {  // srun
void init(spank_t spank, int count, char* const* words) noexcept;
void init_post_opt() noexcept;
void user_init(spank_t spank) noexcept;
}  // namespace local

namespace remote {  // slurmstepd, but for its tasks
void init(spank_t spank, int count, char* const* words) noexcept;
void init_post_opt(spank_t spank) noexcept;
void user_init(spank_t spank) noexcept;
void task_exit(spank_t spank) noexcept;
void exit(spank_t spank) noexcept;
}  // namespace remote

namespace task {  // a task between fork and exec
void init(spank_t spank) noexcept;
}  // namespace task

}  // namespace paced::spank
