// SPDX-License-Identifier: BSD-3-Clause
// The five flags of sbatch and srun, the same words for `paced run` and `paced policy explain`.
#pragma once

#include "policy/config/effective.h"

namespace CLI {
class App;
}

namespace paced::launcher {

// Adds them to a command; flags must live until the command line is parsed.
void add_flags(CLI::App& command, config::Flags& flags);

}  // namespace paced::launcher
