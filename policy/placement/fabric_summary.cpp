// SPDX-License-Identifier: BSD-3-Clause
#include "policy/placement/fabric_summary.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace paced::placement {

using topology::SwitchIndex;

FabricSummary fabric_summary(const topology::FabricTopology& fabric, std::span<const std::string> hosts) {
    FabricSummary summary;
    std::vector<std::optional<SwitchIndex>> leaves;
    std::unordered_set<std::string_view> seen;
    std::unordered_map<std::size_t, std::size_t> group_of;  // leaf -> index in summary.leaves
    for (const std::string& host : hosts) {
        const auto leaf = fabric.leaf_of(host);
        leaves.push_back(leaf);
        if (!seen.insert(host).second) continue;
        if (!leaf) {
            summary.unknown.push_back(host);
            summary.why_unknown.push_back(fabric.why_unknown(host));
            continue;
        }
        const auto [group, is_new] = group_of.try_emplace(to_index(*leaf), summary.leaves.size());
        if (is_new) summary.leaves.push_back({*leaf, fabric.at(*leaf).name, {}});
        summary.leaves[group->second].hosts.push_back(host);
    }
    for (std::size_t i = 0; i < leaves.size(); ++i) {
        const auto& from = leaves[i];
        const auto& to = leaves[(i + 1) % leaves.size()];
        if (from && to && *from != *to) ++summary.ring_crossings;
    }
    if (summary.leaves.size() > 1) summary.fewest_crossings = static_cast<int>(summary.leaves.size());
    return summary;
}

}  // namespace paced::placement
