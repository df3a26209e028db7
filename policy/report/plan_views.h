// SPDX-License-Identifier: BSD-3-Clause
// What placement and config have decided, as the plan shows it.
#pragma once

#include <span>
#include <string>

#include "policy/config/effective.h"
#include "policy/placement/binding.h"
#include "policy/placement/rank_order.h"
#include "policy/report/job_plan.h"
#include "policy/topology/fabric_topology.h"

namespace paced::report {

// Bindings, one a task, and remark; who the node is stays for the caller.
NodePlan node_view(const topology::NodeTopology& node, const placement::NodeBinding& binding);

// hosts in rank order.
FabricView fabric_view(const topology::FabricTopology& fabric, std::span<const std::string> hosts);

// Not applied yet: whoever launches sets that, or kept_because. An order that improves nothing is kept because of that.
OrderView order_view(const placement::RankOrder& order, const config::Sourced<config::Order>& wish);

// run: what is really done.
PolicyValues policy_view(const config::Effective& effective, config::Mode run);

}  // namespace paced::report
