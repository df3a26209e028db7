// SPDX-License-Identifier: BSD-3-Clause
// What the groups of a level must at least exchange on a grid of ranks, whatever the order.
#pragma once

#include "policy/placement/order/fabric_groups.h"
#include "policy/placement/order/grid_shape.h"

namespace paced::placement {

// A proven bound, often far from tight; 0 where a host's ranks are not a box of the grid.
long long grid_bound(const std::vector<GridAxis>& axes, int tasks_per_node, const GroupLevel& level, std::size_t hosts);

}  // namespace paced::placement
