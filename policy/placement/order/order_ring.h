// SPDX-License-Identifier: BSD-3-Clause
// Orders in which every group stands together: the best for a ring, and where the search for other traffic starts.
#pragma once

#include <string>

#include "policy/placement/order/fabric_groups.h"

namespace paced::placement {

// The walk over the tree of groups that starts at the first host and takes groups, on every level, in the order in which
// the submitted list first reaches them. O(hosts x levels).
LeafSequence walk(const FabricGroups& groups);

// What that is called: "leaf by leaf, starting with n1's"
std::string leaf_by_leaf(const FabricGroups& groups);

}  // namespace paced::placement
