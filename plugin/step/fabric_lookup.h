// SPDX-License-Identifier: BSD-3-Clause
// Where the step's nodes hang in the fabric, from the cluster's topology file.
#pragma once

#include <string>
#include <vector>

#include "policy/base/environment.h"
#include "policy/base/result.h"
#include "policy/report/job_plan.h"
#include "policy/topology/fabric_topology.h"

namespace paced::step {

// The cluster's fabric. fabric_file: the path of a file of any format that policy/io/fabric_file.h knows; empty: the
// topology.yaml or topology.conf that stands beside SLURM_CONF, in /etc/slurm or in /run/slurm/conf. The error is one line: "there is no ...", or the first
// mistake in the file with its place.
Result<topology::FabricTopology> read_fabric(const std::string& fabric_file, const Environment& environment);

// How the hosts, in rank order, lie on it. Never fails: what is not known stands in problem.
report::FabricView find_fabric(const std::vector<std::string>& hosts, const std::string& fabric_file, const Environment& environment);

// The switch that the host hangs from; empty: not known.
std::string leaf_of(const topology::FabricTopology& fabric, const std::string& host);

}  // namespace paced::step
