// SPDX-License-Identifier: BSD-3-Clause
// The GPU-NIC-core table of a node: for each GPU the NICs that are nearest, the one that it gets, and why.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "policy/topology/node_topology.h"

namespace paced::placement {

struct GpuRow {
    topology::GpuIndex gpu{};
    std::vector<topology::NicIndex> candidates;  // every NIC at the best distance within the best class, by PCI address
    std::optional<topology::NicIndex> nic;       // one of them, with its link not down where there is such a one; none: the node has no NIC
    std::optional<topology::Relation> relation;  // of all candidates
    bool nic_down = false;                       // every candidate's link is down: bind to none of them
    topology::CpuSet cpus;                       // local to the GPU and allowed
    std::optional<int> numa;                     // of the GPU
    std::vector<std::string> reasons;            // sentences without full stop
};

struct NodeTable {
    std::vector<GpuRow> rows;           // one for each GPU, in their order
    std::vector<std::string> warnings;  // about the node: links that are down
};

// allowed: the CPUs that may be used; nullopt: all. The same input gives the same table, whatever the order of devices.
NodeTable node_table(const topology::NodeTopology& node, const std::optional<topology::CpuSet>& allowed = std::nullopt);

}  // namespace paced::placement
