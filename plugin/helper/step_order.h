// SPDX-License-Identifier: BSD-3-Clause
// The order of a step's nodes as the plan shows it: what would suit the fabric, and what srun made of it.
#pragma once

#include <optional>
#include <string>

#include "plugin/helper/placed.h"
#include "plugin/helper/request.h"
#include "policy/config/effective.h"
#include "policy/report/job_plan.h"
#include "policy/topology/fabric_topology.h"

namespace paced::helper {

// fabric: an error where it is not known, with the reason.
report::OrderView step_order(const Request& request, const config::Effective& effective, const Result<topology::FabricTopology>& fabric);

}  // namespace paced::helper
