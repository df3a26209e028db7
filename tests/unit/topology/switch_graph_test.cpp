// SPDX-License-Identifier: BSD-3-Clause
#include "policy/topology/switch_graph.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "tests/doubles/fabric_text.h"

namespace paced::topology {
namespace {

// "n1@leaf1,leaf2 leaf1-spine1": hosts on their leaves, links between switches.
SwitchGraph graph_of(std::string_view text) {
    SwitchGraph graph;
    std::map<std::string, SwitchGraph::Index, std::less<>> known;
    const auto index_of = [&](std::string_view name) {
        const auto [found, is_new] = known.try_emplace(std::string(name), static_cast<SwitchGraph::Index>(known.size()));
        if (is_new) graph.switches.push_back({std::string(name), "id-" + std::string(name)});
        return found->second;
    };
    for (std::string_view word : split(text, ' ')) {
        if (const auto at = word.find('@'); at != std::string_view::npos) {
            graph.hosts.push_back({std::string(word.substr(0, at)), {}});
            if (at + 1 == word.size()) continue;
            for (std::string_view leaf : split(word.substr(at + 1), ',')) graph.hosts.back().leaves.push_back(index_of(leaf));
        } else if (const auto dash = word.find('-'); dash != std::string_view::npos) {
            const auto a = index_of(word.substr(0, dash)), b = index_of(word.substr(dash + 1));
            graph.links.emplace_back(a, b);
        } else if (!word.empty()) {
            index_of(word);
        }
    }
    return graph;
}

std::string fabric_text(std::string_view text, std::string* told = nullptr) {
    Diagnostics diagnostics;
    const std::string result = test::text_of(fabric_of(graph_of(text), "g", diagnostics));
    if (told != nullptr) *told = format(diagnostics);
    else EXPECT_EQ(format(diagnostics), "") << text;
    return result;
}

TEST(SwitchGraph, HostsAreGroupedByHowFarApartTheyAre) {
    const struct {
        const char *graph, *fabric;
    } cases[] = {
        {"", ""},
        {"n1@a n2@a", "a:n[1-2]"},
        {"n1@a n2@b", "a:n1 b:n2"},                                   // no way from one to the other
        {"n1@a n2@b a-b", "a (2 switches)(a:n1 b:n2)"},                // leaves side by side
        {"n1@a n2@b a-s b-s", "s(a:n1 b:n2)"},
        {"n1@a n2@b a-s b-s a-t b-t a-t", "s (2 switches)(a:n1 b:n2)"},  // several spines, parallel links
        // three levels, the order of links and their direction do not matter
        {"n1@a n2@b n3@c n4@d s-a b-s c-t t-d x-s x-t y-t y-s", "x (2 switches)(s(a:n1 b:n2) t(c:n3 d:n4))"},
        // a core over one pod that has no sibling joins nothing: it is left out
        {"n1@a n2@b a-s b-s s-x", "s(a:n1 b:n2)"},
        // a pod of one leaf has its spine nevertheless
        {"n1@a n2@b n3@c a-s b-s s-x c-t t-x", "x(s(a:n1 b:n2) t(c:n3))"},
        // spines side by side
        {"n1@a n2@b n3@c a-s b-s s-t c-t", "s (2 switches)(a:n1 b:n2 c:n3)"},
        // a management switch beside the leaves has no hosts and joins nobody
        {"n1@a n2@b a-m m", "a:n1 b:n2"},
    };
    for (const auto& each : cases) EXPECT_EQ(fabric_text(each.graph), each.fabric) << each.graph;
}

TEST(SwitchGraph, RailsAreKept) {
    Diagnostics diagnostics;
    // Two pods of two host groups with two rails; the rails meet in the cores alone.
    const auto fabric = fabric_of(graph_of("n1@a1,a2 n2@a2,a1 n3@b1,b2 n4@c1,c2 n5@d1,d2 "
                                           "a1-p1 b1-p1 a2-p2 b2-p2 c1-q1 d1-q1 c2-q2 d2-q2 p1-x p2-x q1-x q2-x"),
                                  "g", diagnostics);
    EXPECT_EQ(format(diagnostics), "");
    EXPECT_EQ(fabric.rails, 2);
    EXPECT_EQ(test::text_of(fabric),
              "x(p1 (2 switches)(a1 (2 rails):n[1-2] b1 (2 rails):n3) q1 (2 switches)(c1 (2 rails):n4 d1 (2 rails):n5))");
    EXPECT_EQ(fabric.levels(), 3);
}

TEST(SwitchGraph, RailsThatNeverMeet) {
    EXPECT_EQ(fabric_text("n1@a1,a2 n2@b1,b2 a1-p1 b1-p1 a2-p2 b2-p2"), "p1 (2 switches)(a1 (2 rails):n1 b1 (2 rails):n2)");
}

TEST(SwitchGraph, AHostWithFewerRailsStaysWithItsNeighbours) {
    std::string told;
    EXPECT_EQ(fabric_text("n1@a1,a2 n2@a1,a2 n3@a2 n4@b1,b2 n5@ a1-p1 b1-p1 a2-p2 b2-p2", &told),
              "p1 (2 switches)(a1 (2 rails):n[1-3] b1 (2 rails):n4)");
    EXPECT_EQ(told, "g: warning: 1 host of 4 has fewer than 2 rails: n3\ng: warning: 1 host has no link to a switch: n5\n");
}

TEST(SwitchGraph, AHostOnTwoPodsDoesNotMakeThemOne) {
    std::string told;
    // st has a rail in each pod; gw has more rails than usual
    EXPECT_EQ(fabric_text("n1@a1,a2 n2@a1,a2 n3@b1,b2 n4@b1,b2 n5@c1,c2 st@a1,c1 gw@a1,a2,b1,b2,c1,c2 "
                          "a1-p1 b1-p1 a2-p2 b2-p2 c1-q1 c2-q2 p1-x p2-x q1-x q2-x",
                          &told),
              "x(p1 (2 switches)(a1 (2 rails):n[1-2] b1 (2 rails):n[3-4]) q1 (2 switches)(c1 (2 rails):n5) "
              "p1 id-p1 (2 switches)(a1 id-a1 (2 rails):st) p1 (4 switches)(a1 (6 rails):gw))");
    EXPECT_EQ(told, "");
}

TEST(SwitchGraph, AManagerOnASpineDoesNotMakeItALeaf) {
    std::string hosts;
    for (const char* leaf : {"a", "b", "c", "d"})
        for (int i = 0; i < 8; ++i) hosts += std::string(leaf) + std::to_string(i) + '@' + leaf + ' ';
    const std::string two = "a-s b-s c-t d-t s-x t-x ";
    EXPECT_EQ(fabric_text(hosts + two), "x(s(a:a[0-7] b:b[0-7]) t(c:c[0-7] d:d[0-7]))");
    EXPECT_EQ(fabric_text(hosts + two + "ufm@x"), "x id-x(s(a:a[0-7] b:b[0-7]) t(c:c[0-7] d:d[0-7]) x:ufm)");
    const auto graph = graph_of(hosts + two + "ufm@x ufm2@s lone@e e-t");
    const auto height = heights(graph);
    std::map<std::string, int> by_name;
    for (std::size_t i = 0; i < height.size(); ++i) by_name[graph.switches[i].name] = height[i];
    EXPECT_EQ(by_name, (std::map<std::string, int>{{"a", 0}, {"b", 0}, {"c", 0}, {"d", 0}, {"e", 0}, {"s", 1}, {"t", 1}, {"x", 2}}));
}

TEST(SwitchGraph, SwitchesOfOneNameAreToldApart) {
    Diagnostics diagnostics;
    SwitchGraph graph = graph_of("n1@a n2@b");
    graph.switches[0].name = graph.switches[1].name = "Quantum";
    EXPECT_EQ(test::text_of(fabric_of(graph, "g", diagnostics)), "Quantum:n1 Quantum id-b:n2");
    EXPECT_EQ(format(diagnostics), "");
}

// Against the definition by brute force: two hosts of one rail meet on the lowest level on which a way leads from one
// leaf to the other that climbs no higher.
TEST(SwitchGraph, MeetsTheDefinitionOnRandomGraphs) {
    std::mt19937 random(20240601);
    for (int round = 0; round < 300; ++round) {
        SwitchGraph graph;
        const auto pick = [&](std::size_t below) { return static_cast<SwitchGraph::Index>(random() % below); };
        const std::size_t leaves = 2 + pick(5), switches = leaves + pick(6);
        for (std::size_t i = 0; i < switches; ++i) graph.switches.push_back({"s" + std::to_string(i), std::to_string(i)});
        for (std::size_t i = 0; i < leaves; ++i) graph.hosts.push_back({"n" + std::to_string(i), {static_cast<SwitchGraph::Index>(i)}});
        for (std::size_t i = 0, links = pick(2 * switches + 1); i < links; ++i) {
            const auto a = pick(switches), b = pick(switches);
            if (a != b) graph.links.emplace_back(a, b);
        }
        const std::vector<int> height = heights(graph);
        // widest[a][b]: the least height that a way between them must climb to
        constexpr int never = 1000;
        std::vector<std::vector<int>> climb(switches, std::vector<int>(switches, never));
        for (std::size_t i = 0; i < switches; ++i) climb[i][i] = height[i] < 0 ? never : height[i];
        for (const auto& [a, b] : graph.links)
            if (height[a] >= 0) climb[a][b] = climb[b][a] = std::max(height[a], height[b]);
        for (std::size_t k = 0; k < switches; ++k)
            for (std::size_t i = 0; i < switches; ++i)
                for (std::size_t j = 0; j < switches; ++j) climb[i][j] = std::min(climb[i][j], std::max(climb[i][k], climb[k][j]));

        Diagnostics diagnostics;
        const FabricTopology fabric = fabric_of(graph, "g", diagnostics);
        const auto meet = [&](std::size_t i, std::size_t j) {  // steps below the common switch; never: none
            const auto a = fabric.path_to(*fabric.leaf_of(graph.hosts[i].name)), b = fabric.path_to(*fabric.leaf_of(graph.hosts[j].name));
            return a.front() != b.front() ? never : fabric.at(*std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first).level + 1;
        };
        // The order of distances is the same; levels that join nothing are left out.
        for (std::size_t i = 0; i < leaves; ++i)
            for (std::size_t j = 0; j < leaves; ++j)
                for (std::size_t k = 0; k < leaves; ++k) {
                    if (i == j || i == k || j == k) continue;
                    const bool nearer = climb[i][j] < climb[i][k];
                    if (nearer) {
                        EXPECT_LT(meet(i, j), meet(i, k)) << round;
                    }
                    EXPECT_EQ(meet(i, j) == never, climb[i][j] == never) << round;
                }
    }
}

TEST(SwitchGraph, TheOrderOfTheInputChangesNothing) {
    const SwitchGraph graph = graph_of("n1@a1,a2 n2@a2,a1 n3@b1,b2 n4@c1,c2 n5@d1,d2 n6@d1 "
                                       "a1-p1 b1-p1 a2-p2 b2-p2 c1-q1 d1-q1 c2-q2 d2-q2 p1-x p2-x q1-x q2-x");
    const auto path_of = [](const FabricTopology& fabric, const std::string& host) {
        std::string text;
        for (SwitchIndex each : fabric.path_to(*fabric.leaf_of(host))) text += fabric.at(each).name + '/';
        return text;
    };
    Diagnostics diagnostics;
    const FabricTopology before = fabric_of(graph, "g", diagnostics);
    std::mt19937 random(7);
    for (int round = 0; round < 50; ++round) {
        std::vector<SwitchGraph::Index> place(graph.switches.size());
        std::iota(place.begin(), place.end(), SwitchGraph::Index{0});
        std::shuffle(place.begin(), place.end(), random);
        SwitchGraph other;
        other.switches.resize(graph.switches.size());
        for (std::size_t i = 0; i < place.size(); ++i) other.switches[place[i]] = graph.switches[i];
        for (auto host : graph.hosts) {
            for (auto& leaf : host.leaves) leaf = place[leaf];
            other.hosts.push_back(host);
        }
        std::shuffle(other.hosts.begin(), other.hosts.end(), random);
        for (const auto& [a, b] : graph.links) other.links.emplace_back(place[b], place[a]);
        std::shuffle(other.links.begin(), other.links.end(), random);
        const FabricTopology after = fabric_of(other, "g", diagnostics);
        for (const auto& host : graph.hosts) EXPECT_EQ(path_of(after, host.name), path_of(before, host.name));
    }
}

}  // namespace
}  // namespace paced::topology
