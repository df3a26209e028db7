// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/step/fabric_lookup.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "tests/doubles/fabric_text.h"
#include "tests/doubles/paths.h"
#include "tests/doubles/temporary_folder.h"

namespace paced::step {
namespace {

class FabricLookup : public testing::Test {
protected:
    std::string read(const std::string& file = {}) {
        Environment environment;
        environment.set("SLURM_CONF", (folder_.path() / "slurm.conf").string());
        const auto fabric = read_fabric(file, environment);
        return fabric ? test::text_of(*fabric) : fabric.error().message;
    }
    test::TemporaryFolder folder_;
};

TEST_F(FabricLookup, YamlWinsBesideSlurmConf) {
    folder_.write("topology.conf", "SwitchName=s1 Nodes=n[1-2]\n");
    EXPECT_EQ(read(), "s1:n[1-2]");
    folder_.write("topology.yaml", "- topology: t\n  block:\n    blocks:\n      - block: b1\n        nodes: n[1-4]\n");
    EXPECT_EQ(read(), "b1:n[1-4]");
    // Slurm does not fall back either, and its error is worth a line.
    folder_.write("topology.yaml", "[]\n- topology: t\n");
    EXPECT_NE(read().find("topology.yaml:"), std::string::npos) << read();
}

TEST_F(FabricLookup, AFileOfAnyFormatMayBeNamed) {
    EXPECT_EQ(read(test::data("fabric/ibnetdiscover-ports.txt").string()), "leaf1 (2 rails):n[1-2]");
    EXPECT_EQ(read(test::data("fabric/scontrol-blocks.txt").string()), "rack1:10.0.0.[1-2] rack2:10.0.0.[3-4]");
    const std::string guids = test::data("fabric/invalid/node-guids.txt").string();
    EXPECT_EQ(read(guids), guids + ": a list of hosts and port GUIDs: it names no switch");
    EXPECT_EQ(read("/nonexistent/fabric"), "there is no /nonexistent/fabric");
}

TEST_F(FabricLookup, HostsAreFoundByTheirShortNames) {
    const auto view = find_fabric({"n111", "n211", "n222"}, test::data("fabric/ibnetdiscover-rails.txt").string(), {});
    EXPECT_EQ(view.problem, "");
    EXPECT_TRUE(view.unknown.empty());
    ASSERT_EQ(view.leaves.size(), 3u);
    EXPECT_EQ(view.leaves[0].name, "p1-leaf11 (2 rails)");
    EXPECT_EQ(view.crossings, 3);
    EXPECT_EQ(find_fabric({}, "", {}).problem, "the step's nodes are not known, so neither is their place");
}

}  // namespace
}  // namespace paced::step
