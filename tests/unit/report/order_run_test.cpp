// SPDX-License-Identifier: BSD-3-Clause
#include "policy/report/order_run.h"

#include <gtest/gtest.h>

namespace paced::report {
namespace {

using Places = std::vector<RankPlace>;

Places on(const std::vector<std::string>& nodes) {
    Places places;
    for (const std::string& node : nodes) places.push_back({static_cast<int>(places.size()), node});
    return places;
}

FabricView two_leaves() {
    FabricView fabric;
    fabric.leaves = {{"leaf1", {"n1", "n3"}}, {"leaf2", {"n2", "n4"}}};
    return fabric;
}

OrderView applied() {
    OrderView order;
    order.pattern = "ring";
    order.hosts = {"n1", "n3", "n2", "n4"};
    order.applied = true;
    return order;
}

TEST(OrderRun, AsAskedFor) {
    const OrderRun run = order_run(on({"n1", "n3", "n2", "n4"}), 4, two_leaves(), applied());
    EXPECT_EQ(run, (OrderRun{{"n1", "n3", "n2", "n4"}, 2, true}));
    EXPECT_EQ(order_warning(run, applied()), "");
}

// As a program does that takes its rank from SLURM_NODEID, which follows the list of nodes.
TEST(OrderRun, TheSubmittedOrderInsteadIsAWarning) {
    const OrderRun run = order_run(on({"n1", "n2", "n3", "n4"}), 4, two_leaves(), applied());
    EXPECT_EQ(run, (OrderRun{{"n1", "n2", "n3", "n4"}, 4, false}));
    EXPECT_EQ(order_warning(run, applied()),
              "the ranks did not run in the order asked for: they ran on n[1-4], asked was n[1,3,2,4]; a program that takes its rank from "
              "SLURM_NODEID does that");
}

TEST(OrderRun, SeveralRanksOnANode) {
    EXPECT_EQ(order_run(on({"n1", "n1", "n3", "n3", "n2", "n2", "n4", "n4"}), 8, two_leaves(), applied()).as_asked, true);
    // each node once, and again: its ranks are not together
    const OrderRun cyclic = order_run(on({"n1", "n3", "n2", "n4", "n1", "n3", "n2", "n4"}), 8, two_leaves(), applied());
    EXPECT_EQ(cyclic.as_asked, false);
    EXPECT_EQ(cyclic.crossings, 4);
}

TEST(OrderRun, RanksThatAreMissing) {
    Places some = on({"n1", "n3", "n2", "n4"});
    some.erase(some.begin() + 1);
    EXPECT_EQ(order_run(some, 4, two_leaves(), applied()), (OrderRun{{"n1", "n2", "n4"}, std::nullopt, true}));
    std::swap(some[1].node, some[2].node);
    EXPECT_EQ(order_run(some, 4, two_leaves(), applied()).as_asked, false);
    EXPECT_EQ(order_run({}, 4, two_leaves(), applied()), OrderRun{});
}

TEST(OrderRun, ALeafThatIsNotKnownIsNotGuessed) {
    FabricView fabric = two_leaves();
    fabric.leaves[1].hosts.pop_back();
    EXPECT_EQ(order_run(on({"n1", "n3", "n2", "n4"}), 4, fabric, applied()).crossings, std::nullopt);
    EXPECT_EQ(order_run(on({"n1", "n3", "n2", "n4"}), 4, {}, applied()).crossings, std::nullopt);
}

TEST(OrderRun, NothingAppliedIsNothingToCompareWith) {
    OrderView kept = applied();
    kept.applied = false;
    const OrderRun run = order_run(on({"n1", "n2", "n3", "n4"}), 4, two_leaves(), kept);
    EXPECT_EQ(run.as_asked, std::nullopt);
    EXPECT_EQ(run.crossings, 4);
    EXPECT_EQ(order_warning(run, kept), "");
}

}  // namespace
}  // namespace paced::report
