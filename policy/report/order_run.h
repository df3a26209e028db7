// SPDX-License-Identifier: BSD-3-Clause
// The order in which the ranks really ran, from the nodes that they recorded on.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "policy/report/job_plan.h"

namespace paced::report {

// A rank and its node, in the order of ranks.
struct RankPlace {
    int rank = -1;
    std::string node;
};

struct OrderRun {
    std::vector<std::string> hosts;  // as the ranks first reach them; empty: no rank has recorded
    std::optional<int> crossings;    // steps of the closed ring over the ranks between leaves; nullopt: a leaf or a rank is not known
    std::optional<bool> as_asked;    // nullopt: no order was applied, or none of its ranks has recorded

    friend bool operator==(const OrderRun&, const OrderRun&) = default;
};

// places: of the ranks that recorded; world: how many there were. Nodes that no rank was heard of are left out on both sides
// of the comparison. An order that was applied keeps the ranks of a node together; where they are not, it did not run.
OrderRun order_run(std::span<const RankPlace> places, int world, const FabricView& fabric, const OrderView& order);

// What there is to say where the order did not run as asked; empty: nothing.
std::string order_warning(const OrderRun& run, const OrderView& order);

}  // namespace paced::report
