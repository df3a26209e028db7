// SPDX-License-Identifier: BSD-3-Clause
#include "policy/placement/order/position_graph.h"

#include <algorithm>

namespace paced::placement {

PositionGraph::PositionGraph(std::size_t positions, std::span<const WeightedPair> pairs) : begin_(positions + 1, 0) {
    for (const WeightedPair& pair : pairs) {
        if (pair.from == pair.to) continue;
        ++begin_[pair.from + 1];
        ++begin_[pair.to + 1];
    }
    for (std::size_t i = 0; i < positions; ++i) begin_[i + 1] += begin_[i];
    std::vector<Edge> all(begin_.back());
    auto end = begin_;
    for (const WeightedPair& pair : pairs) {
        if (pair.from == pair.to) continue;
        all[end[pair.from]++] = {pair.to, pair.weight};
        all[end[pair.to]++] = {pair.from, pair.weight};
    }
    // Each position's edges by their other end, equal ones made one.
    for (std::size_t i = 0; i < positions; ++i) {
        const auto first = all.begin() + static_cast<std::ptrdiff_t>(begin_[i]), last = all.begin() + static_cast<std::ptrdiff_t>(end[i]);
        std::sort(first, last, [](const Edge& a, const Edge& b) { return a.to < b.to; });
        begin_[i] = edges_.size();
        for (auto each = first; each != last; ++each) {
            if (edges_.size() > begin_[i] && edges_.back().to == each->to)
                edges_.back().weight += each->weight;
            else
                edges_.push_back(*each);
        }
    }
    begin_.back() = edges_.size();
    edges_.shrink_to_fit();
}

Cost cut(const FabricGroups& groups, const PositionGraph& graph, const LeafSequence& sequence) {
    Cost cost;
    for (const GroupLevel& level : groups.levels) {
        long long weight = 0;
        for (Position from = 0; from < sequence.size(); ++from)
            for (const auto& edge : graph.edges(from))
                if (from < edge.to && level.of_leaf[sequence[from]] != level.of_leaf[sequence[edge.to]]) weight += edge.weight;
        cost.push_back(weight);
    }
    return cost;
}

}  // namespace paced::placement
