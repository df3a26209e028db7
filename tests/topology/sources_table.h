// SPDX-License-Identifier: BSD-3-Clause
// Tables of answers in the SOURCES.md of others' recordings, and what the tests of recorded nodes have in common.
#pragma once

#include <algorithm>
#include <cctype>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "policy/base/text.h"
#include "policy/io/node_file.h"
#include "policy/io/snapshot.h"
#include "policy/topology/pci_address.h"
#include "tests/doubles/paths.h"

namespace paced::test {

// One row of the table: its file, and all of its cells, the file's first.
struct SourcesRow {
    std::string folder, file;
    std::vector<std::string> cells;
};

// How GoogleTest names it.
inline void PrintTo(const SourcesRow& row, std::ostream* out) {
    *out << row.file;
}

// The rows whose file ends like this; a row without a file where the table is missing, so that a test says so.
inline std::vector<SourcesRow> sources_rows(const std::string& folder, std::string_view extension) {
    const auto sources = others_data(folder + "/SOURCES.md");
    if (!sources) return {SourcesRow{folder, "", {}}};
    std::vector<SourcesRow> rows;
    std::istringstream text(read_file(*sources));
    for (std::string line; std::getline(text, line);) {
        SourcesRow row{folder, "", {}};
        for (auto cell : split(line, '|')) row.cells.emplace_back(trim(cell));
        if (row.cells.size() < 3 || !row.cells[1].ends_with(extension)) continue;
        row.cells.erase(row.cells.begin());
        row.file = row.cells.front();
        rows.push_back(std::move(row));
    }
    return rows;
}

inline std::string sources_row_name(const testing::TestParamInfo<SourcesRow>& info) {
    std::string name = info.param.file.empty() ? "SourcesMissing" : info.param.file;
    std::replace_if(
        name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
    return name;
}

// "13:00.0" as we write it.
inline std::string full_pci(std::string_view pci) {
    const auto address = topology::parse_pci_address(pci);
    return address ? to_string(*address) : "not a PCI address: " + std::string(pci);
}

// The same node as a plugin gets it, through a snapshot.
inline topology::NodeTopology through_a_snapshot(const topology::NodeTopology& node) {
    const std::string snapshot = io::write_snapshot(node);
    const auto again = io::read_snapshot(snapshot);
    EXPECT_TRUE(again) << again.error().message;
    if (!again) return {};
    EXPECT_EQ(io::write_snapshot(*again), snapshot);
    return *again;
}

}  // namespace paced::test
