// SPDX-License-Identifier: BSD-3-Clause
// A node drawn as a tree: packages, NUMA nodes, host bridges, PCIe switches, and on them GPUs and NICs.
#pragma once

#include <string>

#include "policy/topology/node_topology.h"

namespace paced::launcher {

std::string node_tree(const topology::NodeTopology& node);

}  // namespace paced::launcher
