// SPDX-License-Identifier: BSD-3-Clause
// From a loaded hwloc topology to a NodeTopology. For hwloc_reader.cpp alone: the one header here that shows hwloc.
#pragma once

#include <hwloc.h>

#include "policy/topology/node_topology.h"

namespace paced::io {

topology::NodeTopology walk_hwloc(hwloc_topology_t topology);

}  // namespace paced::io
