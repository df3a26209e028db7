// SPDX-License-Identifier: BSD-3-Clause
// An order of nodes handed over to a launcher that `paced run` starts: mpirun gets a host file with a line for each rank,
// torchrun the node's place for its node rank. Only where the layout is certain and nothing of the user's own stands
// against it; otherwise the command stays as it is, and a line says why.
#pragma once

#include <string>
#include <vector>

#include "launcher/outer_command.h"
#include "plugin/step/step_setup.h"
#include "policy/base/environment.h"
#include "policy/config/effective.h"

namespace paced::launcher {

struct HandOver {
    Words command;                   // to become
    step::Variables set;
    std::vector<std::string> lines;  // to be said
};

// run_base: where the host file's folder is made; it goes with the sweep once the launcher has ended.
HandOver hand_over(OuterKind kind, const Words& command, const config::Effective& effective, const Environment& environment, const std::string& run_base);

// mpirun's ranks are prepared by `paced run` in each of them: its words with our own in front of the program, where that can be
// told, with the same flags.
Words with_ranks_prepared(const Words& command, const std::string& paced, const Words& flags);

}  // namespace paced::launcher
