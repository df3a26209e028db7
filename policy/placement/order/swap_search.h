// SPDX-License-Identifier: BSD-3-Clause
// Local search over orders: the hosts of two positions change places where that lowers the cut of a graph, in the manner of
// Kernighan and Lin (1970), the top level first. Where nothing helps any more, a few places are shaken and the search goes
// on from there; what is worse in the end is undone. Work is bounded and nothing is left to chance: the same input gives the
// same order everywhere.
#pragma once

#include "policy/placement/order/fabric_groups.h"
#include "policy/placement/order/position_graph.h"

namespace paced::placement {

// Position 0 stays as it is. swaps: how many may be tried, each in a time of about the degree of a position.
LeafSequence swap_search(const FabricGroups& groups, const PositionGraph& graph, LeafSequence sequence, long long swaps);

// The same from the top down: first groups of the top level are placed, then those of the next within them, and so on. Finds
// what swaps of single hosts alone do not reach from an order in which all levels are settled.
LeafSequence swap_search_by_level(const FabricGroups& groups, const PositionGraph& graph, const LeafSequence& sequence, long long swaps);

}  // namespace paced::placement
