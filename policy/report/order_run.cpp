// SPDX-License-Identifier: BSD-3-Clause
#include "policy/report/order_run.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "policy/report/ranges.h"
#include "policy/report/text_table.h"

namespace paced::report {

namespace {

std::optional<int> crossings_of(std::span<const RankPlace> places, int world, const FabricView& fabric) {
    if (fabric.leaves.empty() || places.empty() || static_cast<int>(places.size()) != world) return std::nullopt;
    std::unordered_map<std::string_view, std::size_t> leaf_of;
    for (std::size_t leaf = 0; leaf < fabric.leaves.size(); ++leaf)
        for (const std::string& host : fabric.leaves[leaf].hosts) leaf_of.emplace(host, leaf);
    int crossings = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const auto from = leaf_of.find(places[i].node), to = leaf_of.find(places[(i + 1) % places.size()].node);
        if (from == leaf_of.end() || to == leaf_of.end()) return std::nullopt;
        if (from->second != to->second) ++crossings;
    }
    return crossings;
}

}  // namespace

OrderRun order_run(std::span<const RankPlace> places, int world, const FabricView& fabric, const OrderView& order) {
    OrderRun run;
    std::unordered_set<std::string_view> seen;
    bool together = true;
    for (std::size_t i = 0; i < places.size(); ++i) {
        if (seen.insert(places[i].node).second) run.hosts.push_back(places[i].node);
        else together = together && places[i].node == places[i - 1].node;
    }
    run.crossings = crossings_of(places, world, fabric);
    if (!order.applied) return run;
    std::vector<std::string> asked;
    std::copy_if(order.hosts.begin(), order.hosts.end(), std::back_inserter(asked), [&](const std::string& host) { return seen.contains(host); });
    if (!asked.empty()) run.as_asked = together && asked == run.hosts;
    return run;
}

std::string order_warning(const OrderRun& run, const OrderView& order) {
    if (run.as_asked.value_or(true)) return {};
    return "the ranks did not run in the order asked for: they ran on " + shortened(compress_hosts(run.hosts), 60) + ", asked was " +
           shortened(compress_hosts(order.hosts), 60) + "; a program that takes its rank from SLURM_NODEID does that";
}

}  // namespace paced::report
