// SPDX-License-Identifier: BSD-3-Clause
// What the kernel tells of devices beyond hwloc: link states and rates, link layers, virtual functions, GPU names.
#pragma once

#include <string>

#include "policy/topology/node_topology.h"

namespace paced::io {

// Adds it to the GPUs and NICs of node. root is the folder that holds sys and proc: "/", or a made-up one in tests. A
// file that is missing or odd leaves unknown what it would have told.
void add_sysfs_facts(topology::NodeTopology& node, const std::string& root);

}  // namespace paced::io
