// SPDX-License-Identifier: BSD-3-Clause
// The order of a job's hosts that suits the fabric for one kind of traffic. Hosts are moved, never ranks within a host;
// the first host stays the first, since frameworks take it for the address of rank 0.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "policy/config/settings.h"
#include "policy/topology/fabric_topology.h"

namespace paced::placement {

// What an order costs on one level of the fabric. The unit depends on the pattern: steps of the closed ring that leave a
// switch of this level (ring), edges of the double binary tree between leaves (tree), the highest number of messages
// that leave a leaf in one step of the shift schedule (alltoall), weighted traffic between leaves (grid).
struct LevelCost {
    std::string level;  // "leaf", "spine", ...; topology::level_name
    long long chosen = 0;
    long long submitted = 0;
    long long lower_bound = 0;  // no order of these hosts costs less

    friend bool operator==(const LevelCost&, const LevelCost&) = default;
};

struct RankOrder {
    std::vector<std::string> hosts;    // chosen; the submitted order where nothing improves
    bool improves = false;             // strictly cheaper than the submitted order
    std::vector<LevelCost> levels;     // the top level first, as they are compared; the last is that of the leaves. Empty: not known
    std::size_t leaves = 0;            // that the hosts hang on
    std::vector<std::string> reasons;  // sentences without full stop: why this order, what the runner-up costs. Not improved: the first says why the submitted one is kept
};

// hosts: in the submitted order, each once; tasks_per_node ranks on each, rank = position * tasks_per_node + local. A host
// without a leaf, or one that stands twice, keeps the whole order, and a reason says so. The result is a function of the
// fabric and of the submitted order alone; renaming hosts or switches, or listing switches in another order, changes names only.
RankOrder rank_order(const topology::FabricTopology& fabric, std::span<const std::string> hosts, int tasks_per_node,
                     const config::Order& order);

}  // namespace paced::placement
