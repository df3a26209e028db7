// SPDX-License-Identifier: BSD-3-Clause
// Compares the orders that a traffic pattern proposes with the submitted one, decides, and says why.
#include "policy/placement/rank_order.h"

#include <algorithm>
#include <utility>

#include "policy/base/text.h"
#include "policy/placement/order/fabric_groups.h"
#include "policy/placement/order/traffic.h"

namespace paced::placement {

namespace {

// Why there is nothing to choose, whatever the traffic costs; empty: there is.
std::string nothing_to_choose(const FabricGroups& groups, const topology::FabricTopology& fabric) {
    if (groups.hosts() < 3) return "fewer than 3 hosts leave no choice, since the first one stays the first";
    if (groups.leaves.size() == 1) return "all hosts are on one " + groups.leaf_level().name + ", " + fabric.at(groups.leaves[0]).name;
    return {};
}

// "6 between spines, 8 between leaves"; of a single level the number alone
std::string numbers(const FabricGroups& groups, const Traffic& traffic, const Cost& cost) {
    if (cost.size() == 1) return std::to_string(cost.front());
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < cost.size(); ++i)
        parts.push_back(std::to_string(cost[i]) + ' ' + traffic.where(plural_of_level(groups.levels[i].name)));
    return join(parts, ", ");
}

// "2 steps between spines instead of 6, 4 between leaves instead of 7"
std::string saved(const FabricGroups& groups, const Traffic& traffic, const Cost& cost, const Cost& submitted) {
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < cost.size(); ++i)
        parts.push_back((i == 0 ? traffic.amount(cost[i]) : std::to_string(cost[i])) + ' ' + traffic.where(plural_of_level(groups.levels[i].name)) +
                        " instead of " + std::to_string(submitted[i]));
    return join(parts, ", ");
}

std::unique_ptr<Traffic> traffic_of(const FabricGroups& groups, int tasks_per_node, const config::Order& order) {
    switch (order.pattern) {
        case config::Order::Pattern::ring:
            return ring_traffic(groups);
        case config::Order::Pattern::tree:
            return tree_traffic(groups);
        case config::Order::Pattern::alltoall:
            return alltoall_traffic(groups, tasks_per_node);
        case config::Order::Pattern::grid:
            return grid_traffic(groups, tasks_per_node, order);
        case config::Order::Pattern::none:
            break;
    }
    return nullptr;
}

struct Entry {
    Cost cost;
    LeafSequence sequence;
    std::string what;
};

}  // namespace

RankOrder rank_order(const topology::FabricTopology& fabric, std::span<const std::string> hosts, int tasks_per_node,
                     const config::Order& order) {
    RankOrder result;
    result.hosts.assign(hosts.begin(), hosts.end());
    const auto keep = [&](const std::string& why) -> RankOrder& {
        result.reasons.push_back(why);
        return result;
    };

    const FabricGroups groups = fabric_groups(fabric, hosts);
    result.leaves = groups.leaves.size();
    if (order.pattern == config::Order::Pattern::none) return keep("no order was asked for");
    if (tasks_per_node < 1) return keep("there are " + std::to_string(tasks_per_node) + " tasks on a node");
    for (const std::string& problem : groups.problems) keep(problem);
    if (!groups.problems.empty()) return result;
    if (hosts.empty()) return keep("there are no hosts");
    if (order.pattern == config::Order::Pattern::grid) {
        const std::string misfit = grid_misfit(groups.hosts(), tasks_per_node, order);
        if (!misfit.empty()) return keep(misfit);
    }
    const auto traffic = traffic_of(groups, tasks_per_node, order);

    const Cost submitted = traffic->cost(groups.submitted), bound = traffic->lower_bound();
    std::vector<Entry> entries{{submitted, groups.submitted, "the submitted order"}};
    const std::string why_none = nothing_to_choose(groups, fabric);
    if (why_none.empty()) {
        for (Candidate& each : traffic->candidates())
            if (each.sequence != groups.submitted)
                entries.push_back({traffic->cost(each.sequence), std::move(each.sequence), std::move(each.what)});
        // Stable: of equals the submitted order comes first, and is kept.
        std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.cost < b.cost; });
    }
    const Entry& best = entries.front();
    for (std::size_t i = 0; i < groups.levels.size(); ++i)
        result.levels.push_back({groups.levels[i].name, best.cost[i], submitted[i], bound[i]});
    if (!why_none.empty()) return keep(why_none);

    result.improves = best.cost < submitted;
    if (result.improves) {
        result.hosts.clear();
        for (std::size_t host : hosts_in_order(groups, best.sequence)) result.hosts.push_back(hosts[host]);
        result.reasons.push_back("hosts are taken " + best.what + ": " + saved(groups, *traffic, best.cost, submitted));
    } else if (best.cost != bound) {
        keep("no better one is known");
    }
    if (best.cost == bound)
        result.reasons.push_back("no order can cost less");
    else
        result.reasons.push_back("no order costs less than " + numbers(groups, *traffic, bound));
    // The next best that costs more; another one that costs the same tells nobody anything, if there is more to tell.
    auto runner_up = std::find_if(entries.begin(), entries.end(), [&](const Entry& each) { return each.cost != best.cost; });
    if (runner_up == entries.end() && entries.size() > 1) runner_up = entries.begin() + 1;
    if (runner_up != entries.end())
        result.reasons.push_back("runner-up: " + runner_up->what + ", " + numbers(groups, *traffic, runner_up->cost));
    if (groups.levels_left_out > 0)
        result.reasons.push_back("the " + plural_of_level(groups.leaf_level().name) + " and the " + std::to_string(groups.levels.size() - 1) +
                                 " highest levels are looked at; " + count_of(static_cast<long long>(groups.levels_left_out), "level") +
                                 " between them " + (groups.levels_left_out == 1 ? "is" : "are") + " not");
    for (std::string& each : traffic->remarks()) result.reasons.push_back(std::move(each));
    return result;
}

}  // namespace paced::placement
