// SPDX-License-Identifier: BSD-3-Clause
// How many messages leave a group of hosts in one step of the shift schedule.
//
// In step s of n - 1 the host at position i sends to position i + s (mod n). Of a group of m hosts, C(s) send to the group
// itself, where C is the cyclic autocorrelation of the group's positions, so m - C(s) messages leave it. As the group sends
// m (n - m) messages out over all n - 1 steps, the worst step carries at least ceil(m (n - m) / (n - 1)); it never carries
// more than min(m, n - m), which is what hosts that stand together reach.
#pragma once

#include <cstddef>

#include "policy/placement/order/fabric_groups.h"

namespace paced::placement {

// The worst step of the worst group of one level. O(hosts x log hosts) for each group that matters.
long long worst_shift_load(const GroupLevel& level, const LeafSequence& sequence);

// What no order goes below, on that level.
long long least_shift_load(const GroupLevel& level, std::size_t hosts);

// The same of one group of m hosts.
long long least_shift_load(std::size_t m, std::size_t hosts);

}  // namespace paced::placement
