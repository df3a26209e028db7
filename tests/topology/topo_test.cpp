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
    const auto folder = node->origin.find(file.parent_path().string());
    if (folder != std::string::npos) node->origin.erase(folder, file.parent_path().string().size() + 1);  // wherever the repository lies
    return *node;
}

// Machines are .xml (hwloc, NCCL) and .topo (nvidia-smi: .txt is ours, but not in others' folder).
std::vector<path> machine_files(const path& folder, const std::string& text_extension = ".topo") {
    std::vector<path> files;
    for (const auto& each : std::filesystem::recursive_directory_iterator(folder))
        if (each.path().extension() == ".xml" || each.path().extension() == text_extension) files.push_back(each.path());
    std::sort(files.begin(), files.end());
    return files;
}

TEST(Topo, GoldenTexts) {
    const auto files = machine_files(test::data("topology"));
    EXPECT_GE(files.size(), 7u);
    for (const path& file : files) test::expect_golden(topo_text(read_node(file), true), path(file).replace_extension(".txt"));
}

TEST(Topo, GoldenJson) {
    for (const char* name : {"topology/fake-uneven.xml", "topology/nvidia-smi/fake-4gpu-3nic.topo"}) {
        const path file = test::data(name);
        test::expect_golden(topo_json(read_node(file)), path(file).replace_extension(".json"));
    }
}

TEST(Topo, EveryGoldenFileBelongsToAMachine) {
    for (const auto& each : std::filesystem::recursive_directory_iterator(test::data("topology"))) {
        const path file = each.path();
        if (each.is_directory() || file.extension() == ".xml" || file.extension() == ".topo") continue;
        EXPECT_TRUE(std::filesystem::exists(path(file).replace_extension(".xml")) || std::filesystem::exists(path(file).replace_extension(".topo")))
            << file;
    }
}

class OthersMachines : public testing::TestWithParam<const char*> {};

TEST_P(OthersMachines, FitATerminal) {
    const auto folder = test::others_data(GetParam());
    if (!folder) GTEST_SKIP() << GetParam() << " is not there";
    for (const path& file : machine_files(*folder, ".txt")) {
        if (file.string().find("needs-hwloc3") != std::string::npos) continue;
        const std::string text = topo_text(read_node(file), true);
        for (auto line : split(text, '\n')) EXPECT_LE(columns_of(line), line_width) << file << ": " << line;
    }
}

INSTANTIATE_TEST_SUITE_P(Topo, OthersMachines, testing::Values("hwloc", "nccl-topo", "nvidia-smi-topo"));

TEST(Topo, ANodeOfWhichNothingIsKnown) {
    EXPECT_EQ(
        topo_text({}, true),
        "node, from \n0 GPUs, 0 NICs\n\n\nThis node has no GPUs.\n\nThis node has no NICs.\n");
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
