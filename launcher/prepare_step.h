// SPDX-License-Identifier: BSD-3-Clause
// What one rank of `paced run` needs before its command starts: the run folder on this node, the variables for the
// interposer, and what there is to say.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launcher/launch.h"
#include "plugin/step/step_setup.h"
#include "policy/config/effective.h"
#include "policy/topology/cpu_set.h"

namespace paced::launcher {

// Where our files are; empty: not found.
struct Programs {
    std::string library;   // libpaced_fabric.so
    std::string reporter;  // paced-fabric-helper
    std::string probe;     // paced-fabric-probe
};

// Beside the program, as built (bin/, lib/) or as installed.
Programs find_programs();

struct Preparation {
    step::Variables set;
    std::vector<std::string> unset;
    topology::CpuSet cpus;              // to run on, of those that it may use; empty: as they are
    std::vector<std::string> log;       // one line each; the first rank of the node says them
    std::vector<std::string> plan;      // explain: the head of a job log, lines as they are
    std::vector<std::string> bound;     // what of the binding is among these: names of variables, and "cores"
    std::optional<std::string> reason;  // why the command runs without us; nothing is set then
};

struct PrepareOptions {
    std::string leader;       // --leader=HOST; empty: found out
    std::string run_base;     // where run folders lie
};

// Never fails: what does not work out leaves the command as it would be without us, or the report to this node alone.
Preparation prepare_step(const Launch& launch, const config::Effective& effective, const Programs& programs, const Environment& environment,
                         const PrepareOptions& options);

}  // namespace paced::launcher
