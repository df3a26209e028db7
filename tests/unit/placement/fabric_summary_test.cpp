// SPDX-License-Identifier: BSD-3-Clause
#include "policy/placement/fabric_summary.h"

#include <gtest/gtest.h>

#include "policy/base/text.h"

namespace paced::placement {
namespace {

using topology::FabricBuilder;
using topology::FabricTopology;

FabricTopology two_leaves() {
    FabricBuilder builder;
    builder.add_switch("leaf1", {"n1", "n2", "n3", "n4", "x"}, {}, {});
    builder.add_switch("leaf2", {"n5", "n6", "n7", "n8", "x"}, {}, {});
    builder.add_switch("spine", {}, {"leaf1", "leaf2"}, {});
    Diagnostics diagnostics;
    return std::move(builder).build(diagnostics);
}

TEST(FabricSummary, CrossingsOfTheClosedRing) {
    const FabricTopology fabric = two_leaves();
    const struct {
        const char* hosts;
        int crossings, fewest;
        const char* leaves;
    } cases[] = {
        {"", 0, 0, ""},
        {"n1", 0, 0, "leaf1:n1"},
        {"n1 n2 n3 n4", 0, 0, "leaf1:n1,n2,n3,n4"},
        {"n1 n5", 2, 2, "leaf1:n1 leaf2:n5"},
        {"n1 n2 n3 n4 n5 n6 n7 n8", 2, 2, "leaf1:n1,n2,n3,n4 leaf2:n5,n6,n7,n8"},
        {"n1 n5 n2 n6 n3 n7 n4 n8", 8, 2, "leaf1:n1,n2,n3,n4 leaf2:n5,n6,n7,n8"},
        {"n5 n1 n2 n6", 2, 2, "leaf2:n5,n6 leaf1:n1,n2"},
        {"n1 n1 n5 n5", 2, 2, "leaf1:n1 leaf2:n5"},  // two ranks a node
        {"n1 n5 n1 n5", 4, 2, "leaf1:n1 leaf2:n5"},  // cyclic ranks
    };
    for (const auto& each : cases) {
        std::vector<std::string> hosts, leaves;
        for (auto host : split(each.hosts, ' '))
            if (!host.empty()) hosts.emplace_back(host);
        const FabricSummary summary = fabric_summary(fabric, hosts);
        for (const LeafGroup& leaf : summary.leaves) leaves.push_back(leaf.name + ':' + join(leaf.hosts, ","));
        EXPECT_EQ(join(leaves, " "), each.leaves);
        EXPECT_EQ(summary.ring_crossings, each.crossings) << each.hosts;
        EXPECT_EQ(summary.fewest_crossings, each.fewest) << each.hosts;
        EXPECT_TRUE(summary.unknown.empty());
    }
}

TEST(FabricSummary, HostsWithoutALeafAreNamedAndCountForNothing) {
    const FabricTopology fabric = two_leaves();
    const std::vector<std::string> hosts{"n1", "new", "n5", "x", "new"};
    const FabricSummary summary = fabric_summary(fabric, hosts);
    EXPECT_EQ(summary.unknown, (std::vector<std::string>{"new", "x"}));
    EXPECT_EQ(summary.why_unknown, (std::vector<std::string>{"new is on no switch", "x is on several switches: leaf1, leaf2"}));
    EXPECT_EQ(summary.ring_crossings, 0);  // every step has an unknown end
    EXPECT_EQ(summary.fewest_crossings, 2);
}

}  // namespace
}  // namespace paced::placement
