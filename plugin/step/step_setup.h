// SPDX-License-Identifier: BSD-3-Clause
// One step on one node as a value, and the variables that carry it to the interposer (plugin/step_environment.h).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "policy/config/effective.h"

namespace paced::step {

struct StepSetup {
    std::string stamp;       // "slurm:12.0"
    std::string session;
    std::string run_dir;
    std::string key_file;    // empty: no key, so no exchange with other nodes
    std::string plan_file;   // empty: none was written
    std::string leader;      // numeric address, "self", or empty
    std::string node;
    int node_count = 1;
    std::string leaf;        // the switch that the node hangs from; empty: not known
    std::string reporter;    // `paced run` alone; empty under Slurm
};

using Variables = std::vector<std::pair<std::string, std::string>>;

// Every variable, also the empty ones: an inherited value must not shine through.
Variables variables(const StepSetup& setup, const config::Effective& effective);

}  // namespace paced::step
