// SPDX-License-Identifier: BSD-3-Clause
// The variables by which communication libraries are told of NICs: one table, with the scope of each, and the values that
// follow from a binding. docs/binding.md says why each is written as it is.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/placement/binding.h"

namespace paced::placement {

enum class Scope {
    per_rank,     // each rank may have a value of its own
    per_node,     // every rank of a node must have the same; another node may differ
    policy_only,  // every rank of the job must have the same: never worked out on a node
};

struct LibraryVariable {
    std::string_view name, library;
    Scope scope;
    bool written;               // false: left alone, as the user or the site has it
    std::string_view value_is;  // what it holds, or why it is left alone
};
std::span<const LibraryVariable> library_variables();

// What a launch finds of the node's networks at this moment.
struct NodeNetwork {
    // Interfaces that can carry TCP: running, with an IPv4 address, not the loopback; by name. nullopt: not known.
    std::optional<std::vector<std::string>> tcp_interfaces = {};
    // Of each NIC by topology::NicIndex: anything that differs where two NICs may not reach each other (the prefix of an
    // InfiniBand subnet, an IP network). Empty: not known; may be shorter than the node's list.
    std::vector<std::string> network_of = {};
};

using Assignments = std::vector<std::pair<std::string_view, std::string>>;  // names of the table

struct NodeVariables {
    std::vector<Assignments> of_tasks;  // as in binding.tasks
    std::vector<std::string> reasons;   // why a variable that might be expected is not set; sentences without full stop
};
NodeVariables variables_for(const topology::NodeTopology& node, const NodeBinding& binding, const NodeNetwork& network);

}  // namespace paced::placement
