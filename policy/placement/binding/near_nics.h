// SPDX-License-Identifier: BSD-3-Clause
// Which NICs a GPU may be given: those of the best class at the best distance, without links that are down or slow.
#pragma once

#include <optional>
#include <vector>

#include "policy/topology/node_topology.h"

namespace paced::placement {

// All lists by PCI address, those without one behind, by name.
struct NearNics {
    std::vector<topology::NicIndex> candidates;  // every NIC at the best distance within the best class that the node has
    std::optional<topology::Relation> relation;  // of all of them; none: the node has no NIC
    std::vector<topology::NicIndex> usable;      // of the candidates: not down, and none with a lower rate than another of these
    std::vector<topology::NicIndex> down, slow;  // the other candidates
    std::vector<topology::NicIndex> next;        // of the same class, the nearest that are farther
    std::optional<topology::Relation> next_relation;

    bool nic_down() const { return !candidates.empty() && usable.empty(); }
    // How good the way out is, smaller is better: the relation, behind all of them a GPU all of whose NICs are down.
    int path_cost() const;
};

// The NICs of the best class, without virtual functions of cards that are there themselves.
std::vector<topology::NicIndex> nics_of_best_class(const topology::NodeTopology& node);

// eligible: nics_of_best_class, or fewer.
NearNics near_nics(const topology::NodeTopology& node, topology::GpuIndex gpu, const std::vector<topology::NicIndex>& eligible);

// The order that does not depend on how the input lists devices: by PCI address, those without one behind.
bool comes_before(const topology::Gpu& a, const topology::Gpu& b);
bool comes_before(const topology::Nic& a, const topology::Nic& b);

}  // namespace paced::placement
