// SPDX-License-Identifier: BSD-3-Clause
#include "policy/topology/fabric_topology.h"

#include <gtest/gtest.h>

#include "policy/base/text.h"

namespace paced::topology {
namespace {

struct Line {
    const char *name, *hosts, *children;
};

std::vector<std::string> words(const char* text) {
    std::vector<std::string> result;
    for (auto word : split(text, ' '))
        if (!word.empty()) result.emplace_back(word);
    return result;
}

FabricTopology build(const std::vector<Line>& lines, Diagnostics& diagnostics) {
    FabricBuilder builder;
    int line = 0;
    for (const Line& each : lines) builder.add_switch(each.name, words(each.hosts), words(each.children), {"t.conf", ++line, 12});
    return std::move(builder).build(diagnostics);
}

std::string path(const FabricTopology& fabric, std::string_view host) {
    const auto leaf = fabric.leaf_of(host);
    if (!leaf) return fabric.why_unknown(host);
    std::vector<std::string> names;
    for (SwitchIndex each : fabric.path_to(*leaf)) names.push_back(fabric.at(each).name);
    return join(names, ".");
}

TEST(FabricTopology, AnUnevenForest) {
    Diagnostics diagnostics;
    const auto fabric = build({{"root", "", "mid leaf3"},
                               {"leaf1", "n1 n2", ""},
                               {"mid", "n9", "leaf1 leaf2"},  // a host on an inner switch
                               {"leaf2", "n3", ""},
                               {"leaf3", "n4", ""},
                               {"alone", "n5", ""}},
                              diagnostics);
    EXPECT_EQ(format(diagnostics), "");
    EXPECT_EQ(path(fabric, "n2"), "root.mid.leaf1");
    EXPECT_EQ(path(fabric, "n4"), "root.leaf3");
    EXPECT_EQ(path(fabric, "n9"), "root.mid");
    EXPECT_EQ(path(fabric, "n5"), "alone");
    EXPECT_EQ(path(fabric, "n6"), "n6 is on no switch");
    EXPECT_EQ(fabric.levels(), 3);
    EXPECT_EQ(fabric.at(*fabric.find_switch("root")).level, 2);
    EXPECT_EQ(fabric.at(*fabric.find_switch("mid")).level, 1);
    EXPECT_EQ(fabric.at(*fabric.find_switch("leaf3")).level, 0);
    EXPECT_EQ(fabric.roots().size(), 2u);
    EXPECT_EQ(fabric.host_count(), 6u);
    EXPECT_FALSE(fabric.find_switch("nowhere"));
}

TEST(FabricTopology, Empty) {
    Diagnostics diagnostics;
    const auto fabric = build({}, diagnostics);
    EXPECT_TRUE(diagnostics.empty());
    EXPECT_EQ(fabric.levels(), 0);
    EXPECT_FALSE(fabric.leaf_of("n1"));
}

TEST(FabricTopology, DoubledHostsHaveNoLeaf) {
    Diagnostics diagnostics;
    const auto fabric = build({{"s1", "n1 n2 n3", ""}, {"s2", "n2 n3 n4 n4", ""}, {"s3", "n3", ""}}, diagnostics);
    EXPECT_EQ(format(diagnostics),
              "t.conf:2:12: warning: n2 is on several switches: s1, s2\n"
              "    hint: where they really are cannot be known from this, so jobs with them keep their order\n"
              "t.conf:2:12: warning: n3 is on several switches: s1, s2, s3\n"
              "    hint: where they really are cannot be known from this, so jobs with them keep their order\n");
    EXPECT_FALSE(diagnostics.has_errors());
    EXPECT_EQ(path(fabric, "n1"), "s1");
    EXPECT_EQ(path(fabric, "n4"), "s2");  // twice on the same switch is no contradiction
    EXPECT_EQ(path(fabric, "n2"), "n2 is on several switches: s1, s2");
    EXPECT_EQ(fabric.at(*fabric.find_switch("s1")).hosts, words("n1"));
    EXPECT_EQ(fabric.at(*fabric.find_switch("s2")).hosts, words("n4"));
    EXPECT_TRUE(fabric.at(*fabric.find_switch("s3")).hosts.empty());
}

TEST(FabricTopology, LinksNamedFromBothEnds) {
    Diagnostics diagnostics;
    const auto fabric = build({{"core", "", "mid1 mid2"},
                               {"mid1", "", "leaf1 leaf2 core"},
                               {"leaf1", "n1", ""},
                               {"leaf2", "n2", "mid1"},
                               {"mid2", "", "core leaf3"},
                               {"leaf3", "n3", ""}},
                              diagnostics);
    EXPECT_EQ(format(diagnostics),
              "t.conf:1:12: warning: switches name each other as below them, as sharp_cmd writes links\n"
              "    hint: of two such switches, the one nearer to the hosts is taken to be below\n");
    EXPECT_EQ(path(fabric, "n1"), "core.mid1.leaf1");
    EXPECT_EQ(path(fabric, "n2"), "core.mid1.leaf2");
    EXPECT_EQ(path(fabric, "n3"), "core.mid2.leaf3");
}

TEST(FabricTopology, ShortNamesStandForFullOnes) {
    Diagnostics diagnostics;
    const auto fabric = build({{"s1", "n1.cluster n2.a n2.b n3 n3.x n7.a 10.0.0.1", ""}, {"s2", "n4 n5.a n6.a", ""}, {"s3", "n6.a", ""}}, diagnostics);
    EXPECT_EQ(path(fabric, "n1"), "s1");
    EXPECT_EQ(path(fabric, "n1.cluster"), "s1");
    EXPECT_EQ(path(fabric, "n1.elsewhere"), "s1");
    EXPECT_EQ(path(fabric, "n4.cluster"), "s2");
    EXPECT_EQ(path(fabric, "n2"), "n2 may be n2.a or n2.b");
    EXPECT_EQ(path(fabric, "n3"), "s1");  // as it stands
    EXPECT_EQ(path(fabric, "n3.y"), "n3.y may be n3 or n3.x");
    EXPECT_EQ(path(fabric, "n6"), "n6.a is on several switches: s2, s3");
    EXPECT_EQ(path(fabric, "n7"), "s1");
    EXPECT_EQ(path(fabric, "n8.a"), "n8.a is on no switch");
    EXPECT_EQ(path(fabric, "10"), "10 is on no switch");  // an address has no short form
    EXPECT_EQ(path(fabric, "10.0.0.2"), "10.0.0.2 is on no switch");
}

TEST(FabricTopology, RailsAreOneWarning) {
    Diagnostics diagnostics;
    build({{"rail1", "n1 n2 n3", ""}, {"rail2", "n1 n2 n3", ""}}, diagnostics);
    ASSERT_EQ(diagnostics.entries().size(), 1u);
    EXPECT_EQ(diagnostics.entries()[0].message, "n[1-3] are on several switches: rail1, rail2");
}

TEST(FabricTopology, Mistakes) {
    const struct {
        std::vector<Line> lines;
        const char* text;
    } cases[] = {
        {{{"root", "", "leaf1 laef2"}, {"leaf1", "n1", ""}, {"leaf2", "n2", ""}},
         "t.conf:1:12: error: switch 'root' names 'laef2', which is not defined\n    hint: did you mean 'leaf2'?\n"},
        {{{"s1", "n1", ""}, {"s1", "n2", ""}},
         "t.conf:2:12: error: switch 's1' is defined twice\n    hint: the first definition is at t.conf:1:12\n"},
        {{{"a", "", "b"}, {"b", "", "c"}, {"c", "", "a"}}, "t.conf:3:12: error: switch 'c' and switch 'a' are each above the other\n"
         "    hint: a switch names those below it: take 'a' out of the list of 'c', or break the circle elsewhere\n"},
        {{{"a", "", "b"}, {"b", "", "a"}}, "t.conf:2:12: error: switch 'b' and switch 'a' are each above the other\n"
         "    hint: a switch names those below it: take 'a' out of the list of 'b', or break the circle elsewhere\n"},
        {{{"a", "", "a"}}, "t.conf:1:12: error: switch 'a' names itself as below it\n"
         "    hint: a switch names those below it: take 'a' out of its own list\n"},
        {{{"a", "", "l"}, {"b", "", "l"}, {"l", "n1", ""}},
         "t.conf:2:12: warning: switch 'l' hangs on both 'a' and 'b'; the second link is left out\n"},
    };
    for (const auto& each : cases) {
        Diagnostics diagnostics;
        build(each.lines, diagnostics);
        EXPECT_EQ(format(diagnostics), each.text);
    }
}

TEST(FabricTopology, LevelNames) {
    EXPECT_EQ(level_name(FabricKind::tree, 0), "leaf");
    EXPECT_EQ(level_name(FabricKind::tree, 2), "core");
    EXPECT_EQ(level_name(FabricKind::tree, 3), "level 3");
    EXPECT_EQ(level_name(FabricKind::blocks, 0), "block");
}

}  // namespace
}  // namespace paced::topology
