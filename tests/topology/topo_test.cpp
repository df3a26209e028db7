// SPDX-License-Identifier: BSD-3-Clause
// What `paced topo` prints: golden files beside the machines in tests/data/topology; and for every recorded machine, that it
// fits a terminal.
#include "launcher/topo.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "policy/report/text_table.h"
#include "policy/base/text.h"
#include "policy/io/node_file.h"
#include "tests/doubles/golden.h"
#include "tests/doubles/paths.h"

namespace paced::launcher {
namespace {

using report::columns_of;
using report::line_width;
using report::TextTable;
using std::filesystem::path;

topology::NodeTopology read_node(const path& file) {
    Diagnostics diagnostics;
    auto node = io::read_node_file(file.string(), diagnostics);
    EXPECT_TRUE(node) << format(diagnostics);
    if (!node) return {};
    node->origin = "hwloc XML 2.0 " + file.filename().string();  // wherever the repository lies
    return *node;
}

std::vector<path> xml_files(const path& folder) {
    std::vector<path> files;
    for (const auto& each : std::filesystem::recursive_directory_iterator(folder))
        if (each.path().extension() == ".xml") files.push_back(each.path());
    std::sort(files.begin(), files.end());
    return files;
}

TEST(Topo, GoldenTexts) {
    const auto files = xml_files(test::data("topology"));
    EXPECT_GE(files.size(), 3u);
    for (const path& file : files) test::expect_golden(topo_text(read_node(file), true), path(file).replace_extension(".txt"));
}

TEST(Topo, GoldenJson) {
    const path file = test::data("topology/fake-uneven.xml");
    test::expect_golden(topo_json(read_node(file)), path(file).replace_extension(".json"));
}

TEST(Topo, EveryGoldenFileBelongsToAMachine) {
    for (const auto& each : std::filesystem::directory_iterator(test::data("topology")))
        EXPECT_TRUE(std::filesystem::exists(path(each.path()).replace_extension(".xml"))) << each.path();
}

TEST(Topo, FitsATerminal) {
    const auto folder = test::others_data("hwloc");
    if (!folder) GTEST_SKIP() << "hwloc is not there";
    for (const path& file : xml_files(*folder)) {
        if (file.string().find("needs-hwloc3") != std::string::npos) continue;
        const std::string text = topo_text(read_node(file), true);
        for (auto line : split(text, '\n')) EXPECT_LE(columns_of(line), line_width) << file << ": " << line;
    }
}

TEST(Topo, ANodeOfWhichNothingIsKnown) {
    EXPECT_EQ(
        topo_text({}, true),
        "node, from \n0 packages, 0 NUMA nodes, 0 cores, 0 CPUs, 0 GPUs, 0 NICs\n\n\nThis node has no GPUs.\n\nThis node has no NICs.\n");
}

TEST(TextTable, LeavesOutEmptyColumnsAndShortensTheWidest) {
    TextTable table({{"A", true, false}, {"Empty", false, false}, {"Text", false, true}, {"B", false, false}});
    table.add({"1", "", std::string(120, 'x'), "b"});
    table.add({"22", "", "é", "b"});
    EXPECT_EQ(table.text(),
              " A  Text" + std::string(89, ' ') + "  B\n 1  " + std::string(90, 'x') + "...  b\n22  é" + std::string(92, ' ') + "  b\n");
}

}  // namespace
}  // namespace paced::launcher
