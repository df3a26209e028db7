// SPDX-License-Identifier: BSD-3-Clause
// What rank_order asks of one kind of traffic: what an order costs, what none can go below, and orders worth a look.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "policy/config/settings.h"
#include "policy/placement/order/fabric_groups.h"

namespace paced::placement {

// On each level of FabricGroups, the top level first. Compared as vectors compare: what is saved higher up counts more.
using Cost = std::vector<long long>;

struct Candidate {
    LeafSequence sequence;  // position 0 is on leaf 0, that of the first host
    std::string what;       // after "hosts are taken": "leaf by leaf, starting with n1's"
};

class Traffic {
public:
    virtual ~Traffic() = default;
    virtual Cost cost(const LeafSequence& sequence) const = 0;
    virtual Cost lower_bound() const = 0;
    // Without the submitted order. The better ones first where cost does not tell.
    virtual std::vector<Candidate> candidates() const = 0;
    // "2 steps"
    virtual std::string amount(long long cost) const = 0;
    // "between leaves"; levels: in the plural
    virtual std::string where(const std::string& levels) const { return "between " + levels; }
    // Further sentences for the reasons.
    virtual std::vector<std::string> remarks() const { return {}; }
};

// groups must outlive what is returned, and have no problems.
std::unique_ptr<Traffic> ring_traffic(const FabricGroups& groups);
std::unique_ptr<Traffic> tree_traffic(const FabricGroups& groups);
std::unique_ptr<Traffic> alltoall_traffic(const FabricGroups& groups, int tasks_per_node);
std::unique_ptr<Traffic> grid_traffic(const FabricGroups& groups, int tasks_per_node, const config::Order& order);

// Why the grid does not fit these hosts: "the grid tp=8,dp=2 has 16 ranks, but 4 hosts with 8 tasks each have 32". Empty: it fits.
std::string grid_misfit(std::size_t hosts, int tasks_per_node, const config::Order& order);

}  // namespace paced::placement
