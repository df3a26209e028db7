// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "launcher/commands.h"

namespace paced::launcher {

// `paced policy explain`: the effective settings of a job, each with where it came from.
void add_policy_explain(CLI::App& policy, Chosen& chosen);

}  // namespace paced::launcher
