// SPDX-License-Identifier: BSD-3-Clause
// NCCL's double binary tree over the hosts (double_tree.h). The cost on a level is the number of edges, of both trees, whose
// ends are in different groups of that level; an edge that both trees have counts twice, since each carries half the data.
//
// Each tree connects all hosts, so also the L groups: cost >= 2 (L - 1). Finding the best order is a graph partitioning
// problem with given part sizes; we take the best of several orders in which each leaf stands together, and improve it by
// a bounded local search.
#include <algorithm>
#include <utility>

#include "policy/base/text.h"
#include "policy/placement/order/contiguous.h"
#include "policy/placement/order/double_tree.h"
#include "policy/placement/order/order_ring.h"
#include "policy/placement/order/position_graph.h"
#include "policy/placement/order/swap_search.h"
#include "policy/placement/order/traffic.h"

namespace paced::placement {

namespace {

// Swaps tried: enough for the optimum on all small trees (tests/unit/placement/order_gap_test.cpp), and bounded.
long long swaps_for(std::size_t hosts) {
    return std::min(2000 * static_cast<long long>(hosts), 400'000LL);
}

PositionGraph graph_of(std::size_t hosts) {
    std::vector<WeightedPair> pairs;
    for (const auto& parent : double_binary_tree(hosts))
        for (Position node = 0; node < hosts; ++node) pairs.push_back({node, parent[node], 1});
    return {hosts, pairs};
}

class Tree final : public Traffic {
public:
    explicit Tree(const FabricGroups& groups) : groups_(groups), graph_(graph_of(groups.hosts())) {}

    Cost cost(const LeafSequence& sequence) const override { return cut(groups_, graph_, sequence); }

    Cost lower_bound() const override {
        Cost bound;
        for (const GroupLevel& level : groups_.levels) bound.push_back(2 * (static_cast<long long>(level.size.size()) - 1));
        return bound;
    }

    std::vector<Candidate> candidates() const override {
        std::vector<Candidate> all = contiguous_orders(groups_);
        const auto best = std::min_element(all.begin(), all.end(),
                                           [&](const Candidate& a, const Candidate& b) { return cost(a.sequence) < cost(b.sequence); });
        const long long swaps = swaps_for(groups_.hosts());
        const std::string start = best->what;
        std::vector<LeafSequence> swapped{swap_search(groups_, graph_, best->sequence, swaps)};
        if (groups_.levels.size() > 1) swapped.push_back(swap_search_by_level(groups_, graph_, best->sequence, swaps));
        for (LeafSequence& each : swapped) all.push_back({std::move(each), start + ", then swapped until no edge can be saved"});
        all.push_back(
            {swap_search(groups_, graph_, groups_.submitted, swaps / 4), "as submitted, then swapped until no edge can be saved"});
        return all;
    }

    std::string amount(long long cost) const override { return count_of(cost, "tree edge"); }

private:
    const FabricGroups& groups_;
    PositionGraph graph_;
};

}  // namespace

std::unique_ptr<Traffic> tree_traffic(const FabricGroups& groups) {
    return std::make_unique<Tree>(groups);
}

}  // namespace paced::placement
