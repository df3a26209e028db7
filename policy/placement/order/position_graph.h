// SPDX-License-Identifier: BSD-3-Clause
// Traffic as a graph over the positions of an order, and what of it goes between groups of hosts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "policy/placement/order/fabric_groups.h"
#include "policy/placement/order/traffic.h"

namespace paced::placement {

using Position = std::uint32_t;

struct WeightedPair {
    Position from = 0, to = 0;
    long long weight = 1;
};

// Undirected: each pair is an edge of both its ends. Pairs of one position with itself are left out, equal pairs are one
// edge with the sum of their weights.
class PositionGraph {
public:
    struct Edge {
        Position to;
        long long weight;
    };

    PositionGraph(std::size_t positions, std::span<const WeightedPair> pairs);

    std::size_t positions() const { return begin_.size() - 1; }
    // By position of the other end.
    std::span<const Edge> edges(Position at) const { return {edges_.data() + begin_[at], edges_.data() + begin_[at + 1]}; }

private:
    std::vector<std::size_t> begin_;
    std::vector<Edge> edges_;
};

// On each level: the weight of the edges whose ends are in different groups.
Cost cut(const FabricGroups& groups, const PositionGraph& graph, const LeafSequence& sequence);

}  // namespace paced::placement
