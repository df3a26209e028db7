// SPDX-License-Identifier: BSD-3-Clause
// What holds for every pattern: when the order is kept and what is said then, and that names and the order of switches in
// the fabric change nothing.
#include <set>

#include <gtest/gtest.h>

#include "policy/base/text.h"
#include "tests/unit/placement/small_fabrics.h"

namespace paced::placement {
namespace {

using namespace test;
using Reasons = std::vector<std::string>;

config::Order order_of(const char* text) {
    const auto order = config::parse_order(text);
    EXPECT_TRUE(order) << text;
    return order ? *order : config::Order{};
}

Hosts words(std::string_view text) {
    Hosts hosts;
    for (auto each : split(text, ' ')) hosts.emplace_back(each);
    return hosts;
}

FabricTopology two_leaves() {
    topology::FabricBuilder builder;
    builder.add_switch("leaf1", {"n1", "n2", "n3", "n4", "x", "y"}, {}, {});
    builder.add_switch("leaf2", {"n5", "n6", "n7", "n8", "x", "y"}, {}, {});
    builder.add_switch("spine", {}, {"leaf1", "leaf2"}, {});
    Diagnostics diagnostics;
    auto fabric = std::move(builder).build(diagnostics);
    fabric.origin = "topology.conf";
    return fabric;
}

TEST(RankOrder, WhenTheSubmittedOrderIsKeptAndWhy) {
    const FabricTopology fabric = two_leaves();
    const struct {
        const char *hosts, *order;
        int tasks;
        bool cost_known;
        Reasons reasons;
    } cases[] = {
        {"n1 n5 n2 n6", "none", 1, false, {"no order was asked for"}},
        {"n1 n5 n2 n6", "ring", 0, false, {"there are 0 tasks on a node"}},
        {"n1 n5 n9 n6", "ring", 1, false, {"n9 is on no switch of topology.conf"}},
        {"n1 n11 n9 n10", "tree", 1, false, {"n[11,9-10] are on no switch of topology.conf"}},
        {"n1 n5 y n6 x", "alltoall", 1, false, {"y,x are on several switches: leaf1, leaf2"}},
        {"n1 n5 n1 n6 n5 n5", "ring", 1, false, {"n1 stands twice in the list of hosts", "n5 stands twice in the list of hosts"}},
        {"n1 n5 n1 n9 x",
         "ring",
         1,
         false,
         {"n1 stands twice in the list of hosts", "n9 is on no switch of topology.conf", "x is on several switches: leaf1, leaf2"}},
        {"n1 n5", "ring", 8, true, {"fewer than 3 hosts leave no choice, since the first one stays the first"}},
        {"n1", "alltoall", 8, true, {"fewer than 3 hosts leave no choice, since the first one stays the first"}},
        {"n1 n3 n4", "tree", 8, true, {"all hosts are on one leaf, leaf1"}},
        {"n1 n5 n2 n6", "tp=8,dp=2", 8, false, {"the grid tp=8,dp=2 has 16 ranks, but 4 hosts with 8 tasks each have 32"}},
        {"n1 n5 n2", "tp=1", 1, false, {"the grid tp=1 has 1 rank, but 3 hosts with 1 task each have 3"}},
    };
    for (const auto& each : cases) {
        const Hosts hosts = words(each.hosts);
        const RankOrder order = rank_order(fabric, hosts, each.tasks, order_of(each.order));
        EXPECT_EQ(order.hosts, hosts) << each.hosts;
        EXPECT_FALSE(order.improves) << each.hosts;
        EXPECT_EQ(!order.levels.empty(), each.cost_known) << each.hosts;
        for (const LevelCost& level : order.levels) EXPECT_EQ(level.chosen, level.submitted);
        EXPECT_EQ(order.reasons, each.reasons) << each.hosts;
    }
    EXPECT_EQ(rank_order(fabric, {}, 1, order_of("ring")).reasons, Reasons{"there are no hosts"});
}

TEST(RankOrder, SaysWhatIsChosenWhatItSavesAndTheRunnerUp) {
    const FabricTopology fabric = two_leaves();
    const Hosts interleaved = words("n1 n5 n2 n6 n3 n7 n4 n8"), sorted = words("n1 n2 n3 n4 n5 n6 n7 n8");
    const auto reasons = [&](const Hosts& hosts, const char* order, int tasks) {
        return rank_order(fabric, hosts, tasks, order_of(order)).reasons;
    };
    EXPECT_EQ(reasons(interleaved, "ring", 1),
              (Reasons{"hosts are taken leaf by leaf, starting with n1's: 2 steps between leaves instead of 8", "no order can cost less",
                       "runner-up: the submitted order, 8"}));
    EXPECT_EQ(reasons(sorted, "ring", 1),
              Reasons{"no order can cost less"});
    // Its best order is submitted again: the bound is lower than what is known.
    const RankOrder tree = rank_order(fabric, interleaved, 1, order_of("tree"));
    EXPECT_EQ(rank_order(fabric, tree.hosts, 1, order_of("tree")).reasons,
              (Reasons{"no better one is known", "no order costs less than 2", "runner-up: leaf by leaf, starting with n1's, of which 1 host comes last, 6"}));
    EXPECT_EQ(reasons(interleaved, "tree", 1),
              (Reasons{"hosts are taken leaf by leaf, starting with n1's: 4 tree edges between leaves instead of 8",
                       "no order costs less than 2", "runner-up: leaf by leaf, starting with n1's, of which 1 host comes last, 6"}));
    EXPECT_EQ(
        reasons(sorted, "alltoall", 8),
        (Reasons{
            "hosts are taken so that at any distance in the order many pairs share a leaf: up to 24 messages in one step out of one of "
            "the leaves instead of 32",
            "no order can cost less", "runner-up: the submitted order, 32"}));
    EXPECT_EQ(reasons(interleaved, "tp=8,pp=4,dp=2", 8),
              (Reasons{"hosts are taken leaf by leaf, starting with n1's: a weighted traffic of 32 between leaves instead of 640",
                       "no order can cost less", "runner-up: so that each leaf is filled along tp, then dp, then pp, 320",
                       "a message weighs, by axis: tp 100, pp 10, dp 1"}));
}

TEST(RankOrder, ForestsUnevenDepthsAndHostsOnInnerSwitches) {
    topology::FabricBuilder builder;
    builder.add_switch("a", {"a1", "a2"}, {}, {});
    builder.add_switch("b", {"b1", "b2"}, {}, {});
    builder.add_switch("ab", {"s1", "s2"}, {"a", "b"}, {});  // hosts on an inner switch
    builder.add_switch("c", {"c1", "c2"}, {}, {});           // a leaf right under the root
    builder.add_switch("top", {}, {"ab", "c"}, {});
    builder.add_switch("alone", {"z1", "z2"}, {}, {});  // another root
    Diagnostics diagnostics;
    const FabricTopology fabric = std::move(builder).build(diagnostics);
    const Hosts hosts = words("c1 z1 a1 s1 b1 c2 z2 a2 s2 b2");
    const RankOrder order = rank_order(fabric, hosts, 1, order_of("ring"));
    EXPECT_EQ(join(order.hosts, " "), "c1 c2 a1 a2 s1 s2 b1 b2 z1 z2");
    EXPECT_EQ(order.leaves, 5u);
    // core: top's hosts and alone's; spine: c, alone, ab; leaf: c, alone, a, ab itself, b
    EXPECT_EQ(order.levels, (std::vector<LevelCost>{{"core", 2, 4, 2}, {"spine", 3, 6, 3}, {"leaf", 5, 10, 5}}));
    // Levels above the one that joins all hosts say nothing.
    const RankOrder within = rank_order(fabric, words("s1 a1 s2 a2"), 1, order_of("ring"));
    EXPECT_EQ(join(within.hosts, " "), "s1 s2 a1 a2");
    EXPECT_EQ(within.levels, (std::vector<LevelCost>{{"leaf", 2, 4, 2}}));
}

TEST(RankOrder, BlocksAreLeavesWithoutASpine) {
    topology::FabricBuilder builder;
    builder.add_switch("block1", {"n1", "n2"}, {}, {});
    builder.add_switch("block2", {"n3", "n4"}, {}, {});
    Diagnostics diagnostics;
    FabricTopology fabric = std::move(builder).build(diagnostics);
    fabric.kind = topology::FabricKind::blocks;
    const RankOrder order = rank_order(fabric, words("n1 n3 n2 n4"), 1, order_of("ring"));
    EXPECT_EQ(order.levels, (std::vector<LevelCost>{{"block", 2, 4, 2}}));
    EXPECT_EQ(order.reasons.front(), "hosts are taken block by block, starting with n1's: 2 steps between blocks instead of 4");
}

// Each shape with each pattern: as built, with the switches listed in other orders, and with all names changed.
TEST(RankOrder, NamesAndTheOrderOfSwitchesChangeNothing) {
    const std::vector<Shape> shapes{{{4, 4}}, {{5, 3, 1}}, {{8, 8}, {8, 8}}, {{7, 5}, {3, 3, 3}, {1}}, {{16, 16, 16, 16}}};
    for (const Shape& shape : shapes) {
        const Built plain = build(shape);
        const std::size_t count = contiguous(plain).size();
        const std::string grid = "tp=4,dp=" + std::to_string(count);
        for (const char* pattern : {"ring", "tree", "alltoall", grid.c_str()}) {
            for (unsigned seed : {0u, 5u}) {
                const Hosts hosts = seed == 0 ? interleaved(plain) : shuffled(plain, seed);
                const RankOrder expected = rank_order(plain.fabric, hosts, 4, order_of(pattern));
                ASSERT_EQ(std::set<std::string>(expected.hosts.begin(), expected.hosts.end()).size(), count);
                ASSERT_EQ(std::set<std::string>(expected.hosts.begin(), expected.hosts.end()),
                          std::set<std::string>(hosts.begin(), hosts.end()));
                ASSERT_EQ(expected.hosts.front(), hosts.front());
                for (unsigned permutation : {1u, 2u, 3u}) {
                    // "h12" becomes "other12": names sort and hash in another way
                    const Built other = build(shape, permutation == 1 ? "h" : permutation == 2 ? "other" : "0x", permutation);
                    Hosts renamed;
                    for (const std::string& host : hosts)
                        renamed.push_back((permutation == 1 ? "h" : permutation == 2 ? "other" : "0x") + host.substr(1));
                    const RankOrder order = rank_order(other.fabric, renamed, 4, order_of(pattern));
                    ASSERT_EQ(positions(renamed, order.hosts), positions(hosts, expected.hosts)) << to_text(shape) << ' ' << pattern;
                    ASSERT_EQ(order.levels, expected.levels) << to_text(shape) << ' ' << pattern;
                    ASSERT_TRUE(permutation != 1 || order.reasons == expected.reasons);
                }
            }
        }
    }
}

// What is chosen is never dearer than leaf by leaf, nor than what was submitted; and a chosen order is kept when it is submitted.
TEST(RankOrder, ChosenOrdersAreStable) {
    for (const Shape& shape : {Shape{{16, 16}}, Shape{{12, 7, 5}}, Shape{{8, 8}, {8, 4}}}) {
        const Built built = build(shape);
        const std::string grid = "tp=2,pp=2,dp=" + std::to_string(contiguous(built).size() / 2);
        for (const char* pattern : {"ring", "tree", "alltoall", grid.c_str()}) {
            const RankOrder by_leaf = rank_order(built.fabric, contiguous(built), 2, order_of(pattern));
            const RankOrder first = rank_order(built.fabric, interleaved(built), 2, order_of(pattern));
            EXPECT_LE(chosen(first), submitted(first));
            EXPECT_LE(chosen(first), submitted(by_leaf)) << pattern;
            const RankOrder second = rank_order(built.fabric, first.hosts, 2, order_of(pattern));
            EXPECT_EQ(submitted(second), chosen(first)) << pattern;
            EXPECT_LE(chosen(second), chosen(first)) << pattern;
        }
    }
}

}  // namespace
}  // namespace paced::placement
