// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "tests/unit/simulation/small_jobs.h"

namespace paced::simulation::test {
namespace {

struct Mistake {
    std::string field;
    std::function<void(Scenario&)> make;
};

const std::vector<Mistake>& mistakes() {
    static const std::vector<Mistake> all = {
        {"fabric.nodes", [](Scenario& s) { s.fabric.nodes = 0; }},
        {"fabric.rails", [](Scenario& s) { s.fabric.rails = 3; }},
        {"fabric.level[0].name", [](Scenario& s) { s.fabric.levels[0].name = ""; }},
        {"fabric.level[0].below", [](Scenario& s) { s.fabric.levels[0].below = 0; }},
        {"fabric.level[0].below", [](Scenario& s) { s.fabric.levels[0].below = 8; }},  // eight switches and nothing above them
        {"fabric.level[0].uplinks", [](Scenario& s) { s.fabric.levels[0].uplinks = 0; }},
        {"fabric.level[0].uplink_bytes_s", [](Scenario& s) { s.fabric.levels[0].uplink_bytes_s = -1; }},
        {"fabric.level[0].oversubscription", [](Scenario& s) { s.fabric.levels[0].oversubscription = 0; }},
        {"fabric.level[0].buffer_bytes", [](Scenario& s) { s.fabric.levels[0].buffer_bytes = std::nan(""); }},
        {"fabric.overload.window_bytes", [](Scenario& s) { s.fabric.overload.window_bytes = 0; }},
        {"fabric.overload.pause_spread", [](Scenario& s) { s.fabric.overload.pause_spread = 1.5; }},
        {"node.ranks", [](Scenario& s) { s.node.ranks = 4; }},
        {"node.ranks", [](Scenario& s) { s.node.ranks = 0; }},
        {"node.nic_bytes_s", [](Scenario& s) { s.node.nic_bytes_s = 0; }},
        {"node.nic_bytes_s", [](Scenario& s) { s.node.nic_bytes_s = std::numeric_limits<double>::infinity(); }},
        {"node.rate_share", [](Scenario& s) { s.node.rate_share[2] = 0; }},
        {"work.traffic[0].axis", [](Scenario& s) { s.work.traffic[0].axis = "dp"; }},
        {"work.traffic[0].bytes", [](Scenario& s) { s.work.traffic[0].bytes = 0; }},
        {"work.traffic[0].buckets", [](Scenario& s) { s.work.traffic[0].buckets = 0; }},
        {"work.traffic[0].overlap", [](Scenario& s) { s.work.traffic[0].overlap = 1.1; }},
        {"work.traffic[0].from", [](Scenario& s) { s.work.traffic[0].from = 0.5, s.work.traffic[0].to = 0.2; }},
        {"work.traffic[0].algorithm", [](Scenario& s) { s.work.traffic[0].algorithm = Algorithm::direct; }},
        {"work.traffic[0].algorithm", [](Scenario& s) { s.work.traffic[0].algorithm = Algorithm::tree, s.work.traffic[0].operation = Operation::allgather; }},
        {"work.traffic[0].outstanding", [](Scenario& s) { s.work.traffic[0].outstanding = 4; }},
        {"work.grid[1].name", [](Scenario& s) { s.work.grid = {Axis{"a", 2}, Axis{"a", 0}}; }},
        {"work.grid[1].size", [](Scenario& s) { s.work.grid = {Axis{"a", 0}, Axis{"b", 0}}; }},
        {"node_counts[0]", [](Scenario& s) { s.work.grid = {Axis{"a", 3}, Axis{"b", 0}}; }},
        {"work.grid", [](Scenario& s) { s.node.gpus = s.node.ranks = 4, s.work.grid = {Axis{"a", 8}, Axis{"b", 0}}, s.node.ranks = 3, s.node_counts = {8}; }},
        {"work.accumulation", [](Scenario& s) { s.work.accumulation = 0; }},
        {"work.volume_factor", [](Scenario& s) { s.work.volume_factor = -0.5; }},
        {"compute.mean_s", [](Scenario& s) { s.compute.mean_s = 0; }},
        {"compute.sigma", [](Scenario& s) { s.compute.sigma = -0.1; }},
        {"compute.replay", [](Scenario& s) { s.compute.replay = Replay{"short", 4, {1, 2, 3}}; }},
        {"fabric_events.probability", [](Scenario& s) { s.fabric_events.probability = 1; }},
        {"background[0].level", [](Scenario& s) { s.background = {Background{}}; }},
        {"pacing.tuning", [](Scenario& s) { s.pacing.tuning = "block_iteration=8"; }},
        {"pacing.control.interval_s", [](Scenario& s) { s.pacing.control.interval_s = 0; }},
        {"node_counts", [](Scenario& s) { s.node_counts = {}; }},
        {"node_counts[0]", [](Scenario& s) { s.node_counts = {65}; }},
        {"node_counts[1]", [](Scenario& s) { s.node_counts = {8, 0}; }},
        {"seeds", [](Scenario& s) { s.seeds = 0; }},
        {"iterations", [](Scenario& s) { s.iterations = 9; }},
    };
    return all;
}

bool names(const std::vector<Problem>& problems, const std::string& field) {
    return std::any_of(problems.begin(), problems.end(), [&](const Problem& problem) { return problem.field == field; });
}

TEST(Problems, AScenarioThatIsRightHasNone) {
    EXPECT_TRUE(problems_of(quiet()).empty());
    EXPECT_TRUE(problems_of(four_groups(1e5)).empty());
}

TEST(Problems, EachMistakeIsNamedByItsField) {
    for (const Mistake& mistake : mistakes()) {
        Scenario scenario = quiet();
        mistake.make(scenario);
        const std::vector<Problem> problems = problems_of(scenario);
        EXPECT_TRUE(names(problems, mistake.field)) << mistake.field;
        for (const Problem& problem : problems) {
            EXPECT_FALSE(problem.message.empty());
            EXPECT_NE(problem.message.back(), '.');
        }
    }
}

TEST(Problems, AllMistakesAreFoundAtOnce) {
    Scenario scenario = quiet();
    scenario.fabric.overload.window_bytes = 0;
    scenario.node.nic_bytes_s = std::nan("");
    scenario.compute.mean_s = -1;
    scenario.pacing.tuning = "method=other";
    scenario.seeds = 0;
    const std::vector<Problem> problems = problems_of(scenario);
    EXPECT_EQ(problems.size(), 5u);
    for (const char* const field : {"fabric.overload.window_bytes", "node.nic_bytes_s", "compute.mean_s", "pacing.tuning", "seeds"}) EXPECT_TRUE(names(problems, field)) << field;
}

// The reader asks although some values were refused: whatever stands there, an answer comes at once.
TEST(Problems, AnyValuesAreStood) {
    Scenario scenario = quiet();
    const double nan = std::nan("");
    scenario.fabric.nodes = ~0u;
    scenario.fabric.levels = std::vector<Level>(50, Level{.name = "x", .below = 0, .uplinks = ~0u, .uplink_bytes_s = nan, .oversubscription = nan});
    scenario.fabric.rails = 0;
    scenario.node.nics = scenario.node.ranks = 0;
    scenario.work.grid = std::vector<Axis>(50, Axis{"y", ~0u});
    scenario.work.traffic = {};
    scenario.node_counts = std::vector<std::uint32_t>(100, ~0u);
    scenario.iterations = scenario.seeds = ~0u;
    EXPECT_FALSE(problems_of(scenario).empty());
}

}  // namespace
}  // namespace paced::simulation::test
