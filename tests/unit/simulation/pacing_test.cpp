// SPDX-License-Identifier: BSD-3-Clause
// The law, the permits and the channel in simulated jobs: the same objects as in the interposer.
#include <cmath>

#include "tests/unit/simulation/small_jobs.h"

namespace paced::simulation::test {
namespace {

constexpr double small_buffer = 16e3, large_buffer = 1e6;

// The class of the four groups; the other one is where all ranks meet.
const ClassResult& groups_of(const Outcome& outcome) {
    static const ClassResult none;
    for (const ClassResult& one : outcome.classes)
        if (one.facts.communicators == 4) return one;
    ADD_FAILURE() << "no class of four communicators";
    return none;
}

TEST(Pacing, FindsACliffAndPassesIt) {
    const Scenario scenario = four_groups(small_buffer);
    std::uint32_t engaged = 0, faster = 0;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        const Outcome off = run(scenario, Case::baseline, seed), paced = run(scenario, Case::alone, seed);
        EXPECT_EQ(groups_of(paced).facts.size, 2u);
        EXPECT_TRUE(groups_of(paced).facts.crosses);
        EXPECT_GT(groups_of(paced).account.blocks, 0u);
        engaged += groups_of(paced).account.state == pacing::Ended::engaged ? 1 : 0;
        faster += paced.throughput > off.throughput ? 1 : 0;
        EXPECT_LT(paced.stalls, off.stalls);
    }
    EXPECT_GE(engaged, 4u);
    EXPECT_GE(faster, 4u);
}

TEST(Pacing, StepsAsideWhereThereIsNoCliff) {
    const Scenario scenario = four_groups(large_buffer);
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        const Outcome off = run(scenario, Case::baseline, seed), paced = run(scenario, Case::alone, seed);
        EXPECT_NE(groups_of(paced).account.state, pacing::Ended::engaged);
        EXPECT_NEAR(paced.throughput / off.throughput, 1, 0.005);
    }
}

// Each arm that takes turns or limits bursts keeps the port from being overrun.
TEST(Pacing, ArmsDoWhatTheyAreFor) {
    Scenario scenario = four_groups(small_buffer);
    const Outcome off = run(scenario, Case::baseline);
    ASSERT_GT(off.stalls, 200u);
    for (const char* const arm : {"admit:1", "slots:12ms", "rate:25mbit"}) {
        scenario.pacing.tuning = std::string("method=fixed arm=") + arm;
        const Outcome paced = run(scenario, Case::alone);
        EXPECT_EQ(groups_of(paced).account.state, pacing::Ended::engaged) << arm;
        EXPECT_LT(paced.stalls, off.stalls / 4) << arm;
        EXPECT_GT(paced.throughput, off.throughput) << arm;
    }
    const Outcome oracle = run(scenario, Case::oracle);
    EXPECT_EQ(oracle.stalls, 0u);
    EXPECT_GT(oracle.throughput, off.throughput);
}

TEST(Pacing, HoldsLastNoLongerThanTheWindow) {
    Scenario scenario = four_groups(small_buffer);
    scenario.pacing.tuning = "method=fixed arm=slots:20ms";
    scenario.pacing.window_s = 0.005;
    const Outcome paced = run(scenario, Case::alone);
    EXPECT_EQ(groups_of(paced).account.state, pacing::Ended::engaged);
    // four slots of which three are 5 ms at most: 3.75 ms a call in the mean
    EXPECT_GT(paced.shares.held, 0.001);
    EXPECT_LE(paced.shares.held, 0.00376);
    scenario.pacing.window_s = 0;
    EXPECT_EQ(run(scenario, Case::alone).shares.held, 0);
}

// A channel that is slow and loses a third of what it carries: nothing hangs, little is lost.
TEST(Pacing, ABadChannelCostsPacingNotTheJob) {
    Scenario scenario = four_groups(small_buffer);
    scenario.iterations = 1000;
    const double off = run(scenario, Case::baseline).throughput;
    scenario.pacing.control.loss = 0.33;
    scenario.pacing.control.latency_s = 0.005;
    scenario.pacing.control.jitter_s = 0.02;
    for (const char* const tuning : {"", "method=fixed arm=admit:1"}) {
        scenario.pacing.tuning = tuning;
        const Outcome paced = run(scenario, Case::alone);
        EXPECT_EQ(paced.iteration_s.size(), 1000u) << tuning;
        EXPECT_GT(paced.throughput, 0.9 * off) << tuning;
        EXPECT_GT(groups_of(paced).account.void_blocks, 0u) << tuning;
    }
}

// Early ranks that wait in the collective slow what they still compute: holding them is the cure, and the law may find it.
TEST(Pacing, HoldingSparesComputeThatWaitingWouldSteal) {
    Scenario scenario = quiet();
    scenario.fabric.overload.on = false;
    scenario.node.gpus = scenario.node.ranks = scenario.node.nics = 8;
    scenario.node_counts = {4};
    scenario.work.traffic[0].overlap = 0.8;
    scenario.work.traffic[0].buckets = 4;
    scenario.compute.segment_sigma = 0.2;
    scenario.compute.theft = 0.5;
    scenario.iterations = 500;
    const Outcome off = run(scenario, Case::baseline);
    scenario.pacing.tuning = "method=fixed arm=hold-local";
    const Outcome held = run(scenario, Case::alone);
    EXPECT_LT(held.shares.stolen, off.shares.stolen);
    EXPECT_GT(held.shares.held, 0);
}

TEST(Pacing, ComparisonRunsEveryArmOfItsList) {
    Scenario scenario = four_groups(small_buffer);
    scenario.pacing.tuning = "method=comparison arms=off,admit:1,slots:12ms,fixed-delay:2ms:1ms,barrier";
    const Outcome outcome = run(scenario, Case::alone);
    const pacing::Account& account = groups_of(outcome).account;
    ASSERT_EQ(account.count, 5u);
    for (std::uint32_t i = 0; i < account.count; ++i) EXPECT_GT(account.trials[i].blocks, 5u) << pacing::name_of(account.trials[i].setting.arm);
}

}  // namespace
}  // namespace paced::simulation::test
