// SPDX-License-Identifier: BSD-3-Clause
// Where the programs and the library of this installation are.
#pragma once

#include "plugin/spank/text.h"

namespace paced::spank {

// helper_dir= of plugstack.conf; else ../bin beside this plugin's folder, as in a build tree; else the folder that
// the build was configured to install into. False where there is no such program. Only root's plugstack.conf and the
// place of this very file decide, never a job's environment.
bool find_program(const char* name, Path& path) noexcept;

// libpaced_fabric.so: beside this plugin, or one folder up (plugins stand in a folder for each Slurm version).
bool find_library(Path& path) noexcept;

}  // namespace paced::spank
