// SPDX-License-Identifier: BSD-3-Clause
// Where the step's nodes hang in the fabric, from the cluster's topology.conf.
#pragma once

#include <string>
#include <vector>

#include "policy/base/environment.h"
#include "policy/report/job_plan.h"

namespace paced::step {

// hosts in rank order. topology_conf: its path; empty: beside SLURM_CONF, in /etc/slurm or in /run/slurm/conf. Never
// fails: what is not known stands in problem.
report::FabricView find_fabric(const std::vector<std::string>& hosts, const std::string& topology_conf, const Environment& environment);

}  // namespace paced::step
