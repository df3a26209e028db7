// SPDX-License-Identifier: BSD-3-Clause
// Others' `nvidia-smi topo -m` outputs against the table in their SOURCES.md: how many GPUs and NICs, and for each GPU which NICs are
// nearest and how near, as far as the rows of the file go.
#include <map>
#include <sstream>

#include <gtest/gtest.h>

#include "policy/base/text.h"
#include "policy/io/node_file.h"
#include "policy/placement/binding.h"
#include "tests/topology/sources_table.h"

namespace {

using namespace paced;
using namespace paced::topology;

// The columns of the table.
enum { file_column, machine_column, gpus_column, nics_column, state_column, nearest_column };

// GPU -> "PXB=NIC2/NIC3"
std::map<std::string, std::string> nearest_of(const NodeTopology& node) {
    std::map<std::string, std::string> answers;
    for (const auto& task : placement::bind_tasks(node).tasks) {
        if (!task.relation) continue;
        std::vector<std::string> nics;
        for (NicIndex nic : task.candidates) nics.push_back(node.nic(nic).alias);
        answers[node.gpu(task.gpu).name] = std::string(to_string(*task.relation)) + '=' + join(nics, "/");
    }
    return answers;
}

// "GPU0:PXB=NIC2/NIC3 GPU1:..."
std::map<std::string, std::string> expected_nearest(const std::string& cell) {
    std::map<std::string, std::string> answers;
    std::istringstream words(cell);
    for (std::string word; words >> word;)
        if (const auto colon = word.find(':'); colon != std::string::npos) answers[word.substr(0, colon)] = word.substr(colon + 1);
    return answers;
}

class RecordedNvidiaSmi : public testing::TestWithParam<test::SourcesRow> {};

TEST_P(RecordedNvidiaSmi, MeetsTheTable) {
    const auto& [folder, name, cells] = GetParam();
    const auto file = test::others_data(folder + '/' + name);
    if (name.empty() || !file) GTEST_SKIP() << folder << '/' << name << " is not there";
    Diagnostics diagnostics;
    const auto node = io::read_node_file(file->string(), diagnostics);
    ASSERT_TRUE(node) << format(diagnostics);
    EXPECT_EQ(std::to_string(node->gpus.size()), cells.at(gpus_column));
    EXPECT_EQ(std::to_string(node->nics.size()), cells.at(nics_column));

    const auto expected = expected_nearest(cells.at(nearest_column));
    auto found = nearest_of(*node);
    if (cells.at(state_column) != "complete") {
        std::erase_if(found, [&](const auto& each) { return !expected.contains(each.first); });
    } else {
        EXPECT_TRUE(diagnostics.empty()) << format(diagnostics);
    }
    EXPECT_EQ(found, expected);
    EXPECT_EQ(nearest_of(test::through_a_snapshot(*node)), nearest_of(*node));
    for (const Nic& nic : node->nics) EXPECT_FALSE(nic.place.pci);
}

INSTANTIATE_TEST_SUITE_P(NvidiaSmi, RecordedNvidiaSmi, testing::ValuesIn(test::sources_rows("nvidia-smi-topo", ".txt")),
                         test::sources_row_name);

}  // namespace
