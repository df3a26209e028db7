// SPDX-License-Identifier: BSD-3-Clause
// Others' NCCL and RCCL topology files against the table in their SOURCES.md: how many CPUs (NUMA nodes), GPUs and NICs, and for each GPU
// which NICs are nearest and how near.
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
enum { file_column, machine_column, counts_column, nearest_column };

// "0000:0c:00.0(mlx5_0/mlx5_1)", "-(eth0)"
std::string nic_text(const Nic& nic) {
    std::vector<std::string> names = nic.more_names;
    if (!nic.name.empty()) names.insert(names.begin(), nic.name);
    return (nic.place.pci ? to_string(*nic.place.pci) : "-") + '(' + join(names, "/") + ')';
}

// GPU -> "CPU 0000:60:00.0(enp96s0f0),-(veth608058c)"
std::map<std::string, std::string> nearest_of(const NodeTopology& node) {
    std::map<std::string, std::string> answers;
    for (const auto& task : placement::bind_tasks(node).tasks) {
        if (!task.relation) continue;
        std::vector<std::string> nics;
        for (NicIndex nic : task.candidates) nics.push_back(nic_text(node.nic(nic)));
        std::sort(nics.begin(), nics.end());
        // the table's word for one host bridge
        const std::string relation = *task.relation == Relation::phb ? "CPU" : std::string(to_string(*task.relation));
        answers[to_string(*node.gpu(task.gpu).place.pci)] = relation + ' ' + join(nics, ",");
    }
    return answers;
}

struct Expected {
    std::map<std::string, std::string> nearest;
    bool whole = true;  // false: the table was cut, and has the first GPUs only
};

// "13:00.0/23:00.0 PXB 33:00.0(mlx5_0); ...", to the last group that is whole
Expected expected_nearest(const std::string& cell) {
    Expected expected;
    if (cell == "-") return expected;
    const auto cut = cell.find("…");
    expected.whole = cut == std::string::npos;
    auto groups = split(std::string_view(cell).substr(0, cut), ';');
    if (!expected.whole) groups.pop_back();
    for (auto group : groups) {
        std::istringstream words{std::string(trim(group))};
        std::string gpus, relation, nics;
        words >> gpus >> relation >> nics;
        std::vector<std::string> full;
        for (auto nic : split(nics, ',')) {
            const auto bracket = std::min(nic.find('('), nic.size());
            full.push_back((nic.starts_with('-') ? "-" : test::full_pci(nic.substr(0, bracket))) + std::string(nic.substr(bracket)));
        }
        std::sort(full.begin(), full.end());
        for (auto gpu : split(gpus, '/')) expected.nearest[test::full_pci(gpu)] = relation + ' ' + join(full, ",");
    }
    return expected;
}

class RecordedNccl : public testing::TestWithParam<test::SourcesRow> {};

TEST_P(RecordedNccl, MeetsTheTable) {
    const auto& [folder, name, cells] = GetParam();
    const auto file = test::others_data(folder + '/' + name);
    if (name.empty() || !file) GTEST_SKIP() << folder << '/' << name << " is not there";
    Diagnostics diagnostics;
    const auto node = io::read_node_file(file->string(), diagnostics);
    ASSERT_TRUE(node) << format(diagnostics);
    EXPECT_EQ(std::to_string(node->numa_nodes.size()) + '/' + std::to_string(node->gpus.size()) + '/' + std::to_string(node->nics.size()),
              cells.at(counts_column));
    // Only a file that tells of nothing is warned of.
    EXPECT_EQ(diagnostics.empty(), !node->gpus.empty()) << format(diagnostics);

    const Expected expected = expected_nearest(cells.at(nearest_column));
    auto found = nearest_of(*node);
    if (!expected.whole) {
        EXPECT_GE(expected.nearest.size(), 4u);
        std::erase_if(found, [&](const auto& each) { return !expected.nearest.contains(each.first); });
    }
    EXPECT_EQ(found, expected.nearest);
    EXPECT_EQ(nearest_of(test::through_a_snapshot(*node)), nearest_of(*node));
    for (const Gpu& gpu : node->gpus) {
        EXPECT_EQ(gpu.vendor, name.starts_with("rccl") ? "AMD" : "NVIDIA");
        EXPECT_EQ(gpu.partitions, 1);
    }
}

INSTANTIATE_TEST_SUITE_P(Nccl, RecordedNccl, testing::ValuesIn(test::sources_rows("nccl-topo", ".xml")), test::sources_row_name);

}  // namespace
