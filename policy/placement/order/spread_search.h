// SPDX-License-Identifier: BSD-3-Clause
// Spreads groups over the positions of an order so that the worst step of the shift schedule (shift_load.h) carries little:
// sets of positions with a flat cyclic autocorrelation, as difference sets have.
#pragma once

#include "policy/placement/order/fabric_groups.h"

namespace paced::placement {

// Works from the top level down: the groups of a level are spread within the positions of the group above. On each level
// the best of a few sequences that are known to be flat (power residues and Sidelnikov's, see the source) and irregular
// ones is taken, and, for up to a few thousand hosts, improved by swaps in bounded time. A level where no order is better
// than another stands together. Position 0 is on leaf 0.
LeafSequence spread(const FabricGroups& groups);

}  // namespace paced::placement
