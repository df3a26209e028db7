// SPDX-License-Identifier: BSD-3-Clause
// How a job's hosts lie on the fabric.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "policy/topology/fabric_topology.h"

namespace paced::placement {

struct LeafGroup {
    topology::SwitchIndex leaf{};
    std::string name;
    std::vector<std::string> hosts;  // of the job, in rank order, each once
};

struct FabricSummary {
    std::vector<LeafGroup> leaves;         // in the order in which the ranks first reach them
    int ring_crossings = 0;                // how often the closed ring over the hosts steps from one leaf to another
    int fewest_crossings = 0;              // what the best order would have: the number of leaves, or 0 on a single one
    std::vector<std::string> unknown;      // hosts without a leaf, in rank order, each once; steps from and to them do not count
    std::vector<std::string> why_unknown;  // for each of them, in words
};

// hosts: in rank order, one entry a node or one a rank; a step within a host crosses nothing.
FabricSummary fabric_summary(const topology::FabricTopology& fabric, std::span<const std::string> hosts);

}  // namespace paced::placement
