// SPDX-License-Identifier: BSD-3-Clause
// The max-plus lemma: if neither the service nor the compute depends on when ranks arrive, no delay can help. With overload and theft
// switched off the simulator must say so of every arm, or it would find gains that do not exist.
//
// It is about one communicator. Parallel groups that share a link are another matter even without overload: who takes turns there
// puts one group's compute beside another one's transfer, which is a gain of its own.
#include "tests/unit/simulation/small_jobs.h"

namespace paced::simulation::test {
namespace {

Scenario lemma() {
    Scenario scenario = quiet();
    scenario.fabric.nodes = 16;
    scenario.fabric.levels = {Level{.name = "leaf", .below = 4, .uplinks = 1, .uplink_bytes_s = 10e9}, Level{.name = "top", .below = 4}};
    scenario.node.gpus = scenario.node.ranks = 2;
    scenario.compute.sigma = 0.1;
    scenario.compute.event_probability = 0.01;
    scenario.compute.event_mean_s = 0.1;
    scenario.work.traffic[0].overlap = 0.5;
    scenario.work.traffic[0].buckets = 3;
    scenario.node_counts = {16};
    scenario.iterations = 2000;
    return scenario;
}

TEST(Lemma, TheLawGainsNothingWhereNothingCanBeGained) {
    Scenario scenario = lemma();
    scenario.seeds = 5;
    std::vector<Outcome> outcomes;
    for (const auto& one : runs_of(scenario)) outcomes.push_back(simulate(scenario, one));
    const Result result = summarise(scenario, outcomes);
    const CaseResult &ordered = result.rows[0].cases[1], &paced = result.rows[0].cases[2];
    EXPECT_LE(paced.gain_percent.low, ordered.gain_percent.value + 1e-6);
    EXPECT_GE(paced.gain_percent.high, ordered.gain_percent.value - 1e-6);
    EXPECT_NEAR(paced.throughput.value / ordered.throughput.value, 1, 0.001);
}

TEST(Lemma, NoArmIsFasterThanNone) {
    Scenario scenario = lemma();
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        const double off = run(scenario, Case::baseline, seed).throughput;
        for (const Case ran : {Case::recipe, Case::barrier, Case::oracle}) EXPECT_LE(run(scenario, ran, seed).throughput, off * (1 + 1e-9)) << name_of(ran);
        for (const char* const arm : {"hold-local", "hold-remote:2ms", "phase:5ms", "rate:1gbit", "fixed-delay:1ms:1ms"}) {
            scenario.pacing.tuning = std::string("method=fixed arm=") + arm;
            EXPECT_LE(run(scenario, Case::alone, seed).throughput, off * (1 + 1e-9)) << arm;
        }
    }
}

// And delays do cost: the lemma is monotone.
TEST(Lemma, HoldingTheLastOneCosts) {
    Scenario scenario = lemma();
    const double off = run(scenario, Case::baseline).throughput;
    scenario.pacing.tuning = "method=fixed arm=fixed-delay:20ms:0.001ms";
    EXPECT_LT(run(scenario, Case::alone).throughput, off * 0.999);
}

}  // namespace
}  // namespace paced::simulation::test
