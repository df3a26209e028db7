// SPDX-License-Identifier: BSD-3-Clause
// Orders in which the hosts of each group stand together, in several ways.
#pragma once

#include <vector>

#include "policy/placement/order/traffic.h"

namespace paced::placement {

// The walk (order_ring.h) first, then with groups by size, and turned so that the first host's leaf stands at both ends.
// No sequence twice.
std::vector<Candidate> contiguous_orders(const FabricGroups& groups);

}  // namespace paced::placement
