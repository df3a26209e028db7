// SPDX-License-Identifier: BSD-3-Clause
// That each key reaches its value, in the unit that the simulator wants; what is refused, and how, is in tests/config/scenarios.
#include "policy/io/toml_scenario.h"

#include <gtest/gtest.h>

#include "policy/io/compute_replay.h"
#include "policy/report/report.h"
#include "tests/doubles/paths.h"
#include "tests/doubles/temporary_folder.h"

namespace paced::io {
namespace {

using namespace simulation;
using topology::Relation;

ScenarioFile read(const std::filesystem::path& file, const ScenarioOverrides& overrides = {}) {
    Diagnostics diagnostics;
    auto scenario = parse_scenario(test::read_file(file), file.string(), overrides, diagnostics);
    EXPECT_EQ(format(diagnostics), "");
    return scenario ? *std::move(scenario) : ScenarioFile{};
}

const std::filesystem::path valid = test::source_dir() / "tests/config/scenarios/valid";

TEST(TomlScenario, EveryKeyReachesItsValue) {
    const ScenarioFile file = read(valid / "everything.toml");
    EXPECT_EQ(file.fitted_on, "nothing at all");
    EXPECT_EQ(file.hash.size(), 16u);
    const Scenario& s = file.scenario;
    EXPECT_EQ(s.name, "everything");
    EXPECT_EQ(s.description, "all keys");
    EXPECT_EQ(s.node_counts, (std::vector<std::uint32_t>{2, 4}));
    EXPECT_EQ(s.seeds, 3u);
    EXPECT_EQ(s.first_seed, 7u);
    EXPECT_EQ(s.iterations, 50u);
    EXPECT_EQ(s.warmup, 5u);
    EXPECT_EQ(s.placement, Placement::interleaved);
    EXPECT_EQ(to_string(s.order), "tp=2,dp=8");

    EXPECT_EQ(s.fabric.nodes, 16u);
    EXPECT_EQ(s.fabric.rails, 2u);
    EXPECT_EQ(s.fabric.transport, Transport::lossless);
    ASSERT_EQ(s.fabric.levels.size(), 3u);
    const Level& edge = s.fabric.levels[0];
    EXPECT_EQ(edge.name, "edge");
    EXPECT_EQ(edge.below, 4u);
    EXPECT_EQ(edge.uplinks, 2u);
    EXPECT_DOUBLE_EQ(edge.uplink_bytes_s, 1.5e9 / 8);
    EXPECT_DOUBLE_EQ(edge.buffer_bytes, 65536);
    EXPECT_DOUBLE_EQ(edge.latency_s, 3e-6);
    EXPECT_EQ(s.fabric.levels[1].name, "top");
    EXPECT_EQ(s.fabric.levels[1].uplink_bytes_s, 0);
    EXPECT_DOUBLE_EQ(s.fabric.levels[1].oversubscription, 1.5);
    EXPECT_EQ(s.fabric.levels[2].name, "core");
    const Overload& overload = s.fabric.overload;
    EXPECT_FALSE(overload.on);
    EXPECT_DOUBLE_EQ(overload.window_bytes, 30'000);
    EXPECT_DOUBLE_EQ(overload.round_trip_s, 1e-3);
    EXPECT_DOUBLE_EQ(overload.rto_s, 5e-3);
    EXPECT_DOUBLE_EQ(overload.loss_scale, .1);
    EXPECT_DOUBLE_EQ(overload.loss_power, 2);
    EXPECT_DOUBLE_EQ(overload.pause_spread, .5);
    EXPECT_DOUBLE_EQ(overload.burst_share, .5);
    EXPECT_DOUBLE_EQ(s.fabric_events.probability, .001);
    EXPECT_DOUBLE_EQ(s.fabric_events.mean_s, .05);

    EXPECT_EQ(s.node.gpus, 4u);
    EXPECT_EQ(s.node.ranks, 2u);
    EXPECT_EQ(s.node.nics, 2u);
    EXPECT_DOUBLE_EQ(s.node.nic_bytes_s, 25e6);
    EXPECT_DOUBLE_EQ(s.node.nic_latency_s, 30e-6);
    EXPECT_DOUBLE_EQ(s.node.internal_bytes_s, 10e9);
    EXPECT_DOUBLE_EQ(s.node.internal_latency_s, 1e-6);
    EXPECT_EQ(s.node.unbound, (std::vector{Relation::sys, Relation::phb}));
    EXPECT_EQ(s.node.bound, (std::vector{Relation::pxb}));
    constexpr double shares[] = {.9, .8, .65, .55, .45, .35};
    for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(s.node.rate_share[i], shares[i]);
}

TEST(TomlScenario, EveryKeyOfTheJobReachesItsValue) {
    const ScenarioFile file = read(valid / "everything.toml");
    const Work& work = file.scenario.work;
    ASSERT_EQ(work.grid.size(), 2u);
    EXPECT_EQ(work.grid[0].name, "tp");
    EXPECT_EQ(work.grid[0].size, 2u);
    EXPECT_EQ(work.grid[1].name, "dp");
    EXPECT_EQ(work.grid[1].size, 0u);
    EXPECT_EQ(work.scaling, Scaling::strong);
    EXPECT_EQ(work.reference_nodes, 4u);
    EXPECT_DOUBLE_EQ(work.samples, 64);
    EXPECT_DOUBLE_EQ(work.volume_factor, .5);
    EXPECT_EQ(work.accumulation, 4u);
    EXPECT_EQ(work.synchronisation, Synchronisation::stale);
    EXPECT_EQ(work.staleness, 2u);
    EXPECT_EQ(work.assignment, Assignment::dynamic);
    EXPECT_EQ(work.pieces, 16u);
    EXPECT_DOUBLE_EQ(work.assignment_cost_s, 1e-3);
    ASSERT_EQ(work.traffic.size(), 2u);
    const Traffic &first = work.traffic[0], &second = work.traffic[1];
    EXPECT_EQ(first.axis, "dp");
    EXPECT_EQ(first.operation, Operation::reduce_scatter);
    EXPECT_EQ(first.algorithm, Algorithm::hierarchical);
    EXPECT_DOUBLE_EQ(first.bytes, 1 << 20);
    EXPECT_EQ(first.buckets, 4u);
    EXPECT_DOUBLE_EQ(first.overlap, .25);
    EXPECT_EQ(first.channels, 2u);
    EXPECT_EQ(second.axis, "dp");
    EXPECT_EQ(second.operation, Operation::alltoall);
    EXPECT_EQ(second.algorithm, Algorithm::direct);
    EXPECT_DOUBLE_EQ(second.bytes, 10'000);
    EXPECT_DOUBLE_EQ(second.from, .25);
    EXPECT_DOUBLE_EQ(second.to, .75);
    EXPECT_EQ(second.outstanding, 1u);

    const Compute& compute = file.scenario.compute;
    EXPECT_DOUBLE_EQ(compute.mean_s, .02);
    EXPECT_DOUBLE_EQ(compute.sigma, .05);
    EXPECT_DOUBLE_EQ(compute.segment_sigma, .03);
    EXPECT_DOUBLE_EQ(compute.persistent, .01);
    EXPECT_DOUBLE_EQ(compute.node_share, .5);
    EXPECT_DOUBLE_EQ(compute.event_probability, .001);
    EXPECT_DOUBLE_EQ(compute.event_mean_s, .1);
    EXPECT_DOUBLE_EQ(compute.slow_per_node_hour, .1);
    EXPECT_DOUBLE_EQ(compute.slow_mean_s, 3600);
    EXPECT_DOUBLE_EQ(compute.slow_factor, 1.5);
    EXPECT_DOUBLE_EQ(compute.theft, .1);
    EXPECT_DOUBLE_EQ(compute.spin_theft, .2);

    ASSERT_EQ(file.scenario.background.size(), 2u);
    const Background& other = file.scenario.background[0];
    EXPECT_EQ(other.level, "top");
    EXPECT_DOUBLE_EQ(other.share, .25);
    EXPECT_DOUBLE_EQ(other.period_s, 1);
    EXPECT_DOUBLE_EQ(other.duty, .5);
    EXPECT_DOUBLE_EQ(other.rate_share, .75);
    EXPECT_DOUBLE_EQ(other.jitter, .1);

    const Pacing& pacing = file.scenario.pacing;
    EXPECT_DOUBLE_EQ(pacing.window_s, .002);
    EXPECT_DOUBLE_EQ(pacing.recipe_threshold, .05);
    EXPECT_DOUBLE_EQ(pacing.recipe_delay, .02);
    EXPECT_DOUBLE_EQ(pacing.control.latency_s, .001);
    EXPECT_DOUBLE_EQ(pacing.control.jitter_s, .002);
    EXPECT_DOUBLE_EQ(pacing.control.loss, .01);
    EXPECT_DOUBLE_EQ(pacing.control.interval_s, .05);
    EXPECT_EQ(pacing.tuning, "without=rate block_iterations=16");
}

TEST(TomlScenario, WhatItNamesIsReadFromBesideIt) {
    const Scenario s = read(valid / "a-fabric-from-a-file.toml").scenario;
    ASSERT_TRUE(s.fabric.read);
    EXPECT_EQ(s.fabric.nodes, 8u);
    EXPECT_EQ(s.fabric.read->host_count(), 8u);
    ASSERT_TRUE(s.node.topology);
    EXPECT_EQ(s.node.topology->gpus.size(), 8u);
    const Scenario job = read(valid / "a-replayed-job.toml").scenario;
    ASSERT_TRUE(job.compute.replay);
    EXPECT_EQ(job.compute.replay->ranks, 2u);
    EXPECT_EQ(job.compute.replay->compute_s, (std::vector<float>{.20F, .21F, .19F, .22F}));
}

TEST(TomlScenario, ACommandLineWins) {
    ScenarioOverrides overrides;
    overrides.node_counts = {2};
    overrides.seeds = 9;
    overrides.iterations = 77;
    overrides.fabric = test::data("plan/interleaved.conf").string();
    const Scenario s = read(valid / "only-schema.toml", overrides).scenario;
    EXPECT_EQ(s.node_counts, std::vector<std::uint32_t>{2});
    EXPECT_EQ(s.seeds, 9u);
    EXPECT_EQ(s.iterations, 77u);
    EXPECT_TRUE(s.fabric.read);

    // and is named where it is wrong
    overrides.node_counts = {4, 16};
    Diagnostics diagnostics;
    EXPECT_FALSE(parse_scenario("schema = 1\n", "x.toml", overrides, diagnostics));
    ASSERT_FALSE(diagnostics.entries().empty());
    EXPECT_EQ(diagnostics.entries().front().location.file, "--nodes") << format(diagnostics);
}

TEST(TomlScenario, TheHashIsOfWhatIsSaid) {
    const auto hash_of = [](std::string_view text) {
        Diagnostics diagnostics;
        const auto file = parse_scenario(text, "x.toml", {}, diagnostics);
        return file ? file->hash : format(diagnostics);
    };
    const std::string one = hash_of("schema = 1\nseeds = 3\n");
    EXPECT_EQ(hash_of("# a comment\nschema=1\n\nseeds  =  3  # three\n"), one);
    EXPECT_NE(hash_of("schema = 1\nseeds = 4\n"), one);
    EXPECT_NE(hash_of("schema = 1\nwarmup = 3\n"), one);
    EXPECT_NE(hash_of("schema = 1\nseeds = 3\nname = \"x\"\n"), one);
}

TEST(ComputeReplay, ATimelineIsSummedByThreadAndStep) {
    constexpr std::string_view timeline = "pid,process,tid,thread,op,step,model_chunk,mb_id,seq_id,start_us,duration_us\n"
                                          "1,DP rank [1],5,\"PP rank 0, TP rank 0, compute\",forward-compute,7,0,0,0,10,250000\n"
                                          "0,DP rank [0],0,\"PP rank 0, TP rank 0, compute\",forward-compute,7,0,0,0,0,100000.5\n"
                                          "0,DP rank [0],0,\"PP rank 0, TP rank 0, compute\",backward-compute,7,0,1,0,0,199999.5\n"
                                          "0,DP rank [0],1,\"PP rank 0, TP rank 0, pp-comm\",forward-send,7,0,0,0,0,999\n"
                                          "0,DP rank [0],0,\"PP rank 0, TP rank 0, compute\",gc,9,0,0,0,0,500000\n"
                                          "1,DP rank [1],5,\"PP rank 0, TP rank 0, compute\",forward-compute,9,0,0,0,10,250000\n"
                                          "0,DP rank [0],0,\"PP rank 0, TP rank 0, compute\",gc,11,0,0,0,0,1\n";
    Diagnostics diagnostics;
    const auto replay = parse_compute_replay(timeline, "t.csv", diagnostics);
    ASSERT_TRUE(replay) << format(diagnostics);
    EXPECT_EQ(replay->ranks, 2u);
    EXPECT_EQ(replay->compute_s, (std::vector<float>{.3F, .25F, .5F, .25F}));
    EXPECT_EQ(format(diagnostics), "t.csv: warning: step 11 is left out: 1 of 2 ranks compute in it\n");
}

TEST(ComputeReplay, AJobsReport) {
    report::Report job;
    job.compute.ranks = {0, 1};
    job.compute.ms = {20, 21.5, 22, 0};
    Diagnostics diagnostics;
    const auto replay = parse_compute_replay(to_json(job), "job.json", diagnostics);
    ASSERT_TRUE(replay) << format(diagnostics);
    EXPECT_EQ(replay->ranks, 2u);
    EXPECT_EQ(replay->compute_s, (std::vector<float>{.02F, .0215F, .022F, 1e-6F}));
    job.compute = {};
    EXPECT_FALSE(parse_compute_replay(to_json(job), "job.json", diagnostics));
    EXPECT_TRUE(format(diagnostics).starts_with("job.json: error: this report does not say what its ranks computed\n    hint: ")) << format(diagnostics);
    Diagnostics other;
    EXPECT_FALSE(parse_compute_replay("{\"a\": 1}", "job.json", other));
    EXPECT_EQ(format(other), "job.json: error: no report of ours: 'schema' is missing\n");
}

TEST(ComputeReplay, WhatIsNoneIsTold) {
    const auto said = [](std::string_view text) {
        Diagnostics diagnostics;
        EXPECT_FALSE(parse_compute_replay(text, "t.csv", diagnostics));
        return format(diagnostics);
    };
    EXPECT_EQ(said(""), "t.csv:1:1: error: there is no time in this file\n");
    EXPECT_EQ(said("0.1,0.2\n0.1\n0,x\n"), "t.csv:2:1: error: this line has 1 number, the first one has 2\nt.csv:3:1: error: '0' is no time above 0, in seconds\n");
    EXPECT_EQ(said("pid,tid,step\n"), "t.csv:1:1: error: this timeline has no column 'thread'\nt.csv:1:1: error: this timeline has no column 'duration_us'\n");
    EXPECT_EQ(said("\x1f\x8b\x08"), "t.csv: error: this file is compressed\n    hint: gunzip it first\n");
}

}  // namespace
}  // namespace paced::io
