// SPDX-License-Identifier: BSD-3-Clause
// What rank_order asks of one kind of traffic: what an order costs, what none can go below, and orders worth a look.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "policy/config/settings.h"
#include "policy/placement/fabric_groups.h"

namespace paced::placement {

// On each level of FabricGroups, the top level first. Compared as vectors compare: what is saved higher up counts more.
using Cost = std::vector<long long>;

struct Candidate {
    LeafSequence sequence;  // position 0 is on leaf 0, that of the first host
    std::string what;       // "hosts are taken leaf by leaf, starting with n1's", or without a verb for a runner-up
};

class Traffic {
public:
    virtual ~Traffic() = default;
    virtual Cost cost(const LeafSequence& sequence) const = 0;
    virtual Cost lower_bound() const = 0;
    // Without the submitted order. The better ones first where cost does not tell.
    virtual std::vector<Candidate> candidates() const = 0;
    // "2 steps between leaves"; level: in the plural
    virtual std::string in_words(long long cost, const std::string& levels) const = 0;
    // Further sentences for the reasons.
    virtual std::vector<std::string> remarks() const { return {}; }
};

// groups must outlive what is returned, and have no problems.
std::unique_ptr<Traffic> ring_traffic(const FabricGroups& groups);

}  // namespace paced::placement
