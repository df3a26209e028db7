// SPDX-License-Identifier: BSD-3-Clause
// Groups grown over a graph: each takes, one by one, the position that talks most to those it has.
#pragma once

#include "policy/placement/order/fabric_groups.h"
#include "policy/placement/order/position_graph.h"

namespace paced::placement {

// Level by level from the top, each group within the positions of the group above. Position 0 is on leaf 0. O(edges x levels x log).
LeafSequence grow(const FabricGroups& groups, const PositionGraph& graph);

}  // namespace paced::placement
