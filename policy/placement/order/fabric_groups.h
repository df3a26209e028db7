// SPDX-License-Identifier: BSD-3-Clause
// The hosts' groups on every level of the fabric, as dense numbers: all that the cost of an order depends on.
//
// On level k a host's group is the highest switch of level <= k on its way up, or the switch that it hangs on where even
// that one is higher. So a forest, several roots, leaves at different depths and hosts on inner switches all make sense:
// a message between two hosts costs something on level k exactly when it has to climb above level k, and hosts of one
// switch never cost each other anything. The groups of a level are unions of those of the level below.
//
// Groups and leaves are numbered in the order in which the submitted list reaches them. Neither names nor the order of
// switches in the fabric are left after that, so nothing that is worked out from here can depend on them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "policy/topology/fabric_topology.h"

namespace paced::placement {

using Leaf = std::uint32_t;   // number of a leaf: of the switch that a host hangs on
using Group = std::uint32_t;  // number of a group within its level

// Which leaf each position of an order is on. Hosts of one leaf are alike, so this is all of an order that has a cost.
using LeafSequence = std::vector<Leaf>;

struct GroupLevel {
    std::string name;               // topology::level_name: "leaf", "spine", ..., "block"
    std::vector<Group> of_leaf;     // each leaf's group; on the lowest level the leaf's own number
    std::vector<std::size_t> size;  // hosts in each group
};

struct FabricGroups {
    // The top level first, the leaves last. A level on which all hosts share one group is left out, but for the leaves. Of
    // more than most_levels those just above the leaves are left out too: every cost and every search takes time for each.
    static constexpr std::size_t most_levels = 16;
    std::vector<GroupLevel> levels;
    std::size_t levels_left_out = 0;  // for that reason
    std::vector<Leaf> walk;           // all leaves, so that those of each group, on every level there is, stand together
    LeafSequence submitted;                     // the leaf of each host of the submitted list
    std::vector<topology::SwitchIndex> leaves;  // which switch each leaf is
    std::string first_host;                     // its name, for sentences
    std::vector<std::string> problems;          // hosts without a leaf or twice in the list, in words; then all else is empty

    std::size_t hosts() const { return submitted.size(); }
    const GroupLevel& leaf_level() const { return levels.back(); }
};

FabricGroups fabric_groups(const topology::FabricTopology& fabric, std::span<const std::string> hosts);

// "leaves", "spines", "switches of level 3"
std::string plural_of_level(const std::string& name);

// The hosts (indices into the submitted list) at each position: those of one leaf keep their submitted order.
std::vector<std::size_t> hosts_in_order(const FabricGroups& groups, const LeafSequence& sequence);

}  // namespace paced::placement
