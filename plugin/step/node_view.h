// SPDX-License-Identifier: BSD-3-Clause
// This node's hardware: from the snapshot of this boot or, where there is none, from the probe.
#pragma once

#include <string>

#include "policy/base/result.h"
#include "policy/report/job_plan.h"
#include "policy/topology/node_topology.h"

namespace paced::step {

struct NodeSources {
    std::string snapshot;  // path; empty: none
    std::string probe;     // path of paced-fabric-probe; empty: none
    std::string topology;  // a file that describes the node instead of its hardware; empty: the hardware
};

// The error, one line, says what was tried.
Result<topology::NodeTopology> node_topology(const NodeSources& sources);
// Its bindings, a task for each GPU, and remark.
Result<report::NodePlan> node_plan(const NodeSources& sources);

}  // namespace paced::step
