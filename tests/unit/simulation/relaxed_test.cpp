// SPDX-License-Identifier: BSD-3-Clause
#include "policy/simulation/relaxed.h"

#include "tests/unit/simulation/small_jobs.h"

namespace paced::simulation::test {
namespace {

Scenario jittered() {
    Scenario scenario = quiet();
    scenario.compute.sigma = 0.2;
    scenario.iterations = 2000;
    return scenario;
}

TEST(Relaxed, ARankWithNobodyToSpeakToOnlyComputes) {
    Scenario scenario = jittered();
    scenario.node_counts = {1};
    EXPECT_NEAR(mean_of(run(scenario, Case::baseline).iteration_s), 0.1, 0.001);
}

// The more staleness, the less anybody waits; never quicker than the mean rank.
TEST(Relaxed, StalenessTakesUpJitter) {
    Scenario scenario = jittered();
    double before = run(scenario, Case::baseline).throughput;
    scenario.work.synchronisation = Synchronisation::stale;
    for (const std::uint32_t staleness : {1u, 4u, 16u}) {
        scenario.work.staleness = staleness;
        const double now = run(scenario, Case::baseline).throughput;
        EXPECT_GT(now, before) << staleness;
        EXPECT_LT(now, 8 / 0.1 * 1.005) << staleness;
        before = now;
    }
}

TEST(Relaxed, AsynchronousRanksPayForTheirOwnExchangeAlone) {
    Scenario scenario = jittered();
    scenario.work.synchronisation = Synchronisation::asynchronous;
    const double iteration = mean_of(run(scenario, Case::baseline).iteration_s);
    EXPECT_GT(iteration, 0.1);
    EXPECT_LE(iteration, (0.1 + 0.0176) * 1.005);
}

// Within a persistent spread nothing helps: the slowest rank decides in the long run.
TEST(Relaxed, StalenessDoesNotMakeASlowRankQuick) {
    Scenario scenario = quiet();
    scenario.work.synchronisation = Synchronisation::stale;
    scenario.work.staleness = 4;
    scenario.compute.replay = Replay{"one of eight is slow", 8, {0.1f, 0.1f, 0.1f, 0.2f, 0.1f, 0.1f, 0.1f, 0.1f}};
    scenario.iterations = 1000;
    const Outcome outcome = run(scenario, Case::baseline);
    EXPECT_NEAR(mean_of(outcome.iteration_s), 0.2, 0.002);
}

}  // namespace
}  // namespace paced::simulation::test
