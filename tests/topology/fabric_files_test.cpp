// SPDX-License-Identifier: BSD-3-Clause
// tests/data/fabric: each file is read into what its .expected file says, warnings first. Those of invalid/ give exactly
// the words of theirs.
#include <algorithm>
#include <filesystem>
#include <vector>

#include <gtest/gtest.h>

#include "policy/io/fabric_file.h"
#include "tests/doubles/fabric_text.h"
#include "tests/doubles/golden.h"
#include "tests/doubles/paths.h"

namespace paced {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> fabrics_in(const char* folder) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(test::data(folder)))
        if (entry.is_regular_file() && entry.path().extension() != ".expected") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

fs::path expected(const fs::path& file) {
    return file.string() + ".expected";
}

// A line for each switch, from the roots down.
void draw(const topology::FabricTopology& fabric, topology::SwitchIndex index, std::size_t depth, std::string& text) {
    const auto& each = fabric.at(index);
    text += std::string(2 * depth, ' ') + each.name;
    if (!each.hosts.empty()) text += ": " + topology::compress_hosts(each.hosts);
    text += '\n';
    for (auto child : each.children) draw(fabric, child, depth + 1, text);
}

class FabricFile : public testing::TestWithParam<fs::path> {
protected:
    std::optional<topology::FabricTopology> read(Diagnostics& diagnostics) const {
        return io::parse_fabric(test::read_file(GetParam()), GetParam().filename().string(), diagnostics);
    }
};

using ValidFabricFile = FabricFile;
using InvalidFabricFile = FabricFile;

TEST_P(ValidFabricFile, IsReadAsExpected) {
    Diagnostics diagnostics;
    const auto fabric = read(diagnostics);
    ASSERT_TRUE(fabric) << format(diagnostics);
    std::string text = format(diagnostics) + "origin: " + fabric->origin + "\nkind: ";
    text += fabric->kind == topology::FabricKind::blocks ? "blocks" : "tree";
    text += "\nrails: " + std::to_string(fabric->rails) + '\n';
    for (auto root : fabric->roots()) draw(*fabric, root, 0, text);
    test::expect_golden(text, expected(GetParam()));
}

TEST_P(InvalidFabricFile, IsRefusedWithTheExpectedWords) {
    Diagnostics diagnostics;
    EXPECT_FALSE(read(diagnostics));
    EXPECT_TRUE(diagnostics.has_errors());
    test::expect_golden(format(diagnostics), expected(GetParam()));
}

std::string name_of(const testing::TestParamInfo<fs::path>& info) {
    std::string name = info.param.filename().string();
    std::replace_if(
        name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(Own, ValidFabricFile, testing::ValuesIn(fabrics_in("fabric")), name_of);
INSTANTIATE_TEST_SUITE_P(Own, InvalidFabricFile, testing::ValuesIn(fabrics_in("fabric/invalid")), name_of);

TEST(FabricFiles, ATopologyOfTheFileIsNamed) {
    const std::string file = test::data("fabric/several.yaml").string();
    Diagnostics diagnostics;
    const auto racks = io::read_fabric_file(file, diagnostics, "nvlink");
    ASSERT_TRUE(racks);
    EXPECT_EQ(racks->origin, file + " (topology nvlink)");
    EXPECT_EQ(test::text_of(*racks), "rack1:n[1-4] rack2:n[5-8]");
    EXPECT_EQ(racks->kind, topology::FabricKind::blocks);
    EXPECT_EQ(format(diagnostics), "");

    EXPECT_FALSE(io::read_fabric_file(file, diagnostics, "fabrik"));
    EXPECT_FALSE(io::read_fabric_file(file, diagnostics, "all"));
    const std::string other = test::data("fabric/model.yaml").string();
    EXPECT_FALSE(io::read_fabric_file(other, diagnostics, "fabric"));
    EXPECT_EQ(format(diagnostics),
              file +
                  ": error: there is no topology 'fabrik' in this file\n"
                  "    hint: did you mean 'fabric'?\n"
                  "    hint: valid: 'nvlink', 'fabric' or 'all'\n" +
                  file + ":28:13: error: topology 'all' cannot be used: it is flat: it says nothing of where nodes are\n" + other +
                  ": error: topology 'fabric' is asked for, and this is no topology.yaml: it has no topologies with names\n");
}

TEST(FabricFiles, AMissingFile) {
    Diagnostics diagnostics;
    EXPECT_FALSE(io::read_fabric_file("/nonexistent/fabric", diagnostics));
    EXPECT_EQ(format(diagnostics), "error: cannot read /nonexistent/fabric: No such file or directory\n");
}

TEST(FabricFiles, AreToldByContent) {
    using io::FabricFormat;
    const struct {
        const char* text;
        FabricFormat format;
    } cases[] = {
        {"", FabricFormat::topology_conf},
        {"# only a comment\n", FabricFormat::topology_conf},
        {"\xEF\xBB\xBF\n  switchname=a Nodes=n1\n", FabricFormat::topology_conf},
        {"SwitchName=a LinkSpeed=1 Nodes=n1\n", FabricFormat::topology_conf},
        {"SwitchName=a Level=0 LinkSpeed=1 Nodes=n1\n", FabricFormat::scontrol},
        {"BlockName=a Nodes=n1\nBlockSizes=4\n", FabricFormat::topology_conf},
        {"BlockSizes=4\nBlockName=a Nodes=n1\n", FabricFormat::topology_conf},
        {"Swichname=a Nodes=n1\n", FabricFormat::topology_conf},
        {"Include other.conf\n", FabricFormat::topology_conf},
        {"---\n- topology: a\n", FabricFormat::topology_yaml},
        {"- topology: a\n  tree:\n    switches:\n", FabricFormat::topology_yaml},
        {"# a model\nswitches:\n  a: {}\n", FabricFormat::topograph_model},
        {"---\nblocks:\n- switch: a\n", FabricFormat::topograph_model},
        {"topology: \"topology/tree\"\nswitches:\n- name: a\n", FabricFormat::topograph_model},
        {"#\n# Topology file: generated on ...\n\nvendid=0x2c9\n", FabricFormat::ibnetdiscover},
        {"Ca\t1 \"H-b1\"\n", FabricFormat::ibnetdiscover},
        {"SW  1 1 0xa1 4x ??? 'leaf'\n", FabricFormat::ibnetdiscover_ports},
        {" IP,DSW,psw,ASW\r\n", FabricFormat::lingjun_csv},
        {"{\"a\": 1}", FabricFormat::netq_json},
        {"n1: 0xa1\n", FabricFormat::node_guids},
        {"<topology>", FabricFormat::xml},
        {"hello world\n", FabricFormat::unknown},
    };
    for (const auto& each : cases) EXPECT_EQ(io::recognise_fabric(each.text), each.format) << each.text;
}

}  // namespace
}  // namespace paced
