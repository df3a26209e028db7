// SPDX-License-Identifier: BSD-3-Clause
// The binding of a step on this node: what is shown of it, and the lines of the answer that apply it (PROTOCOL.md).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plugin/helper/request.h"
#include "policy/config/effective.h"
#include "policy/report/job_plan.h"
#include "policy/topology/node_topology.h"

namespace paced::helper {

struct StepBinding {
    report::NodePlan plan;  // bindings, remark and notes; who the node is stays for the caller
    // Kind and value of each line; empty: nothing is applied.
    std::vector<std::pair<std::string_view, std::string>> lines;
    std::vector<std::string> kept;  // of the site's own settings
};

// Reads the state of links and interfaces of this machine.
StepBinding bind_step(const Request& request, const Environment& environment, const config::Effective& effective, topology::NodeTopology node);

}  // namespace paced::helper
