// SPDX-License-Identifier: BSD-3-Clause
#include "policy/placement/order/growth.h"

#include <numeric>
#include <queue>
#include <tuple>
#include <utility>

namespace paced::placement {

namespace {

// Splits positions among groups of given sizes; free_of[position] == parent marks those that may be taken.
class Growth {
public:
    Growth(const PositionGraph& graph)
        : graph_(graph), pull_(graph.positions(), 0), rest_(graph.positions(), 0), free_(graph.positions(), false) {}

    // positions: in ascending order, the sum of sizes. taken(i, position): group i takes it.
    template <class Taken>
    void split(const std::vector<Position>& positions, const std::vector<std::size_t>& sizes, const Taken& taken) {
        for (Position each : positions) free_[each] = true;
        for (Position each : positions) {
            rest_[each] = 0;
            for (const auto& edge : graph_.edges(each))
                if (free_[edge.to]) rest_[each] += edge.weight;
        }
        std::size_t first_free = 0;
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            std::priority_queue<Entry> queue;
            std::vector<Position> touched;
            for (std::size_t taken_count = 0; taken_count < sizes[i]; ++taken_count) {
                Position next = 0;
                bool found = false;
                while (!queue.empty() && !found) {
                    const auto [pull, rest, order] = queue.top();
                    queue.pop();
                    next = order == 0 ? 0 : static_cast<Position>(-order);
                    found = free_[next] && pull == pull_[next];  // otherwise it was taken, or entered again with more
                }
                if (!found) {
                    while (!free_[positions[first_free]]) ++first_free;
                    next = positions[first_free];
                }
                free_[next] = false;
                taken(i, next);
                for (const auto& edge : graph_.edges(next)) {
                    rest_[edge.to] -= edge.weight;
                    if (!free_[edge.to]) continue;
                    if (pull_[edge.to] == 0) touched.push_back(edge.to);
                    pull_[edge.to] += edge.weight;
                    queue.push({pull_[edge.to], -rest_[edge.to], -static_cast<long long>(edge.to)});
                }
            }
            for (Position each : touched) pull_[each] = 0;
        }
    }

private:
    // The strongest pull, then the least left outside, then the lowest position.
    using Entry = std::tuple<long long, long long, long long>;

    const PositionGraph& graph_;
    std::vector<long long> pull_, rest_;  // of each position: to the group that grows, to positions that are free
    std::vector<bool> free_;
};

}  // namespace

LeafSequence grow(const FabricGroups& groups, const PositionGraph& graph) {
    const std::size_t n = groups.hosts();
    Growth growth(graph);
    std::vector<Group> at(n, 0), next(n, 0);
    for (std::size_t k = 0; k < groups.levels.size(); ++k) {
        const GroupLevel& level = groups.levels[k];
        const std::size_t parents = k == 0 ? 1 : groups.levels[k - 1].size.size();
        std::vector<std::vector<Group>> children(parents);
        std::vector<bool> known(level.size.size(), false);
        for (Leaf leaf = 0; leaf < groups.leaves.size(); ++leaf) {
            const Group group = level.of_leaf[leaf];
            if (known[group]) continue;
            known[group] = true;
            children[k == 0 ? 0 : groups.levels[k - 1].of_leaf[leaf]].push_back(group);
        }
        std::vector<std::vector<Position>> positions(parents);
        for (Position i = 0; i < n; ++i) positions[at[i]].push_back(i);
        for (std::size_t parent = 0; parent < parents; ++parent) {
            std::vector<std::size_t> sizes;
            for (Group child : children[parent]) sizes.push_back(level.size[child]);
            growth.split(positions[parent], sizes, [&](std::size_t i, Position each) { next[each] = children[parent][i]; });
        }
        at = next;
    }
    return at;
}

}  // namespace paced::placement
