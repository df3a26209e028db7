// SPDX-License-Identifier: BSD-3-Clause
// Others' topology.conf files: what is in each, as far as a person or their SOURCES.md says.
#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "policy/io/topology_conf.h"
#include "policy/placement/fabric_summary.h"
#include "policy/topology/host_list.h"
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
};

// How GoogleTest names it.
void PrintTo(const Recorded& row, std::ostream* out) {
    *out << row.file;
}

const Recorded recorded[] = {
    {"azure-gb200-block.conf", FabricKind::blocks, 4, 4, 4, 72, 1, ""},
    {"azure-hpc-sharp-guid-tree.conf", FabricKind::tree, 49, 1, 40, 128, 3,
     "%:1:12: warning: switches name each other as below them, as sharp_cmd writes links\n"
     "    hint: of two such switches, the one nearer to the hosts is taken to be below\n"},
    {"azure-hpc-tree.conf", FabricKind::tree, 6, 1, 5, 16, 2, ""},
    {"block-8x.conf", FabricKind::blocks, 8, 8, 8, 32, 1, ""},
    {"lingjun-2023-derived-tree.conf", FabricKind::tree, 123, 1, 119, 847, 3, ""},
    {"site-rocks-chassis.conf", FabricKind::tree, 5, 1, 4, 13, 2, ""},
    {"site-superpod-80nodes-flat.conf", FabricKind::tree, 5, 5, 5, 78, 1,
     "%:1:36: warning: 'n[019-020]' lacks the prefix of 'dgx-n[001-016]' before it\n    hint: did you mean 'dgx-n[019-020]'?\n"
     "%:5:12: warning: dgx-n051 is on several switches: s2, s4\n"
     "    hint: where they really are cannot be known from this, so jobs with them keep their order\n"},
    {"tree-petascale-529sw.conf", FabricKind::tree, 529, 1, 500, 10000, 4, ""},
    {"tree-testcase3.conf", FabricKind::tree, 23, 1, 20, 400, 3, ""},
    {"tree-testcase4.conf", FabricKind::tree, 22, 2, 20, 400, 2, ""},
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
    const auto fabric = io::read_topology_conf(file->string(), diagnostics);
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
}

std::string test_name(const testing::TestParamInfo<Recorded>& info) {
    std::string name = info.param.file;
    std::replace_if(
        name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(TopologyConf, RecordedFabric, testing::ValuesIn(recorded), test_name);

TEST(RecordedFabrics, NoneIsForgotten) {
    const auto folder = test::others_data("slurm-topology");
    if (!folder) GTEST_SKIP() << "slurm-topology is not there";
    for (const auto& each : std::filesystem::directory_iterator(*folder)) {
        const std::string name = each.path().filename().string();
        if (!name.ends_with(".conf")) continue;
        EXPECT_TRUE(std::any_of(std::begin(recorded), std::end(recorded), [&](const Recorded& known) { return name == known.file; }))
            << name;
    }
}

TEST(RecordedFabrics, ARingOverTheWholePetascaleTree) {
    const auto file = test::others_data("slurm-topology/tree-petascale-529sw.conf");
    if (!file) GTEST_SKIP() << "slurm-topology/tree-petascale-529sw.conf is not there";
    Diagnostics diagnostics;
    const auto fabric = io::read_topology_conf(file->string(), diagnostics);
    ASSERT_TRUE(fabric);
    const auto summary = placement::fabric_summary(*fabric, topology::expand_hosts("peta[10000-19999]").hosts);
    EXPECT_EQ(summary.leaves.size(), 500u);
    EXPECT_EQ(summary.ring_crossings, 500);
    EXPECT_EQ(summary.fewest_crossings, 500);
    EXPECT_TRUE(summary.unknown.empty());
}

}  // namespace
}  // namespace paced
