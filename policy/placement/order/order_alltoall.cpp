// SPDX-License-Identifier: BSD-3-Clause
// All-to-all as a shift schedule: in step s = 1 .. R-1 rank i sends to rank i + s (mod R). The cost on a level is the highest
// number of messages that leave one group of that level in one step: the load of its uplink.
//
// With T ranks on each of n hosts, R = n T, it is enough to look at hosts. Write s = q T + r with 0 <= r < T, and let out(q)
// be the number of hosts of the group whose host q positions ahead is not in the group. Rank (host p, local l) sends to host
// p + q if l + r < T and to host p + q + 1 otherwise, so the group sends out (T - r) out(q) + r out(q+1) messages: a mean of
// T out(q) and T out(q+1), which is at most the larger of the two, and both are steps themselves (r = 0). Hence
//
//     cost = T * max over groups and over q = 1 .. n-1 of out(q).
//
// shift_load.h works that out and has the lower bound.
#include <algorithm>

#include "policy/base/text.h"
#include "policy/placement/order/order_ring.h"
#include "policy/placement/order/shift_load.h"
#include "policy/placement/order/spread_search.h"
#include "policy/placement/order/traffic.h"

namespace paced::placement {

namespace {

class AllToAll final : public Traffic {
public:
    AllToAll(const FabricGroups& groups, int tasks_per_node) : groups_(groups), tasks_(tasks_per_node) {}

    Cost cost(const LeafSequence& sequence) const override {
        Cost cost;
        for (const GroupLevel& level : groups_.levels) cost.push_back(tasks_ * worst_shift_load(level, sequence));
        return cost;
    }

    Cost lower_bound() const override {
        Cost bound;
        for (const GroupLevel& level : groups_.levels) bound.push_back(tasks_ * least_shift_load(level, groups_.hosts()));
        return bound;
    }

    std::vector<Candidate> candidates() const override {
        return {{walk(groups_), leaf_by_leaf(groups_)},
                {spread(groups_), "so that at any distance in the order many pairs share a " + groups_.leaf_level().name}};
    }

    std::string amount(long long cost) const override { return "up to " + count_of(cost, "message") + " in one step"; }
    std::string where(const std::string& levels) const override { return "out of one of the " + levels; }

private:
    const FabricGroups& groups_;
    long long tasks_;
};

}  // namespace

std::unique_ptr<Traffic> alltoall_traffic(const FabricGroups& groups, int tasks_per_node) {
    return std::make_unique<AllToAll>(groups, tasks_per_node);
}

}  // namespace paced::placement
