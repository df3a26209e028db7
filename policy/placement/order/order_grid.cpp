// SPDX-License-Identifier: BSD-3-Clause
// A grid of ranks (grid_shape.h). The cost on a level is the sum, over axes, of weight x number of ring edges between ranks
// whose hosts are in different groups of that level. Hosts are mapped whole, so the grid of ranks is first made a graph of
// positions. Which order is best is a graph partitioning problem; we take the best of several constructions and improve it
// by a bounded local search. grid_bound.h has the lower bound.
#include <algorithm>
#include <numeric>
#include <utility>

#include "policy/base/text.h"
#include "policy/placement/order/grid_bound.h"
#include "policy/placement/order/grid_boxes.h"
#include "policy/placement/order/grid_shape.h"
#include "policy/placement/order/growth.h"
#include "policy/placement/order/order_ring.h"
#include "policy/placement/order/swap_search.h"
#include "policy/placement/order/traffic.h"

namespace paced::placement {

namespace {

long long swaps_for(std::size_t hosts) {
    return std::min(1000 * static_cast<long long>(hosts), 300'000LL);
}

class Grid final : public Traffic {
public:
    Grid(const FabricGroups& groups, int tasks_per_node, const config::Order& order)
        : groups_(groups), tasks_(tasks_per_node), axes_(grid_axes(order)), graph_(grid_graph(axes_, groups.hosts(), tasks_per_node)) {}

    Cost cost(const LeafSequence& sequence) const override { return cut(groups_, graph_, sequence); }

    Cost lower_bound() const override {
        Cost bound;
        for (const GroupLevel& level : groups_.levels) bound.push_back(grid_bound(axes_, tasks_, level, groups_.hosts()));
        return bound;
    }

    std::vector<Candidate> candidates() const override {
        std::vector<Candidate> all{{walk(groups_), leaf_by_leaf(groups_)}};
        const auto add = [&](LeafSequence sequence, std::string what) {
            if (sequence.size() == groups_.hosts() &&
                std::none_of(all.begin(), all.end(), [&](const Candidate& each) { return each.sequence == sequence; }))
                all.push_back({std::move(sequence), std::move(what)});
        };
        for (const auto& axes : axis_orders())
            add(along(axes), "so that each " + groups_.leaf_level().name + " is filled along " + names(axes));
        const auto hosts = host_grid_of(axes_, tasks_);
        if (!hosts.empty()) {
            add(boxes_of(groups_, hosts, LeafShape::box), "so that each " + groups_.leaf_level().name + " is a box of the grid");
            add(boxes_of(groups_, hosts, LeafShape::strip),
                "so that each " + groups_.leaf_level().name + " is a piece of a strip of the grid");
        }
        add(grow(groups_, graph_), "so that each " + groups_.leaf_level().name + " grows by the host that talks most to it");

        // From the two best constructions on, and from what was submitted.
        std::vector<std::pair<Cost, std::size_t>> ranking;
        for (std::size_t i = 0; i < all.size(); ++i) ranking.emplace_back(cost(all[i].sequence), i);
        std::stable_sort(ranking.begin(), ranking.end());
        std::vector<Candidate> swapped;
        const auto improve = [&](const LeafSequence& from, const std::string& what) {
            swapped.push_back(
                {swap_search(groups_, graph_, from, swaps_for(groups_.hosts())), what + ", then swapped until nothing is gained"});
        };
        for (std::size_t i = 0; i < std::min<std::size_t>(ranking.size(), 2); ++i)
            improve(all[ranking[i].second].sequence, all[ranking[i].second].what);
        improve(groups_.submitted, "as submitted");
        for (Candidate& each : swapped) add(std::move(each.sequence), std::move(each.what));
        return all;
    }

    std::string amount(long long cost) const override { return "a weighted traffic of " + std::to_string(cost); }

    std::vector<std::string> remarks() const override {
        if (axes_.empty()) return {"the grid has no axis along which ranks talk"};
        return {"a message weighs, by axis: " + weights_in_words(axes_)};
    }

private:
    // Orders of axes, the fastest first, in which positions are gone through; not all of them where there are many.
    std::vector<std::vector<std::size_t>> axis_orders() const {
        std::vector<std::size_t> axes(axes_.size());
        std::iota(axes.begin(), axes.end(), std::size_t{0});
        std::vector<std::vector<std::size_t>> orders;
        constexpr std::size_t most_orders = 6;
        do orders.push_back(axes);
        while (orders.size() < most_orders && std::next_permutation(axes.begin(), axes.end()));
        return orders;
    }

    std::string names(const std::vector<std::size_t>& axes) const {
        std::vector<std::string> names;
        for (std::size_t each : axes) names.push_back(axes_[each].name);
        return join(names, ", then ");
    }

    // The leaves of the walk, laid along positions by their first ranks' coordinates.
    LeafSequence along(const std::vector<std::size_t>& axes) const {
        std::vector<std::pair<long long, Position>> order(groups_.hosts());
        for (Position i = 0; i < order.size(); ++i) {
            long long key = 0;
            for (auto each = axes.rbegin(); each != axes.rend(); ++each)
                key = key * axes_[*each].size + static_cast<long long>(i) * tasks_ / axes_[*each].stride % axes_[*each].size;
            order[i] = {key, i};
        }
        std::sort(order.begin(), order.end());
        const LeafSequence leaves = walk(groups_);
        LeafSequence sequence(order.size());
        for (std::size_t i = 0; i < order.size(); ++i) sequence[order[i].second] = leaves[i];
        return sequence;
    }

    const FabricGroups& groups_;
    int tasks_;
    std::vector<GridAxis> axes_;
    PositionGraph graph_;
};

}  // namespace

std::string grid_misfit(std::size_t hosts, int tasks_per_node, const config::Order& order) {
    long long ranks = 1;
    for (const config::Axis& axis : order.axes) ranks *= axis.size;
    const long long there = static_cast<long long>(hosts) * tasks_per_node;
    if (ranks == there) return {};
    return "the grid " + to_string(order) + " has " + count_of(ranks, "rank") + ", but " + count_of(static_cast<long long>(hosts), "host") +
           " with " + count_of(tasks_per_node, "task") + " each have " + std::to_string(there);
}

std::unique_ptr<Traffic> grid_traffic(const FabricGroups& groups, int tasks_per_node, const config::Order& order) {
    return std::make_unique<Grid>(groups, tasks_per_node, order);
}

}  // namespace paced::placement
