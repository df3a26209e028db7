// SPDX-License-Identifier: BSD-3-Clause
// `paced simulate`, the program. What its figures should be is the simulator's own business (tests/unit/simulation).
#include <algorithm>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "policy/base/text.h"
#include "tests/doubles/paths.h"
#include "tests/doubles/run_program.h"
#include "tests/doubles/temporary_folder.h"

namespace paced {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

// Small enough for a fraction of a second.
constexpr char small[] = R"(schema = 1
name = "small"
node_counts = [2, 4]
seeds = 2
iterations = 40
placement = "interleaved"
[fabric]
nodes = 8
[[fabric.level]]
below = 4
uplink_rate = "100mbit"
buffer = "60kB"
[[fabric.level]]
below = 2
[node]
gpus = 1
ranks = 1
nics = 1
nic_rate = "200mbit"
[[work.traffic]]
bytes = "64KiB"
[compute]
mean = "20ms"
)";

test::Outcome simulate(const test::TemporaryFolder& folder, Words words) {
    words.insert(words.begin(), {(test::bin_dir() / "paced").string(), "simulate"});
    return test::run_program(words, {.folder = folder.path().string()});
}

TEST(PacedSimulate, PrintsATable) {
    const test::TemporaryFolder folder;
    folder.write("small.toml", small);
    const auto outcome = simulate(folder, {"small.toml"});
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.err, "");  // no progress where that is no terminal
    EXPECT_TRUE(outcome.out.starts_with("Simulation of small\n2 runs of 40 iterations for each case.")) << outcome.out;
    for (const char* part : {"\nnodes  ", "\n    2  ", "\n    4  ", "\nIterations\n", "\nWhere a mean iteration", "\nLoad of the links"}) EXPECT_NE(outcome.out.find(part), std::string::npos) << part;
    EXPECT_EQ(outcome.out.find("recipe"), std::string::npos);
    for (const std::string_view line : split(outcome.out, '\n')) EXPECT_LE(line.size(), 100u) << line;
}

TEST(PacedSimulate, TheSameForAnyNumberOfThreads) {
    const test::TemporaryFolder folder;
    folder.write("small.toml", small);
    const auto one = simulate(folder, {"small.toml", "--json", "--jobs", "1"}), three = simulate(folder, {"small.toml", "--json", "--jobs", "3"});
    EXPECT_EQ(one.exit_code, 0);
    EXPECT_EQ(one.out, three.out);
    const Json json = Json::parse(one.out);
    EXPECT_EQ(json.at("scenario"), "small");
    EXPECT_TRUE(json.at("model").at("fitted_on").is_null());
    ASSERT_EQ(json.at("rows").size(), 2u);
    for (const Json& row : json.at("rows"))
        for (const char* ran : {"baseline", "ordered", "paced"}) {
            const Json& figures = row.at(ran);
            EXPECT_GT(figures.at("throughput"), 0) << ran;
            EXPECT_GT(figures.at("p50"), 20) << ran;  // ms: nothing is faster than its compute alone
            EXPECT_GE(figures.at("p99"), figures.at("p50")) << ran;
        }
}

TEST(PacedSimulate, ACommandLineWins) {
    const test::TemporaryFolder folder;
    folder.write("small.toml", small);
    folder.write("fabric.conf", "SwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n[3-4]\nSwitchName=top Switches=a,b\n");
    const auto outcome = simulate(folder, {"small.toml", "--json", "--nodes", "4,2,3,4", "--seeds", "1", "--iterations", "30", "--compare", "--fabric", "fabric.conf"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    const Json json = Json::parse(outcome.out);
    EXPECT_EQ(json.at("seeds"), 1);
    EXPECT_EQ(json.at("iterations"), 30);
    ASSERT_EQ(json.at("rows").size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(json.at("rows").at(i).at("nodes"), i + 2);
    for (const char* ran : {"alone", "recipe", "barrier", "oracle"}) EXPECT_TRUE(json.at("rows").at(0).contains(ran)) << ran;
}

TEST(PacedSimulate, WritesAPage) {
    const test::TemporaryFolder folder;
    folder.write("small.toml", small);
    const auto outcome = simulate(folder, {"small.toml", "--html", "out.html"});
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_TRUE(outcome.out.starts_with("Simulation of small\n"));
    const std::string page = test::read_file(folder / "out.html");
    EXPECT_TRUE(page.starts_with("<!doctype html>\n"));
    EXPECT_TRUE(page.ends_with("</html>\n"));
    EXPECT_NE(page.find("<svg"), std::string::npos);
}

TEST(PacedSimulate, AWrongScenarioIsToldWhole) {
    const test::TemporaryFolder folder;
    folder.write("wrong.toml", "schema = 1\nnode_count = [4]\n[node]\nnic_rate = \"0\"\nnics = \"8\"\n[compute]\nmean = \"5\"\nsigma = nan\n");
    const auto outcome = simulate(folder, {"wrong.toml", "--html", "out.html"});
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(outcome.out, "");
    EXPECT_FALSE(std::filesystem::exists(folder / "out.html"));
    for (const char* part : {"wrong.toml:2:1: error: unknown key 'node_count'\n    hint: did you mean 'node_counts'?\n", "wrong.toml:4:12: error: 'nic_rate' must be above 0", "wrong.toml:5:8: error: 'nics' must be an integer, not a string\n",
                             "wrong.toml:7:8: error: bad time '5' for 'mean'\n", "wrong.toml:8:9: error: 'sigma' must be a finite number\n"})
        EXPECT_NE(outcome.err.find(part), std::string::npos) << part << "\n" << outcome.err;
}

TEST(PacedSimulate, AWrongSizeIsTheCommandLines) {
    const test::TemporaryFolder folder;
    folder.write("small.toml", small);
    const auto outcome = simulate(folder, {"small.toml", "--nodes", "4,16"});
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_TRUE(outcome.err.starts_with("--nodes: error: ")) << outcome.err;
}

TEST(PacedSimulate, UsageAndSurroundings) {
    const test::TemporaryFolder folder;
    folder.write("small.toml", small);
    for (const Words& words : {Words{}, Words{"small.toml", "--nodes", "4,x"}, Words{"small.toml", "--nodes", "0"}, Words{"small.toml", "--seeds", "0"}, Words{"small.toml", "--jobs", "-1"},
                               Words{"small.toml", "--nods", "4"}}) {
        const auto outcome = simulate(folder, words);
        EXPECT_EQ(outcome.exit_code, 2) << (words.empty() ? "" : words.back());
        EXPECT_EQ(outcome.out, "");
        EXPECT_NE(outcome.err.find("paced simulate --help"), std::string::npos) << outcome.err;
    }
    const auto missing = simulate(folder, {"none.toml"});
    EXPECT_EQ(missing.exit_code, 3);
    EXPECT_EQ(missing.err, "error: cannot read none.toml: No such file or directory\n");
    const auto unwritable = simulate(folder, {"small.toml", "--html", "no/such/folder.html"});
    EXPECT_EQ(unwritable.exit_code, 3);
    EXPECT_EQ(unwritable.out, "");
    EXPECT_EQ(unwritable.err, "error: cannot write no/such/folder.html: No such file or directory\n");
}

}  // namespace
}  // namespace paced
