// SPDX-License-Identifier: BSD-3-Clause
// Others' fabrics: every file is read, or refused with the right reason. The numbers come from counting by hand, from
// their SOURCES.md, and for the large ones from scripts that share nothing with our readers.
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "policy/io/fabric_file.h"
#include "policy/io/ibnetdiscover.h"
#include "policy/placement/fabric_summary.h"
#include "policy/topology/host_list.h"
#include "policy/topology/switch_graph.h"
#include "tests/doubles/fabric_text.h"
#include "tests/doubles/paths.h"

namespace paced {
namespace {

using topology::FabricKind;

struct Recorded {
    const char* file;
    FabricKind kind;
    std::size_t switches, roots, leaves, hosts;
    int levels;
    const char* warnings;  // %: the file's path
    int rails = 1;
};

// How GoogleTest names it.
void PrintTo(const Recorded& row, std::ostream* out) {
    *out << row.file;
}

const Recorded recorded[] = {
    {"azure-gb200-block.conf", FabricKind::blocks, 4, 4, 4, 72, 1, ""},
    {"azure-hpc-sharp-guid-tree.conf", FabricKind::tree, 49, 1, 40, 128, 3,
     "%:1:12: warning: switches name each other as below them, as sharp_cmd writes links\n"
     "    hint: of two such switches, the one nearer to the hosts is taken to be below\n"
     "%: warning: the nodes in this file are GUIDs of ports: no host's place is known\n"
     "    hint: sharp_cmd writes it so; replace each GUID by the name of its host\n"},
    {"azure-hpc-tree.conf", FabricKind::tree, 6, 1, 5, 16, 2, ""},
    {"block-8x.conf", FabricKind::blocks, 8, 8, 8, 32, 1, ""},
    {"ibnetdiscover/ports-format-edr.txt", FabricKind::tree, 2, 2, 2, 3, 1, ""},
    {"ibnetdiscover/small-mixed-fdr-hdr.txt", FabricKind::tree, 3, 1, 2, 5, 2, ""},
    // 25 sets of 8 leaves and 3 leaves of servers; 4 pods and a spine of its own for one of the latter; the cores
    {"ibnetdiscover/superpod-selene-compute.txt", FabricKind::tree, 34, 1, 28, 469, 3,
     "%: warning: 11 hosts of 469 have fewer than 8 rails: sp-swift-01, sp-cache-02, sp-slurm-02 and 8 others\n", 8},
    {"lingjun-2023-derived-tree.conf", FabricKind::tree, 123, 1, 119, 847, 3, ""},
    {"lingjun-2023-topo.csv", FabricKind::tree, 123, 1, 119, 847, 3, ""},
    {"multi-topology.yaml", FabricKind::tree, 3, 1, 2, 4, 2, ""},
    {"netq-computeNodes.json", FabricKind::blocks, 1, 1, 1, 2, 1, ""},
    {"netq-topologyGraph.json", FabricKind::tree, 3, 1, 2, 8, 2, ""},
    {"site-rocks-chassis.conf", FabricKind::tree, 5, 1, 4, 13, 2, ""},
    {"site-superpod-80nodes-flat.conf", FabricKind::tree, 5, 5, 5, 78, 1,
     "%:1:36: warning: 'n[019-020]' lacks the prefix of 'dgx-n[001-016]' before it\n    hint: did you mean 'dgx-n[019-020]'?\n"
     "%:5:12: warning: dgx-n051 is on several switches: s2, s4\n"
     "    hint: where they really are cannot be known from this, so jobs with them keep their order\n"},
    {"topograph-model-dual-xclr-regular.yaml", FabricKind::tree, 19, 1, 12, 96, 3, ""},
    {"topograph-model-large.yaml", FabricKind::tree, 19, 1, 12, 96, 3, ""},
    {"topograph-model-medium.yaml", FabricKind::tree, 7, 1, 4, 8, 3, ""},
    {"topograph-model-nvl72.yaml", FabricKind::tree, 7, 1, 4, 72, 3, ""},
    {"tree-petascale-529sw.conf", FabricKind::tree, 529, 1, 500, 10000, 4, ""},
    {"tree-testcase3.conf", FabricKind::tree, 23, 1, 20, 400, 3, ""},
    {"tree-testcase4.conf", FabricKind::tree, 22, 2, 20, 400, 2, ""},
};

const struct {
    const char *file, *words;
} refused[] = {
    {"azure-hpc-nodes_guids.txt",
     "%: error: a list of hosts and port GUIDs: it names no switch\n"
     "    hint: it goes with the topology that sharp_cmd writes; give a topology.conf made from both, or what ibnetdiscover prints\n"},
};

std::string with_path(std::string text, const std::string& path) {
    for (std::size_t at = 0; (at = text.find('%', at)) != std::string::npos; at += path.size()) text.replace(at, 1, path);
    return text;
}

class RecordedFabric : public testing::TestWithParam<Recorded> {};

TEST_P(RecordedFabric, IsRead) {
    const Recorded& expected = GetParam();
    const auto file = test::others_data(std::string("slurm-topology/") + expected.file);
    if (!file) GTEST_SKIP() << "slurm-topology/" << expected.file << " is not there";
    Diagnostics diagnostics;
    const auto fabric = io::read_fabric_file(file->string(), diagnostics);
    EXPECT_EQ(format(diagnostics), with_path(expected.warnings, file->string()));
    ASSERT_TRUE(fabric);
    const auto& switches = fabric->switches();
    const auto leaves = std::count_if(switches.begin(), switches.end(), [](const auto& each) { return each.level == 0; });
    EXPECT_EQ(fabric->kind, expected.kind);
    EXPECT_EQ(switches.size(), expected.switches);
    EXPECT_EQ(fabric->roots().size(), expected.roots);
    EXPECT_EQ(static_cast<std::size_t>(leaves), expected.leaves);
    EXPECT_EQ(fabric->host_count(), expected.hosts);
    EXPECT_EQ(fabric->levels(), expected.levels);
    EXPECT_EQ(fabric->rails, expected.rails);
    std::size_t placed = 0;
    for (const auto& each : switches) placed += each.hosts.size();
    EXPECT_EQ(placed, expected.hosts);
}

std::string test_name(const testing::TestParamInfo<Recorded>& info) {
    std::string name = info.param.file;
    std::replace_if(
        name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(Others, RecordedFabric, testing::ValuesIn(recorded), test_name);

TEST(RecordedFabrics, OthersAreRefusedByName) {
    for (const auto& each : refused) {
        const auto file = test::others_data(std::string("slurm-topology/") + each.file);
        if (!file) GTEST_SKIP() << "slurm-topology/" << each.file << " is not there";
        Diagnostics diagnostics;
        EXPECT_FALSE(io::read_fabric_file(file->string(), diagnostics));
        EXPECT_EQ(format(diagnostics), with_path(each.words, file->string()));
    }
}

TEST(RecordedFabrics, NoneIsForgotten) {
    const auto folder = test::others_data("slurm-topology");
    if (!folder) GTEST_SKIP() << "slurm-topology is not there";
    std::set<std::string> known{"SOURCES.md"};
    for (const auto& each : recorded) known.insert(each.file);
    for (const auto& each : refused) known.insert(each.file);
    for (const auto& each : std::filesystem::recursive_directory_iterator(*folder))
        if (each.is_regular_file()) {
            EXPECT_TRUE(known.contains(std::filesystem::relative(each.path(), *folder).string())) << each.path();
        }
}

TEST(RecordedFabrics, TheSuperpodIsRailOptimised) {
    const auto file = test::others_data("slurm-topology/ibnetdiscover/superpod-selene-compute.txt");
    if (!file) GTEST_SKIP() << "slurm-topology/ibnetdiscover/superpod-selene-compute.txt is not there";
    Diagnostics diagnostics;
    const auto graph = io::parse_ibnetdiscover(test::read_file(*file), "selene", diagnostics);
    ASSERT_TRUE(graph);
    // SOURCES.md: 666 switches (200 leaf, 320 spine, 140 core); the other six are for management.
    std::map<std::string, int> by_name;
    std::map<int, int> by_height;
    const std::vector<int> height = topology::heights(*graph);
    for (std::size_t i = 0; i < graph->switches.size(); ++i) {
        ++by_name[graph->switches[i].name.substr(0, graph->switches[i].name.find_first_of("0123456789"))];
        ++by_height[height[i]];
    }
    EXPECT_EQ(by_name, (std::map<std::string, int>{{"LG", 200}, {"CSPINE", 320}, {"CCORE", 140}, {"MLG", 4}, {"MSPINE", 2}}));
    EXPECT_EQ(by_height, (std::map<int, int>{{0, 203}, {1, 321}, {2, 140}, {3, 1}, {4, 1}}));

    const auto fabric = topology::fabric_of(*graph, "selene", diagnostics);
    std::map<std::size_t, int> leaves_of_size;
    for (const auto& each : fabric.switches())
        if (each.level == 0) ++leaves_of_size[each.hosts.size()];
    EXPECT_EQ(leaves_of_size,
              (std::map<std::size_t, int>{{2, 1}, {4, 1}, {5, 1}, {14, 1}, {15, 1}, {16, 1}, {17, 3}, {18, 4}, {19, 10}, {20, 5}}));
    std::map<std::string, std::size_t> hosts_of_pod;
    for (const auto& leaf : fabric.switches())
        if (leaf.level == 0) hosts_of_pod[fabric.at(*leaf.parent).name] += leaf.hosts.size();
    EXPECT_EQ(hosts_of_pod, (std::map<std::string, std::size_t>{{"CSPINE1-01 (80 switches)", 132 + 9},
                                                                {"CSPINE2-01 (80 switches)", 135},
                                                                {"CSPINE3-01 (80 switches)", 69},
                                                                {"CSPINE4-01 (80 switches)", 122},
                                                                {"MSPINE3-01", 2}}));
}

// The same hosts, once as their authors give them and once as a tree that was made from it: host i of the tree is the
// i-th name of the table in the order of the names.
TEST(RecordedFabrics, TheLingjunTableIsItsTree) {
    const auto table_file = test::others_data("slurm-topology/lingjun-2023-topo.csv");
    const auto tree_file = test::others_data("slurm-topology/lingjun-2023-derived-tree.conf");
    if (!table_file || !tree_file) GTEST_SKIP() << "slurm-topology/lingjun-2023-* is not there";
    Diagnostics diagnostics;
    const auto table = io::read_fabric_file(table_file->string(), diagnostics);
    const auto tree = io::read_fabric_file(tree_file->string(), diagnostics);
    ASSERT_TRUE(table && tree);
    std::set<std::string> names, numbers;
    for (const auto& each : table->switches()) names.insert(each.hosts.begin(), each.hosts.end());
    for (const auto& each : tree->switches()) numbers.insert(each.hosts.begin(), each.hosts.end());
    ASSERT_EQ(names.size(), numbers.size());
    const auto path_of = [](const topology::FabricTopology& fabric, const std::string& host) {
        std::vector<std::string> path;
        for (auto each : fabric.path_to(*fabric.leaf_of(host))) path.push_back(fabric.at(each).name);
        return path;
    };
    for (auto name = names.begin(), number = numbers.begin(); name != names.end(); ++name, ++number)
        EXPECT_EQ(path_of(*table, *name), path_of(*tree, *number)) << *name;
}

TEST(RecordedFabrics, EveryTopologyOfOneFile) {
    const auto file = test::others_data("slurm-topology/multi-topology.yaml");
    if (!file) GTEST_SKIP() << "slurm-topology/multi-topology.yaml is not there";
    Diagnostics diagnostics;
    const auto preset = io::read_fabric_file(file->string(), diagnostics);
    const auto blocks = io::read_fabric_file(file->string(), diagnostics, "topo2");
    ASSERT_TRUE(preset && blocks);
    EXPECT_EQ(preset->origin, file->string() + " (topology topo1, the cluster's default)");
    EXPECT_EQ(test::text_of(*preset), "sw_root(s1:node[01-02] s2:node[03-04])");
    EXPECT_EQ(blocks->origin, file->string() + " (topology topo2)");
    EXPECT_EQ(test::text_of(*blocks), "b1:node[01-04] b2:node[05-08] b3:node[09-12] b4:node[13-16]");
    EXPECT_EQ(format(diagnostics), "");
    const struct {
        const char *name, *reason;
    } others[] = {
        {"topo3", "it is flat: it says nothing of where nodes are"},
        {"topo3a", "it is flat: it says nothing of where nodes are"},
        {"topo4", "it is a ring: its nodes have neighbours, but no switches to stay under"},
        {"topo5", "it is a torus: its nodes have neighbours, but no switches to stay under"},
    };
    for (const auto& each : others) {
        Diagnostics own;
        EXPECT_FALSE(io::read_fabric_file(file->string(), own, each.name));
        ASSERT_EQ(own.entries().size(), 1u);
        EXPECT_EQ(own.entries()[0].message, std::string("topology '") + each.name + "' cannot be used: " + each.reason);
    }
}

TEST(RecordedFabrics, ARingOverTheWholePetascaleTree) {
    const auto file = test::others_data("slurm-topology/tree-petascale-529sw.conf");
    if (!file) GTEST_SKIP() << "slurm-topology/tree-petascale-529sw.conf is not there";
    Diagnostics diagnostics;
    const auto fabric = io::read_fabric_file(file->string(), diagnostics);
    ASSERT_TRUE(fabric);
    const auto summary = placement::fabric_summary(*fabric, topology::expand_hosts("peta[10000-19999]").hosts);
    EXPECT_EQ(summary.leaves.size(), 500u);
    EXPECT_EQ(summary.ring_crossings, 500);
    EXPECT_EQ(summary.fewest_crossings, 500);
    EXPECT_TRUE(summary.unknown.empty());
}

}  // namespace
}  // namespace paced
