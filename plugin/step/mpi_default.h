// SPDX-License-Identifier: BSD-3-Clause
// Which PMI a step gets that names none: MpiDefault of slurm.conf.
#pragma once

#include <optional>
#include <string>

#include "policy/base/environment.h"

namespace paced::step {

// SLURM_CONF, else /etc/slurm/slurm.conf, else /run/slurm/conf/slurm.conf ("configless"). "none" where the file does not
// say; nullopt where there is no file, or where another file that it includes might say.
std::optional<std::string> mpi_default(const Environment& environment);

}  // namespace paced::step
