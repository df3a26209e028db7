// SPDX-License-Identifier: BSD-3-Clause
// Our orders beside Scotch's mapping (F. Pellegrini), a general tool for the same kind of problem: a graph over positions is
// mapped onto the leaves. Scotch may overfill a leaf, which an order cannot; what it then saves is left to it.
#include <gtest/gtest.h>

#include "tests/unit/placement/small_fabrics.h"

#ifdef PACED_FABRIC_HAVE_SCOTCH
#include <cstdlib>
#include <cstdint>
#include <cstdio>

#include <scotch.h>

#include <iostream>

#include "policy/placement/order/double_tree.h"
#include "policy/placement/order/grid_shape.h"
#include "policy/placement/order/position_graph.h"
#endif

namespace paced::placement {
namespace {

using namespace test;

#ifdef PACED_FABRIC_HAVE_SCOTCH

struct Mapped {
    long long cut = 0;        // between leaves
    long long spine_cut = 0;  // between spines
    long long overfull = 0;   // hosts too many, over all leaves
};

// The leaves of a shape are numbered as built; spines must have as many leaves each, of as many hosts, if there are several.
Mapped scotch(const PositionGraph& graph, const Shape& shape) {
    const auto n = static_cast<SCOTCH_Num>(graph.positions());
    std::vector<SCOTCH_Num> begin{0}, ends, weights, leaf_sizes;
    for (Position i = 0; i < graph.positions(); ++i) {
        for (const auto& edge : graph.edges(i)) {
            ends.push_back(static_cast<SCOTCH_Num>(edge.to));
            weights.push_back(static_cast<SCOTCH_Num>(edge.weight));
        }
        begin.push_back(static_cast<SCOTCH_Num>(ends.size()));
    }
    for (const auto& spine : shape)
        for (int leaf : spine) leaf_sizes.push_back(leaf);

    SCOTCH_randomSeed(1);
    SCOTCH_randomReset();
    SCOTCH_Graph scotch_graph;
    SCOTCH_Arch arch;
    SCOTCH_Strat strategy;
    SCOTCH_graphInit(&scotch_graph);
    SCOTCH_archInit(&arch);
    SCOTCH_stratInit(&strategy);
    EXPECT_EQ(SCOTCH_graphBuild(&scotch_graph, 0, n, begin.data(), nullptr, nullptr, nullptr, static_cast<SCOTCH_Num>(ends.size()),
                                ends.data(), weights.data()),
              0);
    if (shape.size() == 1) {
        EXPECT_EQ(SCOTCH_archCmpltw(&arch, static_cast<SCOTCH_Num>(leaf_sizes.size()), leaf_sizes.data()), 0);
    } else {
        const SCOTCH_Num sizes[] = {static_cast<SCOTCH_Num>(shape.size()), static_cast<SCOTCH_Num>(shape[0].size())}, links[] = {100, 1};
        EXPECT_EQ(SCOTCH_archTleaf(&arch, 2, sizes, links), 0);
    }
    EXPECT_EQ(
        SCOTCH_stratGraphMapBuild(&strategy, SCOTCH_STRATQUALITY | SCOTCH_STRATBALANCE, static_cast<SCOTCH_Num>(leaf_sizes.size()), 0.0),
        0);
    std::vector<SCOTCH_Num> leaf(graph.positions());
    EXPECT_EQ(SCOTCH_graphMap(&scotch_graph, &arch, &strategy, leaf.data()), 0);
    SCOTCH_stratExit(&strategy);
    SCOTCH_archExit(&arch);
    SCOTCH_graphExit(&scotch_graph);

    Mapped mapped;
    const auto spine_of = [&](SCOTCH_Num each) { return each / static_cast<SCOTCH_Num>(shape[0].size()); };
    for (Position i = 0; i < graph.positions(); ++i) {
        --leaf_sizes[static_cast<std::size_t>(leaf[i])];
        for (const auto& edge : graph.edges(i)) {
            if (edge.to < i || leaf[i] == leaf[edge.to]) continue;
            mapped.cut += edge.weight;
            if (shape.size() > 1 && spine_of(leaf[i]) != spine_of(leaf[edge.to])) mapped.spine_cut += edge.weight;
        }
    }
    for (SCOTCH_Num left : leaf_sizes) mapped.overfull += std::max<SCOTCH_Num>(0, -left);
    return mapped;
}

PositionGraph ring_graph(std::size_t hosts) {
    std::vector<WeightedPair> pairs;
    for (Position i = 0; i < hosts; ++i) pairs.push_back({i, static_cast<Position>((i + 1) % hosts), 1});
    return {hosts, pairs};
}

PositionGraph tree_graph(std::size_t hosts) {
    std::vector<WeightedPair> pairs;
    for (const auto& parent : double_binary_tree(hosts))
        for (Position i = 0; i < hosts; ++i) pairs.push_back({i, parent[i], 1});
    return {hosts, pairs};
}

// Scotch is no proof of anything, and its threads make it differ a little from run to run: 5 % are left to it.
void expect_as_good(const RankOrder& ours, const Mapped& theirs) {
    EXPECT_LE(100 * ours.levels.back().chosen, 105 * theirs.cut);
    if (ours.levels.size() == 1) return;
    EXPECT_LE(100 * ours.levels.front().chosen, 105 * theirs.spine_cut);
}

// Another number in PACED_FABRIC_SCOTCH_SEED sets other trees, with leaves of all sizes on every level, and other submitted
// orders: those that nobody has seen while the searches were made. docs/rank-order.md has what came of some.
constexpr unsigned usual_seed = 20240607;
unsigned seed() {
    const char* const text = std::getenv("PACED_FABRIC_SCOTCH_SEED");
    return text == nullptr ? usual_seed : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
}
unsigned submitted_order() { return seed() == usual_seed ? 1 : seed(); }

// 10 trees of one level with leaves of all sizes, 10 of two levels, from 12 to 2,000 hosts.
std::vector<Shape> trees() {
    std::vector<Shape> shapes;
    std::mt19937 random(seed());
    const bool usual = seed() == usual_seed;
    for (int leaves : {3, 4, 5, 8, 12, 16, 25, 40, 60, 100}) {
        std::vector<int> sizes;
        for (int i = 0; i < leaves; ++i) sizes.push_back(2 + static_cast<int>(random() % (leaves < 50 ? 30 : 19)));
        shapes.push_back({sizes});
    }
    const int regular[][3] = {{2, 2, 3},  {2, 3, 4},   {2, 4, 8},  {3, 4, 10},   {4, 4, 16},
                              {4, 8, 16}, {5, 10, 18}, {8, 8, 16}, {10, 10, 18}, {10, 10, 20}};
    for (const auto& [spines, leaves, hosts] : regular) {
        Shape& shape = shapes.emplace_back(static_cast<std::size_t>(spines), std::vector<int>(static_cast<std::size_t>(leaves), hosts));
        if (usual) continue;
        for (auto& spine : shape)
            for (int& size : spine) size = 1 + static_cast<int>(random() % static_cast<unsigned>(hosts));
    }
    return shapes;
}

std::string name_of(const Shape& shape) {
    std::size_t leaves = 0, hosts = 0;
    for (const auto& spine : shape) {
        leaves += spine.size();
        hosts += static_cast<std::size_t>(std::accumulate(spine.begin(), spine.end(), 0));
    }
    return std::to_string(hosts) + " hosts, " + std::to_string(leaves) + " leaves, " + std::to_string(shape.size()) +
           (shape.size() == 1 ? " root" : " spines");
}

void print(const std::string& what, const RankOrder& ours, const Mapped& theirs) {
    std::cout << what << ": ours " << ours.levels.back().chosen << ", Scotch " << theirs.cut;
    if (theirs.overfull > 0) std::cout << " with " << theirs.overfull << " hosts too many on leaves";
    if (ours.levels.size() > 1) std::cout << "; between spines ours " << ours.levels.front().chosen << ", Scotch " << theirs.spine_cut;
    std::cout << "; bound " << ours.levels.back().lower_bound << ", submitted " << ours.levels.back().submitted << '\n';
}

TEST(OrderScotch, ARingIsNeverDearerThanScotchMapsIt) {
    const auto shapes = trees();
    ASSERT_EQ(shapes.size(), 20u);
    for (const Shape& shape : shapes) {
        const Built built = build(shape);
        const Hosts hosts = shuffled(built, submitted_order());
        const RankOrder ours = rank_order(built.fabric, hosts, 8, *config::parse_order("ring"));
        const Mapped theirs = scotch(ring_graph(hosts.size()), shape);
        print("ring, " + name_of(shape), ours, theirs);
        EXPECT_LE(ours.levels.back().chosen, theirs.cut);
        EXPECT_TRUE(ours.levels.size() == 1 || ours.levels.front().chosen <= theirs.spine_cut);
    }
}

TEST(OrderScotch, TreesAreAsGoodAsScotchMapsThem) {
    for (const Shape& shape : trees()) {
        const Built built = build(shape);
        const Hosts hosts = shuffled(built, submitted_order());
        const RankOrder ours = rank_order(built.fabric, hosts, 8, *config::parse_order("tree"));
        const Mapped theirs = scotch(tree_graph(hosts.size()), shape);
        print("tree, " + name_of(shape), ours, theirs);
        expect_as_good(ours, theirs);
    }
}

TEST(OrderScotch, GridsAreAsGoodAsScotchMapsThem) {
    const struct {
        const char* grid;
        int tasks;
        Shape shape;
    } cases[] = {
        {"tp=8,pp=4,dp=16", 8, {std::vector<int>(4, 16)}},
        {"tp=8,pp=8,dp=64", 8, {std::vector<int>(16, 32)}},
        {"tp=8,pp=10,dp=100", 8, {std::vector<int>(50, 20)}},
        {"tp=8,pp=8,dp=15", 8, {std::vector<int>{20, 17, 30, 13, 25, 15}}},
        {"tp=4,cp=2,pp=10,dp=50", 8, Shape(5, std::vector<int>(5, 20))},
        {"tp=16,pp=4,dp=32", 8, {std::vector<int>(8, 32)}},
        {"x=16:1,y=16:1", 1, {std::vector<int>(16, 16)}},
        {"x=16:1,y=16:1,z=32:1", 8, {std::vector<int>(64, 16)}},
        {"x=12:1,y=12:1,z=10:1", 1, {std::vector<int>(72, 20)}},
        {"x=16:1,y=16:1,z=4:1", 1, Shape(4, std::vector<int>(16, 16))},
        {"x=30:1,y=30:1", 1, {std::vector<int>(45, 20)}},
    };
    for (const auto& each : cases) {
        const Built built = build(each.shape);
        const Hosts hosts = shuffled(built, submitted_order());
        const config::Order order = *config::parse_order(each.grid);
        const RankOrder ours = rank_order(built.fabric, hosts, each.tasks, order);
        ASSERT_FALSE(ours.levels.empty()) << ours.reasons.front();
        const Mapped theirs = scotch(grid_graph(grid_axes(order), hosts.size(), each.tasks), each.shape);
        print(std::string(each.grid) + ", " + name_of(each.shape), ours, theirs);
        expect_as_good(ours, theirs);
    }
}

#else

TEST(OrderScotch, BesideScotch) {
    GTEST_SKIP() << "libscotch-dev is not there";
}

#endif

}  // namespace
}  // namespace paced::placement
