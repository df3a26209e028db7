// SPDX-License-Identifier: BSD-3-Clause
// Where the step's nodes hang in the fabric, from the cluster's topology.conf.
#pragma once

#include "plugin/helper/request.h"
#include "policy/report/job_plan.h"

namespace paced::helper {

// Never fails: what is not known stands in problem.
report::FabricView find_fabric(const Request& request, const Environment& environment);

}  // namespace paced::helper
