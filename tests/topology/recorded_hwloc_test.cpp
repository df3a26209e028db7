// SPDX-License-Identifier: BSD-3-Clause
// Others' hwloc files against the table in their SOURCES.md: how many packages, NUMA nodes, cores, PUs, GPUs and NICs of
// which kind, and for each GPU which fabric NICs are nearest and how near.
#include <algorithm>
#include <map>
#include <set>
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
enum { file_column, machine_column, format_column, cpus_column, gpus_column, nics_column, pci_column, nearest_column };

// "4 ib, 2 eth"
std::string nic_kinds(const NodeTopology& node) {
    static const std::map<NicKind, std::string> names{{NicKind::infiniband, "ib"},       {NicKind::omni_path, "opa"},
                                                      {NicKind::slingshot, "slingshot"}, {NicKind::efa, "efa"},
                                                      {NicKind::roce, "roce-eth"},       {NicKind::ethernet, "eth"}};
    std::map<std::string, int> counts;
    for (const Nic& nic : node.nics) ++counts[names.at(nic.kind)];
    std::vector<std::string> parts;
    for (const auto& [name, count] : counts) parts.push_back(std::to_string(count) + ' ' + name);
    return parts.empty() ? "0" : join(parts, ", ");
}

// The same, from the table: its order is another.
std::string sorted_kinds(const std::string& cell) {
    std::vector<std::pair<std::string, std::string>> parts;
    for (auto part : split(cell, ',')) {
        part = trim(part);
        const auto blank = part.find(' ');
        if (blank == std::string_view::npos) return std::string(part);
        parts.emplace_back(part.substr(blank + 1), part);
    }
    std::sort(parts.begin(), parts.end());
    std::vector<std::string> texts;
    for (auto& part : parts) texts.push_back(part.second);
    return join(texts, ", ");
}

// "0000:33:00.0(hsi0/mlx5_0)"
std::string nic_text(const Nic& nic) {
    std::set<std::string> names(nic.netdevs.begin(), nic.netdevs.end());
    if (!nic.name.empty()) names.insert(nic.name);
    const std::vector<std::string> sorted(names.begin(), names.end());
    return to_string(*nic.place.pci) + (sorted.empty() ? "" : '(' + join(sorted, "/") + ')');
}

// GPU -> "PKG 0000:33:00.0(hsi0/mlx5_0)", candidates separated by commas
std::map<std::string, std::string> nearest_of(const NodeTopology& node) {
    std::map<std::string, std::string> answers;
    const auto binding = placement::bind_tasks(node);
    for (const auto& task : binding.tasks) {
        if (!task.relation || class_of(node.nic(task.candidates.front()).kind) != NicClass::fabric) continue;
        std::vector<std::string> nics;
        for (NicIndex nic : task.candidates) nics.push_back(nic_text(node.nic(nic)));
        answers[to_string(*node.gpu(task.gpu).place.pci)] = std::string(to_string(*task.relation)) + ' ' + join(nics, ",");
    }
    return answers;
}

// "13:00.0/23:00.0 PKG 33:00.0(hsi0/mlx5_0); ..."
std::map<std::string, std::string> expected_nearest(const std::string& cell) {
    std::map<std::string, std::string> answers;
    if (cell == "-") return answers;
    for (auto group : split(cell, ';')) {
        std::istringstream words{std::string(trim(group))};
        std::string gpus, relation, nics;
        words >> gpus >> relation >> nics;
        std::vector<std::string> full;
        for (auto nic : split(nics, ',')) {
            const auto bracket = std::min(nic.find('('), nic.size());
            full.push_back(test::full_pci(nic.substr(0, bracket)) + std::string(nic.substr(bracket)));
        }
        for (auto gpu : split(gpus, '/')) answers[test::full_pci(gpu)] = relation + ' ' + join(full, ",");
    }
    return answers;
}

class RecordedNode : public testing::TestWithParam<test::SourcesRow> {};

TEST_P(RecordedNode, MeetsTheTable) {
    const auto& [folder, name, cells] = GetParam();
    const auto file = test::others_data(folder + '/' + name);
    if (name.empty() || !file) GTEST_SKIP() << folder << '/' << name << " is not there";
    Diagnostics diagnostics;
    const auto node = io::read_node_file(file->string(), diagnostics);

    if (cells.at(format_column).find("refused") != std::string::npos) {
        EXPECT_FALSE(node);
        EXPECT_EQ(format(diagnostics),
                  file->string() +
                      ":3:1: error: hwloc XML of version 3.0: hwloc 2 reads versions 1 and 2 only\n"
                      "    hint: on the machine that wrote it, `lstopo --export-xml-flags v2 FILE.xml` writes version 2\n");
        return;
    }
    ASSERT_TRUE(node) << format(diagnostics);
    EXPECT_TRUE(diagnostics.empty()) << format(diagnostics);
    int cores = 0;
    for (const Pu& pu : node->pus) cores = std::max(cores, pu.core + 1);
    EXPECT_EQ(std::to_string(node->packages.size()) + '/' + std::to_string(node->numa_nodes.size()) + '/' + std::to_string(cores) + '/' +
                  std::to_string(node->pus.size()),
              cells.at(cpus_column));
    EXPECT_EQ(std::to_string(node->gpus.size()), cells.at(gpus_column));
    EXPECT_EQ(nic_kinds(*node), sorted_kinds(cells.at(nics_column)));
    if (!node->gpus.empty()) {
        EXPECT_EQ(nearest_of(*node), expected_nearest(cells.at(nearest_column)));
    }

    for (const Gpu& gpu : node->gpus) {
        EXPECT_EQ(gpu.partitions, name.find("-TPX-") != std::string::npos ? 3 : 1);
        EXPECT_EQ(gpu.partition_uuids.size(), gpu.partitions > 1 ? 3u : 0u);
    }

    // What the plugin gets of it is the same.
    EXPECT_EQ(nearest_of(test::through_a_snapshot(*node)), nearest_of(*node));
}

INSTANTIATE_TEST_SUITE_P(Hwloc, RecordedNode, testing::ValuesIn(test::sources_rows("hwloc", ".xml")), test::sources_row_name);

}  // namespace
