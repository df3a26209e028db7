// SPDX-License-Identifier: BSD-3-Clause
// Groups as boxes of a grid of hosts, boxes of a level within those of the level above.
#pragma once

#include <vector>

#include "policy/placement/order/fabric_groups.h"
#include "policy/placement/order/grid_shape.h"

namespace paced::placement {

enum class LeafShape {
    box,    // as on the other levels
    strip,  // leaves are cut one after the other from strips that run along one axis, there and back
};

// From the top level down the box with the least surface for its volume is taken whose sides divide those of the box above
// and which has as many hosts as the largest group, or else as nearly as many as can be. The leaves of the walk are laid
// along the boxes. Empty: there is no grid of hosts.
LeafSequence boxes_of(const FabricGroups& groups, const std::vector<HostAxis>& grid, LeafShape leaf_shape);

}  // namespace paced::placement
