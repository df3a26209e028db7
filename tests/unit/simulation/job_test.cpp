// SPDX-License-Identifier: BSD-3-Clause
// Whole jobs: what must hold of any of them.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "tests/unit/simulation/small_jobs.h"

namespace paced::simulation::test {
namespace {

// Everything at once: rails, three levels, hashes, groups of two kinds, overlap, jitter, events, overload, somebody else's traffic.
Scenario busy() {
    Scenario scenario = quiet();
    scenario.fabric.nodes = 64;
    scenario.fabric.rails = 2;
    scenario.fabric.levels = {Level{.name = "leaf", .below = 4, .uplinks = 2, .oversubscription = 2, .buffer_bytes = 1e5}, Level{.name = "spine", .below = 4, .uplinks = 2, .oversubscription = 2, .buffer_bytes = 1e5},
                              Level{.name = "core", .below = 4, .buffer_bytes = 1e5}};
    scenario.fabric.overload.on = true;
    scenario.placement = Placement::random;
    scenario.node.gpus = scenario.node.ranks = 4;
    scenario.node.nics = 2;
    scenario.work.grid = {Axis{"tp", 4}, Axis{"dp", 0}};
    Traffic inner, outer;
    inner.axis = "tp";
    inner.bytes = 50e6;
    inner.buckets = 4;
    inner.from = 0.25;
    outer.axis = "dp";
    outer.bytes = 400e6;
    outer.buckets = 3;
    outer.overlap = 0.6;
    scenario.work.traffic = {inner, outer};
    scenario.compute.sigma = 0.03;
    scenario.compute.event_probability = 0.001;
    scenario.compute.event_mean_s = 0.05;
    scenario.compute.theft = 0.2;
    scenario.background = {Background{}};
    scenario.fabric_events = {0.001, 0.05};
    scenario.node_counts = {16};
    scenario.iterations = 400;
    return scenario;
}

std::uint64_t bits_of(double value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

TEST(Job, TheSameSeedGivesTheSameBytes) {
    const Scenario scenario = busy();
    for (const Case ran : all_cases) {
        const Outcome first = run(scenario, ran), again = run(scenario, ran);
        EXPECT_EQ(first.iteration_s, again.iteration_s) << name_of(ran);
        EXPECT_EQ(bits_of(first.throughput), bits_of(again.throughput)) << name_of(ran);
        EXPECT_EQ(bits_of(first.shares.waiting), bits_of(again.shares.waiting)) << name_of(ran);
        EXPECT_EQ(first.events, again.events) << name_of(ran);
        EXPECT_EQ(first.stalls, again.stalls) << name_of(ran);
    }
    EXPECT_NE(run(scenario, Case::baseline).iteration_s, run(scenario, Case::baseline, 2).iteration_s);
}

TEST(Job, RunsDoNotDependOnTheirOrder) {
    Scenario scenario = busy();
    scenario.seeds = 2;
    scenario.iterations = 60;
    std::vector<Outcome> forward, backward;
    const auto runs = runs_of(scenario);
    ASSERT_EQ(runs.size(), 6u);
    for (const auto& one : runs) forward.push_back(simulate(scenario, one));
    for (auto one = runs.rbegin(); one != runs.rend(); ++one) backward.push_back(simulate(scenario, *one));
    const Result a = summarise(scenario, forward), b = summarise(scenario, backward);
    ASSERT_EQ(a.rows.size(), 1u);
    ASSERT_EQ(a.rows[0].cases.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(bits_of(a.rows[0].cases[i].throughput.value), bits_of(b.rows[0].cases[i].throughput.value));
        EXPECT_EQ(bits_of(a.rows[0].cases[i].gain_percent.low), bits_of(b.rows[0].cases[i].gain_percent.low));
    }
}

// The mean rank's time is computing, waiting or transferring, and nothing else.
TEST(Job, TimeIsAccountedFor) {
    const Scenario scenario = busy();
    for (const Case ran : all_cases) {
        const Outcome outcome = run(scenario, ran);
        const Shares& shares = outcome.shares;
        const double iteration = outcome.seconds / scenario.iterations;
        EXPECT_NEAR(shares.compute + shares.waiting + shares.transfer, iteration, 0.002 * iteration) << name_of(ran);
        EXPECT_LE(shares.held, shares.waiting) << name_of(ran);
        double sum = 0;
        for (const float each : outcome.iteration_s) sum += static_cast<double>(each);
        EXPECT_NEAR(sum, outcome.seconds, 1e-5 * outcome.seconds) << name_of(ran);
    }
}

TEST(Job, NoLinkCarriesMoreThanItsRate) {
    const Outcome outcome = run(busy(), Case::baseline);
    ASSERT_GE(outcome.load.size(), 3u);
    for (const LevelLoad& level : outcome.load) {
        EXPECT_GT(level.mean, 0) << level.level;
        EXPECT_LE(level.most, 1) << level.level;
        EXPECT_LE(level.mean, level.most) << level.level;
    }
}

TEST(Job, EveryRankArrivesAtEveryCall) {
    Scenario scenario = quiet();
    scenario.work.traffic[0].buckets = 4;
    const Outcome outcome = run(scenario, Case::baseline);
    // 8 ranks, 4 calls, 52 iterations and what has begun of the next: an arrival for each rank and call, a completion, flow changes
    const std::uint64_t calls = 4 * 52;
    EXPECT_GE(outcome.events, calls * (8 + 1 + 2));
    EXPECT_LE(outcome.events, (calls + 4) * (8 + 1 + 4));
}

TEST(Job, OverlapHidesWhatFitsUnderCompute) {
    Scenario scenario = quiet();
    const double blocking = mean_of(run(scenario, Case::baseline).iteration_s);
    scenario.work.traffic[0].overlap = 0.5;
    scenario.work.traffic[0].buckets = 10;
    const double overlapped = mean_of(run(scenario, Case::baseline).iteration_s);
    // each bucket's 1.75 ms fits into the 5 ms until the next; the last one shows
    EXPECT_NEAR(blocking, 0.1 + 2 * 7.0 / 8 * 100e6 / 10e9, 0.001);
    EXPECT_NEAR(overlapped, 0.1 + 2 * 7.0 / 8 * 10e6 / 10e9, 0.0005);
}

TEST(Job, AWaitingKernelSlowsTheComputeBesideIt) {
    Scenario scenario = quiet();
    scenario.work.traffic[0].overlap = 0.8;
    scenario.work.traffic[0].buckets = 8;
    scenario.compute.segment_sigma = 0.3;  // each is early at some bucket and late at another
    const Outcome fair = run(scenario, Case::baseline);
    scenario.compute.theft = 0.5;
    const Outcome robbed = run(scenario, Case::baseline), oracle = run(scenario, Case::oracle);
    EXPECT_EQ(fair.shares.stolen, 0);
    EXPECT_GT(robbed.shares.stolen, 0);
    EXPECT_LT(robbed.throughput, fair.throughput);
    // ranks that enter with the last one steal nothing
    EXPECT_LT(oracle.shares.stolen, 1e-9);
    EXPECT_NEAR(oracle.throughput, fair.throughput, 1e-6 * fair.throughput);
}

TEST(Job, ASlowRankHoldsUpAll) {
    Scenario scenario = quiet();
    scenario.compute.replay = Replay{"one of eight is slow", 8, {0.1f, 0.1f, 0.1f, 0.2f, 0.1f, 0.1f, 0.1f, 0.1f}};
    const Outcome outcome = run(scenario, Case::baseline);
    EXPECT_NEAR(mean_of(outcome.iteration_s), 0.2 + 0.0175, 0.0005);
    EXPECT_NEAR(outcome.shares.waiting, 0.1 * 7 / 8, 0.001);
}

TEST(Job, StrongScalingDividesTheWork) {
    Scenario scenario = quiet();
    scenario.work.scaling = Scaling::strong;
    scenario.node_counts = {2, 8};
    const Outcome two = simulate(scenario, {Case::baseline, 2, 1}), eight = simulate(scenario, {Case::baseline, 8, 1});
    EXPECT_NEAR(mean_of(two.iteration_s), 0.1 + 0.01, 0.0005);
    EXPECT_NEAR(mean_of(eight.iteration_s), 0.025 + 0.0175, 0.0005);
    EXPECT_NEAR(eight.throughput, 1 / 0.0425, 0.5);
}

TEST(Job, KnobsOfPracticeDoWhatTheySay) {
    Scenario scenario = quiet();
    scenario.work.volume_factor = 0.5;
    EXPECT_NEAR(mean_of(run(scenario, Case::baseline).iteration_s), 0.1 + 0.00875, 0.0005);
    scenario.work.accumulation = 4;
    EXPECT_NEAR(mean_of(run(scenario, Case::baseline).iteration_s), 0.4 + 0.00875, 0.0005);
}

TEST(Job, BindingSparesTheWayOverTheSocketLink) {
    Scenario scenario = quiet();
    scenario.node.unbound = {topology::Relation::sys};
    const Outcome baseline = run(scenario, Case::baseline), ordered = run(scenario, Case::ordered);
    EXPECT_NEAR(mean_of(baseline.iteration_s), 0.1 + 0.0175 / scenario.node.rate_share[5], 0.001);
    EXPECT_NEAR(mean_of(ordered.iteration_s), 0.1 + 0.0175, 0.0005);
}

TEST(Job, ANodesOwnTopologySaysWhatBindingSpares) {
    using topology::Relation;
    Scenario scenario = quiet();
    scenario.node.gpus = scenario.node.ranks = scenario.node.nics = 2;
    scenario.work.grid = {Axis{"local", 2}, Axis{"dp", 0}};
    scenario.work.traffic[0].axis = "dp";
    topology::NodeTopology crossed;  // each GPU's near NIC is the other one's by number
    crossed.gpus.resize(2);
    crossed.nics.resize(2);
    for (topology::Nic& nic : crossed.nics) nic.kind = topology::NicKind::infiniband, nic.state = topology::LinkState::up;
    crossed.nics[0].name = "mlx5_0";
    crossed.nics[1].name = "mlx5_1";
    crossed.stated_relations = {{Relation::sys, Relation::pix}, {Relation::pix, Relation::sys}};
    scenario.node.topology = crossed;
    EXPECT_NEAR(mean_of(run(scenario, Case::baseline).iteration_s), 0.1 + 0.0175 / scenario.node.rate_share[5], 0.001);
    EXPECT_NEAR(mean_of(run(scenario, Case::ordered).iteration_s), 0.1 + 0.0175, 0.0005);
}

// Two leaves of four, so four of eight nodes are beyond the first one's leaf.
Scenario two_leaves() {
    Scenario scenario = quiet();
    scenario.fabric.nodes = 8;
    scenario.fabric.levels = {Level{.name = "leaf", .below = 4, .uplinks = 1, .uplink_bytes_s = 10e9}, Level{.name = "top", .below = 2}};
    return scenario;
}

TEST(Job, FabricEventsStrikeWhoGoesBeyondTheFirstLeaf) {
    Scenario scenario = two_leaves();
    scenario.iterations = 20000;
    scenario.fabric_events = {0.01, 0.2};
    const Outcome beyond = run(scenario, Case::baseline);
    const double each = 1 - std::pow(0.99, 4);
    EXPECT_NEAR(mean_of(beyond.iteration_s), 0.1 + 0.0176 + each * 0.2, 0.0006);
    EXPECT_NEAR(beyond.shares.stalls, each * 0.2, 0.0006);
    scenario.node_counts = {4};
    EXPECT_EQ(run(scenario, Case::baseline).stalls, 0u);
}

// A burst that wants most of the uplink gets half of it while it lasts, since one flow of the ring meets one of it.
TEST(Job, OthersTrafficTakesItsFairShareWhileItLasts) {
    Scenario scenario = two_leaves();
    scenario.iterations = 500;
    scenario.background = {Background{"leaf", 1, 0.001, 0.5, 0.8}};
    const double alone = 0.0175 + 14 * 8e-6, shared = 0.0175 / 0.75 + 14 * 8e-6;
    const Outcome outcome = run(scenario, Case::baseline);
    EXPECT_NEAR(mean_of(outcome.iteration_s) - 0.1, shared, 0.02 * shared);
    EXPECT_GT(mean_of(outcome.iteration_s) - 0.1, 1.2 * alone);
}

TEST(Job, ALosslessFabricPausesInsteadOfLosing) {
    Scenario scenario = four_groups(16e3);
    scenario.iterations = 300;
    scenario.fabric.overload.on = false;
    const Outcome ideal = run(scenario, Case::baseline);
    scenario.fabric.overload.on = true;
    scenario.fabric.transport = Transport::lossless;
    const Outcome paused = run(scenario, Case::baseline);
    EXPECT_EQ(paused.stalls, 0u);
    EXPECT_LT(paused.throughput, ideal.throughput);
    EXPECT_GT(paused.throughput, (1 - scenario.fabric.overload.pause_spread) * (1 - scenario.fabric.overload.pause_spread) * ideal.throughput);
}

// Two pairs between two leaves with two uplinks: hashed onto one of them or not, for the whole run.
TEST(Job, FlowsCollideOrNotForTheWholeRun) {
    Scenario scenario = quiet();
    scenario.fabric.nodes = 4;
    scenario.fabric.levels = {Level{.name = "leaf", .below = 2, .uplinks = 2, .uplink_bytes_s = 10e9}, Level{.name = "top", .below = 2}};
    scenario.placement = Placement::interleaved;
    scenario.work.grid = {Axis{"pair", 2}, Axis{"group", 0}};
    scenario.work.traffic[0].axis = "pair";
    scenario.node_counts = {4};
    scenario.iterations = 10;
    std::uint32_t collided = 0;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        const double exchange = mean_of(run(scenario, Case::baseline, seed).iteration_s) - 0.1;
        // up or down: at one of the two hash places alone, or at both
        const bool apart = std::fabs(exchange - 0.01) < 0.0005, together = std::fabs(exchange - 0.02) < 0.0005;
        EXPECT_TRUE(apart || together) << exchange;
        collided += together ? 1 : 0;
    }
    // each of the two directions collides with 1/2
    EXPECT_NEAR(collided, 150, 30);
}

TEST(Job, TheTimelineShowsWhatARankDid) {
    Scenario scenario = quiet();
    scenario.compute.sigma = 0.1;
    const Timeline line = run(scenario, Case::baseline).timeline;
    ASSERT_EQ(line.ranks.size(), 8u);
    bool someone_is_last = false;
    for (const RankLine& rank : line.ranks) {
        ASSERT_GE(rank.spans.size(), 2u);
        EXPECT_EQ(rank.spans.front().kind, Span::Kind::compute);
        EXPECT_EQ(rank.spans.back().kind, Span::Kind::transfer);
        EXPECT_NEAR(rank.spans.back().end_s, line.length_s, 1e-4);
        for (std::size_t i = 1; i < rank.spans.size(); ++i) EXPECT_NEAR(rank.spans[i].begin_s, rank.spans[i - 1].end_s, 1e-6);
        someone_is_last = someone_is_last || rank.spans.size() == 2;
    }
    EXPECT_TRUE(someone_is_last);
}

TEST(Job, StopsWhereItIsToldTo) {
    Scenario scenario = quiet();
    scenario.iterations = 1000;
    std::uint32_t last = 0;
    const Outcome outcome = simulate(scenario, {Case::baseline, 8, 1}, [&](std::uint32_t done, std::uint32_t of) {
        EXPECT_EQ(of, 1002u);
        last = done;
        return done < 200;
    });
    EXPECT_GE(last, 200u);
    EXPECT_LT(last, 300u);
    EXPECT_TRUE(outcome.iteration_s.empty());
}

}  // namespace
}  // namespace paced::simulation::test
