// SPDX-License-Identifier: BSD-3-Clause
// scenarios/valid/*.toml and etc/scenarios/*.toml load, scenarios/invalid/*.toml give exactly the text of their .expected file.
#include "policy/io/toml_scenario.h"
#include "tests/config/said_of_files.h"

namespace paced {
namespace {

// Read in its own folder, so that the paths in what is said are the same wherever the repository lies.
class ScenarioFile : public testing::TestWithParam<std::filesystem::path> {
protected:
    std::optional<io::ScenarioFile> read(Diagnostics& found, const io::ScenarioOverrides& overrides = {}) const {
        const auto before = std::filesystem::current_path();
        std::filesystem::current_path(GetParam().parent_path());
        auto scenario = io::parse_scenario(test::read_file(GetParam()), GetParam().filename().string(), overrides, found);
        std::filesystem::current_path(before);
        return scenario;
    }
};

using ValidScenarioFile = ScenarioFile;
using InvalidScenarioFile = ScenarioFile;
using ShippedScenarioFile = ScenarioFile;

TEST_P(ValidScenarioFile, LoadsWithoutAWord) {
    Diagnostics found;
    EXPECT_TRUE(read(found));
    EXPECT_EQ(format(found), "");
}

TEST_P(InvalidScenarioFile, IsRefusedWithTheExpectedWords) {
    Diagnostics found;
    EXPECT_FALSE(read(found));
    EXPECT_TRUE(found.has_errors());
    test::expect_said(GetParam(), format(found));
}

// A fabric of somebody else's may be missing; then one of ours stands for it, and all else is looked at.
TEST_P(ShippedScenarioFile, LoadsWithoutAWord) {
    Diagnostics found;
    io::ScenarioOverrides overrides;
    const bool is_lingjun = GetParam().stem() == "lingjun";
    if (is_lingjun) {
        const auto table = test::others_data("slurm-topology/lingjun-2023-topo.csv");
        if (!table) overrides.node_counts = {2, 4};
        overrides.fabric = table ? table->string() : test::data("fabric/lingjun.csv").string();
    }
    const auto scenario = read(found, overrides);
    EXPECT_EQ(format(found), "");
    ASSERT_TRUE(scenario);
    EXPECT_EQ(scenario->scenario.name, GetParam().stem());
    EXPECT_NE(scenario->scenario.description, "");
    EXPECT_EQ(scenario->scenario.fabric.read.has_value(), is_lingjun);
}

INSTANTIATE_TEST_SUITE_P(Own, ValidScenarioFile, testing::ValuesIn(test::toml_files_in("tests/config/scenarios/valid")), test::name_of_file);
INSTANTIATE_TEST_SUITE_P(Own, InvalidScenarioFile, testing::ValuesIn(test::toml_files_in("tests/config/scenarios/invalid")), test::name_of_file);
INSTANTIATE_TEST_SUITE_P(Shipped, ShippedScenarioFile, testing::ValuesIn(test::toml_files_in("etc/scenarios")), test::name_of_file);

}  // namespace
}  // namespace paced
