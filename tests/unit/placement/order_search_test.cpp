// SPDX-License-Identifier: BSD-3-Clause
// The parts that the searches for an order are made of.
#include <ctime>

#include <gtest/gtest.h>

#include "policy/placement/order/position_graph.h"
#include "policy/placement/order/shift_load.h"
#include "policy/placement/order/spread_search.h"
#include "policy/placement/order/swap_search.h"
#include "policy/placement/order/traffic.h"
#include "tests/unit/placement/small_fabrics.h"

namespace paced::placement {
namespace {

using namespace test;

FabricGroups groups_of(const Shape& shape) {
    const Built built = build(shape);
    return fabric_groups(built.fabric, contiguous(built));
}

// By the definition: who of each group sends to another one, step by step.
long long load_by_definition(const GroupLevel& level, const LeafSequence& sequence) {
    long long worst = 0;
    for (std::size_t step = 1; step < sequence.size(); ++step) {
        std::vector<long long> out(level.size.size(), 0);
        for (std::size_t i = 0; i < sequence.size(); ++i) {
            const Group from = level.of_leaf[sequence[i]], to = level.of_leaf[sequence[(i + step) % sequence.size()]];
            if (from != to) worst = std::max(worst, ++out[from]);
        }
    }
    return worst;
}

// Small sets are counted by pairs, large ones by a transform.
TEST(ShiftLoad, IsWhatTheDefinitionSays) {
    std::mt19937 random(3);
    for (const Shape& shape :
         {Shape{{3, 2}}, Shape{{1, 1, 1}}, Shape{{7, 5}, {4, 4}}, Shape{{300, 200, 99}}, Shape{{350, 350}, {33, 300}}, Shape{{511, 1}}}) {
        const FabricGroups groups = groups_of(shape);
        for (int round = 0; round < 3; ++round) {
            LeafSequence sequence = groups.submitted;
            if (round > 0) std::shuffle(sequence.begin(), sequence.end(), random);
            for (const GroupLevel& level : groups.levels) {
                const long long expected = load_by_definition(level, sequence);
                EXPECT_EQ(worst_shift_load(level, sequence), expected) << to_text(shape);
                EXPECT_LE(least_shift_load(level, sequence.size()), expected) << to_text(shape);
            }
        }
    }
}

TEST(ShiftLoad, LowerBoundsWorkedOutByHand) {
    EXPECT_EQ(least_shift_load(4, 8), 3);    // 16 / 7
    EXPECT_EQ(least_shift_load(11, 23), 6);  // 132 / 22, a difference set
    EXPECT_EQ(least_shift_load(2, 100), 2);  // two hosts share one distance and no other
    EXPECT_EQ(least_shift_load(8, 8), 0);
    EXPECT_EQ(least_shift_load(1, 1), 0);
}

TEST(Spread, ReachesTheBoundWhereThereIsADifferenceSetAndComesNearItElsewhere) {
    const struct {
        Shape shape;
        long long most;  // measured
    } cases[] = {
        {{{11, 12}}, 6},                                            // the squares modulo 23
        {{{51, 52}}, 26},                                           // and modulo 103
        {{{4, 4}}, 3},          {{{16, 16}}, 9}, {{{32, 32}}, 18},  // bound 17
        {{{500, 500}}, 262},                                        // bound 251
        {{{2000, 2000}}, 1040},                                     // bound 1001, too large for swaps
    };
    for (const auto& each : cases) {
        const FabricGroups groups = groups_of(each.shape);
        EXPECT_LE(worst_shift_load(groups.leaf_level(), spread(groups)), each.most) << to_text(each.shape);
    }
}

// d0 has a host; each d(i+1) has d(i) and a leaf e(i) with a host: as many levels as hosts.
Built chain(int depth) {
    Built built;
    topology::FabricBuilder builder;
    builder.add_switch("d0", {"h0"}, {}, {});
    Hosts hosts{"h0"};
    for (int i = 0; i < depth; ++i) {
        const std::string number = std::to_string(i), host = "h" + std::to_string(i + 1);
        builder.add_switch("e" + number, {host}, {}, {});
        builder.add_switch("d" + std::to_string(i + 1), {}, {"d" + number, "e" + number}, {});
        hosts.push_back(host);
    }
    Diagnostics diagnostics;
    built.fabric = std::move(builder).build(diagnostics);
    built.leaves.push_back(std::move(hosts));
    return built;
}

// By the definition: sorted by the group on the top level, then on the next one.
TEST(Walk, IsByGroupFromTheTopDown) {
    std::vector<Built> all{chain(5), chain(12)};
    for (const Shape& shape : {Shape{{5, 4, 3}}, Shape{{6, 6}, {3, 3, 3}}, Shape{{2, 2}, {2, 2}, {1, 7}}}) all.push_back(build(shape));
    {
        // A forest with hosts on inner switches.
        topology::FabricBuilder builder;
        builder.add_switch("r", {"a"}, {"s", "t"}, {});
        builder.add_switch("s", {"b", "c"}, {"u"}, {});
        builder.add_switch("t", {"d"}, {}, {});
        builder.add_switch("u", {"e", "f"}, {}, {});
        builder.add_switch("other", {"g", "h"}, {}, {});
        Diagnostics diagnostics;
        Built& built = all.emplace_back();
        built.fabric = std::move(builder).build(diagnostics);
        built.leaves.push_back({"a", "b", "c", "d", "e", "f", "g", "h"});
    }
    for (const Built& built : all)
        for (unsigned seed = 0; seed < 20; ++seed) {
            const FabricGroups groups = fabric_groups(built.fabric, shuffled(built, seed));
            ASSERT_EQ(groups.levels_left_out, 0u);
            std::vector<Leaf> expected(groups.leaves.size());
            std::iota(expected.begin(), expected.end(), Leaf{0});
            for (auto level = groups.levels.rbegin(); level != groups.levels.rend(); ++level)
                std::stable_sort(expected.begin(), expected.end(), [&](Leaf a, Leaf b) { return level->of_leaf[a] < level->of_leaf[b]; });
            EXPECT_EQ(groups.walk, expected);
        }
}

// A tree with thousands of levels: only so many are looked at, yet the walk keeps every subtree together.
TEST(FabricGroups, VeryDeepTreesAreBounded) {
    const Built built = chain(3000);
    const Hosts hosts = shuffled(built, 1);
    const FabricGroups groups = fabric_groups(built.fabric, hosts);
    ASSERT_EQ(groups.levels.size(), FabricGroups::most_levels);
    EXPECT_EQ(groups.levels_left_out, 3000 - FabricGroups::most_levels);  // the 3001st is the root
    EXPECT_EQ(groups.leaf_level().name, "leaf");
    EXPECT_EQ(groups.levels.front().size.size(), 2u);
    const std::clock_t start = std::clock();
    for (const char* pattern : {"ring", "tree", "alltoall", "dp=3001"}) {
        const RankOrder order = rank_order(built.fabric, hosts, 1, *config::parse_order(pattern));
        EXPECT_EQ(order.levels.size(), FabricGroups::most_levels);
        EXPECT_LE(chosen(order), submitted(order));
        EXPECT_TRUE(std::any_of(order.reasons.begin(), order.reasons.end(),
                                [](const std::string& each) { return each.ends_with("; 2984 levels between them are not"); }));
        if (std::string_view(pattern) != "ring") continue;
        // Hosts h0 to h(i) are a subtree: entered once, and left once.
        std::vector<std::size_t> number;
        for (const std::string& host : order.hosts) number.push_back(std::stoul(host.substr(1)));
        for (std::size_t i = 0; i < 2999; i += 100) {
            int entered = 0;
            for (std::size_t at = 0; at < number.size(); ++at) entered += number[at] > i && number[(at + 1) % number.size()] <= i;
            EXPECT_EQ(entered, 1) << i;
        }
    }
    EXPECT_LT((std::clock() - start) / CLOCKS_PER_SEC, 20);  // seconds of the processor, with sanitizers; with all levels it takes minutes
}

TEST(SwapSearch, NeverWorsensAndLeavesTheFirstPosition) {
    std::mt19937 random(11);
    for (const Shape& shape : {Shape{{5, 4, 3}}, Shape{{6, 6}, {3, 3, 3}}, Shape{{2, 2}, {2, 2}, {1, 7}}, Shape{{90, 70, 40}}}) {
        const FabricGroups groups = groups_of(shape);
        const auto n = static_cast<unsigned>(groups.hosts());
        for (int round = 0; round < 10; ++round) {
            std::vector<WeightedPair> pairs;
            const auto below = [&](unsigned count) { return static_cast<Position>(random() % count); };
            for (unsigned i = 0; i < 3 * n; ++i) pairs.push_back({below(n), below(n), 1 + below(9)});
            const PositionGraph graph(n, pairs);
            LeafSequence start = groups.submitted;
            std::shuffle(start.begin() + 1, start.end(), random);
            const Cost before = cut(groups, graph, start);
            for (long long swaps : {1, 50, 5000}) {
                const LeafSequence found = swap_search(groups, graph, start, swaps),
                                   by_level = swap_search_by_level(groups, graph, start, swaps);
                EXPECT_LE(cut(groups, graph, found), before) << to_text(shape);
                for (const LeafSequence& each : {found, by_level}) {
                    EXPECT_EQ(each.front(), 0u);
                    EXPECT_TRUE(std::is_permutation(each.begin(), each.end(), start.begin(), start.end())) << to_text(shape);
                }
            }
        }
    }
}

TEST(PositionGraph, AddsUpEqualPairsAndForgetsLoops) {
    const WeightedPair pairs[] = {{0, 1, 2}, {1, 0, 3}, {2, 2, 9}, {0, 2, 1}};
    const PositionGraph graph(4, pairs);
    ASSERT_EQ(graph.edges(0).size(), 2u);
    EXPECT_EQ(graph.edges(0)[0].to, 1u);
    EXPECT_EQ(graph.edges(0)[0].weight, 5);
    EXPECT_EQ(graph.edges(2).size(), 1u);
    EXPECT_TRUE(graph.edges(3).empty());
}

// Whatever a pattern proposes has every leaf as often as it has hosts, and the first host's in front.
TEST(Traffic, CandidatesAreOrdersOfTheHosts) {
    const std::vector<Shape> shapes{{{1, 1, 1}},         {{4, 4}}, {{13, 7, 5, 5}}, {{20, 20, 20}, {20, 20, 20}}, {{9, 1}, {30}, {7, 7, 6}},
                                    {{64, 64}, {64, 64}}};
    for (const Shape& shape : shapes) {
        const Built built = build(shape);
        const FabricGroups groups = fabric_groups(built.fabric, shuffled(built, 2));
        const std::string hosts = std::to_string(groups.hosts());
        for (const std::string& text : {std::string("ring"), std::string("tree"), std::string("alltoall"), "tp=4,dp=" + hosts,
                                        "a=" + hosts + ",b=4", "a=2,b=" + hosts + ",c=2"}) {
            const config::Order order = *config::parse_order(text);
            const auto traffic = order.pattern == config::Order::Pattern::ring       ? ring_traffic(groups)
                                 : order.pattern == config::Order::Pattern::tree     ? tree_traffic(groups)
                                 : order.pattern == config::Order::Pattern::alltoall ? alltoall_traffic(groups, 4)
                                                                                     : grid_traffic(groups, 4, order);
            const auto candidates = traffic->candidates();
            EXPECT_FALSE(candidates.empty());
            for (const Candidate& each : candidates) {
                ASSERT_EQ(each.sequence.size(), groups.hosts()) << text << ": " << each.what;
                EXPECT_EQ(each.sequence.front(), 0u) << text << ": " << each.what;
                EXPECT_TRUE(std::is_permutation(each.sequence.begin(), each.sequence.end(), groups.submitted.begin()))
                    << text << ": " << each.what;
                for (std::size_t i = 0; i < groups.levels.size(); ++i)
                    EXPECT_GE(traffic->cost(each.sequence)[i], traffic->lower_bound()[i]) << text << ": " << each.what;
            }
        }
    }
}

}  // namespace
}  // namespace paced::placement
