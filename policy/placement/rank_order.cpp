// SPDX-License-Identifier: BSD-3-Clause
#include "policy/placement/rank_order.h"

#include "policy/placement/fabric_summary.h"

namespace paced::placement {

RankOrder rank_order(const topology::FabricTopology& fabric, std::span<const std::string> hosts, int, const config::Order& order) {
    RankOrder result;
    result.hosts.assign(hosts.begin(), hosts.end());
    const FabricSummary summary = fabric_summary(fabric, hosts);
    result.leaves = summary.leaves.size();
    if (!summary.unknown.empty() || order.pattern != config::Order::Pattern::ring) {
        result.reasons.push_back("the submitted order is kept");
        return result;
    }
    std::vector<std::string> chosen;
    for (const LeafGroup& group : summary.leaves) chosen.insert(chosen.end(), group.hosts.begin(), group.hosts.end());
    result.levels.push_back({"leaf", summary.fewest_crossings, summary.ring_crossings, summary.fewest_crossings});
    result.improves = summary.ring_crossings > summary.fewest_crossings;
    if (result.improves) result.hosts = std::move(chosen);
    return result;
}

}  // namespace paced::placement
