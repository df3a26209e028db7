// SPDX-License-Identifier: BSD-3-Clause
#include "policy/placement/order/fabric_groups.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

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

    std::vector<SwitchIndex> at = groups.leaves;  // climbs with k
    for (int k = 0; k < fabric.levels(); ++k) {
        GroupLevel level{topology::level_name(fabric.kind, k), {}, {}};
        std::unordered_map<std::size_t, Group> group_of;
        for (std::size_t leaf = 0; leaf < at.size(); ++leaf) {
            at[leaf] = group_switch(fabric, at[leaf], k);
            const auto [found, is_new] = group_of.try_emplace(to_index(at[leaf]), static_cast<Group>(level.size.size()));
            if (is_new) level.size.push_back(0);
            level.of_leaf.push_back(found->second);
            level.size[found->second] += leaf_size[leaf];
        }
        if (k == 0 || level.size.size() > 1) groups.levels.insert(groups.levels.begin(), std::move(level));
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
