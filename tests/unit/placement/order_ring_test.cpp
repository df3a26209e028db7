// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "policy/base/text.h"
#include "tests/unit/placement/small_fabrics.h"

namespace paced::placement {
namespace {

using namespace test;

const config::Order ring{config::Order::Pattern::ring, {}};

TEST(OrderRing, IsTheOptimumOnEverySmallTreeAndOnEveryLevel) {
    std::size_t cases = 0;
    for (int n = 3; n <= 8; ++n) {
        auto shapes = one_level_trees(n);
        for (Shape& each : two_level_trees(n)) shapes.push_back(std::move(each));
        for (const Shape& shape : shapes) {
            const Built built = build(shape);
            for (const Hosts& hosts : {interleaved(built), contiguous(built), shuffled(built, 1), shuffled(built, 2)}) {
                const Climb climb(built.fabric, hosts);
                const auto cost_of = [&](const std::vector<std::size_t>& order) { return ring_cost(climb, order); };
                const Optimum optimum = brute_force(climb, hosts.size(), cost_of);
                const RankOrder order = rank_order(built.fabric, hosts, 1, ring);
                ASSERT_EQ(chosen(order), optimum.best) << to_text(shape);
                ASSERT_EQ(chosen(order), optimum.each_level) << to_text(shape);
                ASSERT_EQ(lower_bound(order), optimum.best) << to_text(shape);
                ASSERT_EQ(chosen(order), cost_of(positions(hosts, order.hosts))) << to_text(shape);
                std::vector<std::size_t> as_submitted(hosts.size());
                std::iota(as_submitted.begin(), as_submitted.end(), 0);
                ASSERT_EQ(submitted(order), cost_of(as_submitted)) << to_text(shape);
                ASSERT_EQ(order.improves, chosen(order) < submitted(order));
                ASSERT_TRUE(order.improves || order.hosts == hosts);
                ASSERT_EQ(order.hosts.front(), hosts.front());
                ++cases;
            }
        }
    }
    EXPECT_GT(cases, 1000u);
}

TEST(OrderRing, GroupsAreTakenAsTheListReachesThemAndHostsKeepTheirOrder) {
    const Built built = build({{2, 2}, {2, 1}});  // h0 h1 | h2 h3 || h4 h5 | h6
    const Hosts hosts{"h4", "h2", "h6", "h0", "h5", "h3", "h1"};
    const RankOrder order = rank_order(built.fabric, hosts, 8, ring);
    EXPECT_EQ(join(order.hosts, " "), "h4 h5 h6 h2 h3 h0 h1");
    EXPECT_EQ(order.leaves, 4u);
    EXPECT_EQ(order.levels, (std::vector<LevelCost>{{"spine", 2, 6, 2}, {"leaf", 4, 7, 4}}));
    EXPECT_EQ(order.reasons,
              (std::vector<std::string>{"hosts are taken leaf by leaf, starting with h4's: 2 steps between spines instead of 6, "
                                        "4 between leaves instead of 7",
                                        "no order can cost less", "runner-up: the submitted order, 6 between spines, 7 between leaves"}));
}

}  // namespace
}  // namespace paced::placement
