// SPDX-License-Identifier: BSD-3-Clause
// This node's GPU-NIC-core table: from the snapshot of this boot or, where there is none, from the probe.
#pragma once

#include "plugin/helper/request.h"
#include "policy/base/result.h"
#include "policy/report/job_plan.h"

namespace paced::helper {

// The error, one line, says what was tried.
Result<report::NodePlan> node_plan(const Request& request);

}  // namespace paced::helper
