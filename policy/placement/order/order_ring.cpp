// SPDX-License-Identifier: BSD-3-Clause
// A ring over the hosts, closed: as in ring all-reduce, ring all-gather and pipelines that wrap around.
//
// The cost on a level is the number of steps i -> i+1 (mod n) whose two hosts are in different groups of that level. With
// L >= 2 groups every group is entered at least once, and a step enters at most one, so
//
//     cost >= L   (and 0 where L = 1).
//
// The walk visits the hosts of each group without a break, so it enters each group exactly once: cost = L. Groups of a
// level are unions of those of the level below, so one walk does this on all levels at once. It is therefore the
// optimum on every level, for every weighting of levels.
#include "policy/placement/order/order_ring.h"

#include <algorithm>

#include "policy/base/text.h"
#include "policy/placement/order/traffic.h"

namespace paced::placement {

LeafSequence walk(const FabricGroups& groups) {
    LeafSequence sequence;
    sequence.reserve(groups.hosts());
    for (Leaf leaf : groups.walk) sequence.insert(sequence.end(), groups.leaf_level().size[leaf], leaf);
    return sequence;
}

std::string leaf_by_leaf(const FabricGroups& groups) {
    return groups.leaf_level().name + " by " + groups.leaf_level().name + ", starting with " + groups.first_host + "'s";
}

namespace {

class Ring final : public Traffic {
public:
    explicit Ring(const FabricGroups& groups) : groups_(groups) {}

    Cost cost(const LeafSequence& sequence) const override {
        Cost cost;
        for (const GroupLevel& level : groups_.levels) {
            long long steps = 0;
            for (std::size_t i = 0; i < sequence.size(); ++i)
                steps += level.of_leaf[sequence[i]] != level.of_leaf[sequence[i + 1 == sequence.size() ? 0 : i + 1]];
            cost.push_back(steps);
        }
        return cost;
    }

    Cost lower_bound() const override {
        Cost bound;
        for (const GroupLevel& level : groups_.levels)
            bound.push_back(level.size.size() > 1 ? static_cast<long long>(level.size.size()) : 0);
        return bound;
    }

    std::vector<Candidate> candidates() const override { return {{walk(groups_), leaf_by_leaf(groups_)}}; }

    std::string amount(long long cost) const override { return count_of(cost, "step"); }

private:
    const FabricGroups& groups_;
};

}  // namespace

std::unique_ptr<Traffic> ring_traffic(const FabricGroups& groups) {
    return std::make_unique<Ring>(groups);
}

}  // namespace paced::placement
