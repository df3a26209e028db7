// SPDX-License-Identifier: BSD-3-Clause
#include "policy/placement/order/fabric_groups.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "policy/base/text.h"
#include "policy/topology/host_list.h"

namespace paced::placement {

using topology::FabricTopology;
using topology::SwitchIndex;

namespace {

std::string are(const std::vector<std::string>& hosts) {
    return topology::compress_hosts(hosts) + (hosts.size() == 1 ? " is" : " are");
}

// One sentence for all hosts with the same trouble: there may be thousands.
std::vector<std::string> problems_of(const FabricTopology& fabric, std::span<const std::string> hosts) {
    std::unordered_set<std::string_view> seen;
    std::vector<std::string> twice, nowhere;
    std::map<std::string, std::vector<std::string>> several;  // by the switches' names: their indices are an accident
    for (const std::string& host : hosts) {
        if (!seen.insert(host).second) {
            if (std::find(twice.begin(), twice.end(), host) == twice.end() && twice.size() < 8) twice.push_back(host);
            continue;
        }
        if (fabric.leaf_of(host)) continue;
        const auto doubled = fabric.doubled().find(host);
        if (doubled == fabric.doubled().end()) {
            nowhere.push_back(host);
            continue;
        }
        std::vector<std::string> places;
        for (SwitchIndex each : doubled->second) places.push_back(fabric.at(each).name);
        std::sort(places.begin(), places.end());
        several[join(places, ", ")].push_back(host);
    }
    std::vector<std::string> problems;
    for (const std::string& host : twice) problems.push_back(host + " stands twice in the list of hosts");
    if (!nowhere.empty()) problems.push_back(are(nowhere) + " on no switch" + (fabric.origin.empty() ? "" : " of " + fabric.origin));
    for (const auto& [places, names] : several) problems.push_back(are(names) + " on several switches: " + places);
    return problems;
}

// The highest switch of level <= k on the way up, or the switch itself.
SwitchIndex group_switch(const FabricTopology& fabric, SwitchIndex from, int k) {
    while (fabric.at(from).parent && fabric.at(*fabric.at(from).parent).level <= k) from = *fabric.at(from).parent;
    return from;
}

// Depth first, at each switch what is below it in the order of its lowest leaf: as if leaves were sorted by their groups, from
// the top level down. In a time that counts switches, not leaves times levels.
std::vector<Leaf> walk_of(const FabricTopology& fabric, const std::vector<SwitchIndex>& leaves) {
    struct Below {
        std::optional<Leaf> leaf;  // the hosts of the switch itself
        SwitchIndex child{};
    };
    std::vector<std::vector<Below>> below(fabric.switches().size());
    std::vector<bool> reached(fabric.switches().size(), false);
    std::vector<Below> to_visit;  // the next one last
    for (Leaf leaf = 0; leaf < leaves.size(); ++leaf) {
        below[to_index(leaves[leaf])].push_back({leaf, {}});
        for (SwitchIndex at = leaves[leaf]; !reached[to_index(at)]; at = *fabric.at(at).parent) {
            reached[to_index(at)] = true;
            if (!fabric.at(at).parent) {
                to_visit.push_back({{}, at});
                break;
            }
            below[to_index(*fabric.at(at).parent)].push_back({{}, at});
        }
    }
    std::reverse(to_visit.begin(), to_visit.end());
    std::vector<Leaf> walk;
    while (!to_visit.empty()) {
        const Below next = to_visit.back();
        to_visit.pop_back();
        if (next.leaf) {
            walk.push_back(*next.leaf);
            continue;
        }
        const auto& inside = below[to_index(next.child)];
        to_visit.insert(to_visit.end(), inside.rbegin(), inside.rend());
    }
    return walk;
}

}  // namespace

FabricGroups fabric_groups(const FabricTopology& fabric, std::span<const std::string> hosts) {
    FabricGroups groups;
    groups.problems = problems_of(fabric, hosts);
    if (!groups.problems.empty() || hosts.empty()) return groups;

    groups.first_host = hosts.front();
    std::unordered_map<std::size_t, Leaf> leaf_of;
    std::vector<std::size_t> leaf_size;
    for (const std::string& host : hosts) {
        const SwitchIndex place = *fabric.leaf_of(host);
        const auto [found, is_new] = leaf_of.try_emplace(to_index(place), static_cast<Leaf>(groups.leaves.size()));
        if (is_new) {
            groups.leaves.push_back(place);
            leaf_size.push_back(0);
        }
        groups.submitted.push_back(found->second);
        ++leaf_size[found->second];
    }

    groups.walk = walk_of(fabric, groups.leaves);
    std::vector<SwitchIndex> at = groups.leaves;  // climbs with k
    std::vector<std::pair<int, Group>> group_of(fabric.switches().size(), {-1, 0});  // the level that it was seen on, and as what
    for (int k = 0; k < fabric.levels(); ++k) {
        GroupLevel level{topology::level_name(fabric.kind, k), {}, {}};
        for (std::size_t leaf = 0; leaf < at.size(); ++leaf) {
            at[leaf] = group_switch(fabric, at[leaf], k);
            auto& [seen_on, group] = group_of[to_index(at[leaf])];
            if (seen_on != k) {
                seen_on = k;
                group = static_cast<Group>(level.size.size());
                level.size.push_back(0);
            }
            level.of_leaf.push_back(group);
            level.size[group] += leaf_size[leaf];
        }
        if (k > 0 && level.size.size() == 1) break;  // and so above
        groups.levels.insert(groups.levels.begin(), std::move(level));
        if (groups.levels.size() <= FabricGroups::most_levels) continue;
        groups.levels.erase(groups.levels.end() - 2);
        ++groups.levels_left_out;
    }
    return groups;
}

std::string plural_of_level(const std::string& name) {
    if (name == "leaf") return "leaves";
    if (name.starts_with("level ")) return "switches of " + name;
    return name + 's';
}

std::vector<std::size_t> hosts_in_order(const FabricGroups& groups, const LeafSequence& sequence) {
    // Hosts sorted by leaf, stably; next[leaf] is the one to take.
    std::vector<std::size_t> next(groups.leaves.size() + 1, 0);
    for (Leaf leaf : groups.submitted) ++next[leaf + 1];
    for (std::size_t leaf = 1; leaf < next.size(); ++leaf) next[leaf] += next[leaf - 1];
    std::vector<std::size_t> by_leaf(groups.hosts());
    auto end = next;
    for (std::size_t host = 0; host < groups.hosts(); ++host) by_leaf[end[groups.submitted[host]]++] = host;
    std::vector<std::size_t> order;
    order.reserve(sequence.size());
    for (Leaf leaf : sequence) order.push_back(by_leaf[next[leaf]++]);
    return order;
}

}  // namespace paced::placement
