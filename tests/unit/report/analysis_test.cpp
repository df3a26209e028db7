// SPDX-License-Identifier: BSD-3-Clause
#include "policy/report/analysis.h"

#include <algorithm>
#include <ctime>
#include <random>

#include <gtest/gtest.h>

#include "tests/unit/report/synthetic.h"

namespace paced::report {
namespace {

using testing::play;
using testing::Played;
using testing::Program;

Report report_of(const Program& program) { return analyse(play(program).trace, {}); }

double sum_of(const Attribution& a) {
    return a.compute + a.service + a.persistent_straggler + a.transient_straggler + a.contention + a.locality + a.pacing + a.startup + a.unattributed;
}

TEST(Analysis, APersistentStragglerIsNamedWithItsCost) {
    for (int buckets : {1, 4}) {
        Program program;
        program.buckets = buckets;
        program.straggler = 5;
        program.straggler_ms = 20;
        const Report report = report_of(program);
        ASSERT_EQ(report.stragglers.size(), 1u) << buckets;
        const Straggler& straggler = report.stragglers[0];
        EXPECT_EQ(straggler.rank, 5);
        EXPECT_EQ(straggler.node, "n6");
        EXPECT_GT(straggler.last_share, .97);
        EXPECT_GT(straggler.lateness_share, .97);
        // 20 ms more than the mean rank; what the slowest of seven others would have taken anyhow is not its cost.
        EXPECT_NEAR(*straggler.cost_ms_per_iteration, 19.1, .3);
        EXPECT_GT(report.ranks[5].last_share, .97);
        EXPECT_LT(report.ranks[5].earliness_ms, .01);
        EXPECT_GT(report.attribution.persistent_straggler, 10 * report.attribution.transient_straggler);
    }
}

// A checkpoint or a slow end is no part of an iteration.
TEST(Analysis, WhatALateRankCostsAnIterationDoesNotDependOnTheRestOfTheJob) {
    Program program;
    program.straggler = 5;
    program.straggler_ms = 20;
    Trace trace = play(program).trace;
    for (NodeTrace& node : trace.nodes)
        for (RankTrace& rank : node.ranks) {
            CommunicatorTrace& communicator = rank.communicators.front();
            CollectiveRecord last = communicator.records.back();
            ++last.sequence;
            last.arrival_ns += 4'000'000'000;
            last.completion_ns += 4'000'000'000;
            last.operation = Operation::barrier;
            ++communicator.calls;
            ++communicator.calls_by_operation[Operation::barrier];
            communicator.records.push_back(last);
            rank.finished_ns += 4'000'000'000;
        }
    const Report report = analyse(trace, plans_for(program));
    ASSERT_EQ(report.stragglers.size(), 1u);
    EXPECT_NEAR(*report.stragglers[0].cost_ms_per_iteration, 19.1, .3);
}

TEST(Analysis, WithoutOneNobodyIsNamed) {
    Program program;
    const Report report = report_of(program);
    EXPECT_TRUE(report.stragglers.empty());
    EXPECT_EQ(report.attribution.persistent_straggler, 0);
    EXPECT_GT(report.attribution.transient_straggler, 0);
    for (const RankReport& rank : report.ranks) EXPECT_LT(rank.last_share, .35);
}

// The measures are known: wait from the arrivals that were played, service 2 ms.
TEST(Analysis, WaitAndServiceOfOneCollective) {
    Trace trace;
    trace.nodes.resize(1);
    trace.nodes[0].node = "n1";
    const std::uint64_t arrivals[] = {1'000'000, 4'000'000, 2'000'000};
    for (int r = 0; r < 3; ++r) {
        RankTrace rank;
        rank.rank = r;
        rank.world_size = 3;
        CommunicatorTrace communicator;
        communicator.id = 9;
        communicator.size = 3;
        communicator.calls = 1;
        communicator.bytes = 100;
        communicator.calls_by_operation[Operation::allreduce] = 1;
        communicator.records.push_back({0, arrivals[r], 6'000'000, 100, Operation::allreduce});
        rank.communicators.push_back(communicator);
        trace.nodes[0].ranks.push_back(rank);
    }
    const Report report = analyse(trace, {});
    ASSERT_EQ(report.communicators.size(), 1u);
    const CommunicatorReport& communicator = report.communicators[0];
    EXPECT_EQ(communicator.id, "0000000000000009");
    EXPECT_EQ(communicator.calls, 1u);
    EXPECT_EQ(communicator.bytes, 300u);
    EXPECT_EQ(communicator.wait, (Distribution{3, 5, 5.0 / 3, 2, 3, 3, 3}));
    EXPECT_EQ(communicator.service, (Distribution{1, 2, 2, 2, 2, 2, 2}));
    EXPECT_EQ(communicator.first, 1u);
    EXPECT_NEAR(report.attribution.startup, 5e-3 / 3, 1e-12);
    EXPECT_NEAR(report.attribution.service, 2e-3, 1e-12);
}

TEST(Analysis, ClocksApartAndDriftingChangeNothing) {
    Program program;
    program.straggler = 2;
    program.straggler_ms = 5;
    const Report straight = report_of(program);
    program.clock_offset_ms = 2500;
    program.clock_drift_ppm = 12;
    const Report skewed = report_of(program);
    ASSERT_EQ(skewed.stragglers.size(), 1u);
    EXPECT_EQ(skewed.stragglers[0].rank, 2);
    for (std::size_t r = 0; r < straight.ranks.size(); ++r)
        EXPECT_NEAR(skewed.ranks[r].earliness_ms, straight.ranks[r].earliness_ms, .02);
    EXPECT_LT(skewed.clock_error_ms, .02);
}

TEST(Analysis, WithoutClocksDurationsTell) {
    Program program;
    program.straggler = 2;
    program.straggler_ms = 5;
    program.clock_offset_ms = 2500;
    program.clocks_sampled = false;
    const Report report = report_of(program);
    ASSERT_EQ(report.stragglers.size(), 1u);
    EXPECT_EQ(report.stragglers[0].rank, 2);
    ASSERT_EQ(report.warnings.size(), 1u);
    EXPECT_EQ(report.warnings[0],
              "the clock of nodes n[2-8] could not be compared with the leader's: there lateness is worked out from durations, and "
              "contention is not seen");
}

TEST(Analysis, ClocksWorseThanTheServiceGiveWayToDurations) {
    Program program;
    program.straggler = 2;
    program.straggler_ms = 5;
    program.clock_error_us = 3000;
    const Report report = report_of(program);
    ASSERT_EQ(report.stragglers.size(), 1u);
    EXPECT_EQ(report.stragglers[0].rank, 2);
    EXPECT_NEAR(report.communicators[0].service.p50_ms, 2, .02);
    ASSERT_EQ(report.warnings.size(), 1u);
    EXPECT_EQ(report.warnings[0],
              "clocks of two nodes may differ by up to 6 ms: where that is long for a collective, lateness is worked out from durations");
}

TEST(Analysis, GroupsAreJudgedEachForItself) {
    Program program;
    program.groups = 2;
    program.straggler = 5;
    program.straggler_ms = 10;
    const Report report = report_of(program);
    ASSERT_EQ(report.communicators.size(), 2u);
    EXPECT_EQ(report.communicators[0].ranks, (std::vector{4, 5, 6, 7}));  // most time first
    EXPECT_EQ(report.communicators[1].ranks, (std::vector{0, 1, 2, 3}));
    ASSERT_EQ(report.stragglers.size(), 1u);
    EXPECT_EQ(report.stragglers[0].rank, 5);
}

// One rank leaves every fourth collective 40 ms late, another one each time: neither it nor anybody else is a straggler.
TEST(Analysis, ContentionIsNotLateness) {
    Program program;
    program.contended_every = 4;
    program.contended_ms = 40;
    const Report report = report_of(program);
    const CommunicatorReport& world = report.communicators[0];
    EXPECT_EQ(world.contended, 25u);
    EXPECT_EQ(world.inherited, 24u);  // what follows each, but for the last
    EXPECT_EQ(world.matched, 100u);
    EXPECT_EQ(world.late + world.tied + world.on_time + world.inherited + world.contended + world.first, world.matched);
    EXPECT_TRUE(report.stragglers.empty());
    // 25 x 40 ms on one of 8 ranks, and the 7 others wait for it in the next one (which the last time there is none).
    EXPECT_NEAR(report.attribution.contention, (25 * .040 + 24 * 7 * .040) / 8, .05);
}

// Rank 1 left the collective before 2 ms later than the others and comes last, though rank 2 took longer since: rank 1
// owes its place to the collective before. Without these 2 ms it would be late.
TEST(Analysis, AnInheritedLastPlaceIsNoLateness) {
    for (const bool given : {true, false}) {
        Trace trace;
        trace.nodes.resize(1);
        trace.nodes[0].node = "n1";
        const double left_ms[] = {100, given ? 102.0 : 100.0, 100}, came_ms[] = {110, 114.5, 113};
        for (int r = 0; r < 3; ++r) {
            const auto ns = [](double ms) { return static_cast<std::uint64_t>(ms * 1e6); };
            RankTrace rank;
            rank.rank = r;
            rank.world_size = 3;
            CommunicatorTrace communicator;
            communicator.id = 9;
            communicator.size = 3;
            communicator.calls = 3;
            communicator.records = {{0, ns(1), ns(2), 8, Operation::allreduce},
                                    {1, ns(50), ns(left_ms[r]), 8, Operation::allreduce},
                                    {2, ns(came_ms[r]), ns(120), 8, Operation::allreduce}};
            rank.communicators.push_back(communicator);
            trace.nodes[0].ranks.push_back(rank);
        }
        const Report report = analyse(trace, {});
        EXPECT_EQ(report.communicators[0].inherited, given ? 1u : 0u);
        EXPECT_EQ(report.communicators[0].late, given ? 0u : 1u);
        EXPECT_EQ(report.ranks[1].last_share, given ? 0 : 1);
    }
}

TEST(Analysis, ThePartsAddUpToTheElapsedTime) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        std::mt19937_64 random(seed);
        Program program;
        program.seed = seed;
        program.nodes = 1 + static_cast<int>(random() % 6);
        program.ranks_per_node = 1 + static_cast<int>(random() % 3);
        program.groups = program.nodes;
        program.buckets = 1 + static_cast<int>(random() % 4);
        program.straggler = static_cast<int>(random() % 4);
        program.straggler_ms = static_cast<double>(random() % 20);
        program.contended_every = static_cast<int>(random() % 5);
        program.contended_ms = 30;
        program.epilogue_reduces = static_cast<int>(random() % 5);
        program.keep_every = 1 + random() % 2;
        program.iterations = 400;
        program.silent_rank = random() % 3 == 0 ? 0 : -1;
        program.admitted_ms = static_cast<double>(random() % 3);
        const Report report = report_of(program);
        EXPECT_NEAR(sum_of(report.attribution), report.attribution.elapsed, 1e-9 * report.attribution.elapsed) << seed;
        for (double part : {report.attribution.compute, report.attribution.service, report.attribution.contention}) EXPECT_GE(part, 0) << seed;
    }
}

// A late rank costs the same whether or not those who wait are held meanwhile; what pacing adds beyond that is pacing's.
TEST(Analysis, WhatPacingAddsIsNeitherWaitingNorService) {
    Program program;
    program.nodes = 4;
    program.straggler = 2;
    program.straggler_ms = 10;
    program.clock_error_us = 0;
    const Report plain = report_of(program);
    program.admitted_ms = 3;
    const Report paced = report_of(program);
    EXPECT_EQ(plain.attribution.pacing, 0);
    EXPECT_NEAR(paced.attribution.pacing, 100 * .003, .001);
    EXPECT_NEAR(paced.attribution.service, plain.attribution.service, .01 * plain.attribution.service);
    EXPECT_NEAR(paced.attribution.persistent_straggler, plain.attribution.persistent_straggler, .02 * plain.attribution.persistent_straggler);
    EXPECT_NEAR(sum_of(paced.attribution), paced.attribution.elapsed, 1e-9);
    ASSERT_EQ(paced.stragglers.size(), 1u);
    EXPECT_NEAR(paced.stragglers[0].cost_s, plain.stragglers[0].cost_s, .02 * plain.stragglers[0].cost_s);
    EXPECT_NEAR(paced.communicators[0].service.p50_ms, plain.communicators[0].service.p50_ms, .02);
}

TEST(Analysis, TheOrderOfTheInputChangesNothing) {
    Program program;
    program.nodes = 4;
    program.ranks_per_node = 3;
    program.groups = 3;
    program.straggler = 7;
    program.straggler_ms = 4;
    program.contended_every = 7;
    program.contended_ms = 20;
    program.clock_offset_ms = 100;
    const Played played = play(program);
    const std::string expected = to_json(analyse(played.trace, testing::plans_for(program)));
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        std::mt19937_64 random(seed);
        Trace shuffled = played.trace;
        std::shuffle(shuffled.nodes.begin() + 1, shuffled.nodes.end(), random);
        for (NodeTrace& node : shuffled.nodes) {
            std::shuffle(node.ranks.begin(), node.ranks.end(), random);
            std::shuffle(node.clock.begin(), node.clock.end(), random);
            for (RankTrace& rank : node.ranks) std::shuffle(rank.communicators.begin(), rank.communicators.end(), random);
        }
        std::vector<JobPlan> plans = testing::plans_for(program);
        std::shuffle(plans.begin(), plans.end(), random);
        EXPECT_EQ(to_json(analyse(shuffled, plans)), expected) << seed;
    }
}

TEST(Analysis, KilledRanksOfGloo) {
    Program program;
    program.killed_after = 50;
    Trace trace = play(program).trace;
    for (NodeTrace& node : trace.nodes)
        for (RankTrace& rank : node.ranks) rank.library = "Gloo (libgloo.so.0)";
    EXPECT_EQ(analyse(trace, {}).warnings,
              (std::vector<std::string>{"no rank reached the end of its last Gloo context: the step was ended from outside or failed"}));
}

TEST(Analysis, KilledRanksAreToldAndTheRestStands) {
    Program program;
    program.killed_after = 50;
    const Report report = report_of(program);
    EXPECT_FALSE(report.finished);
    EXPECT_EQ(report.communicators[0].calls, 51u);
    EXPECT_EQ(report.communicators[0].matched, 50u);
    EXPECT_EQ(report.iterations.count, 49u);
    EXPECT_EQ(report.warnings, (std::vector<std::string>{"no rank reached MPI_Finalize: the step was ended from outside or failed"}));
}

TEST(Analysis, AMissingRankIsNamedAndNothingIsGuessed) {
    Program program;
    program.silent_rank = 3;
    Trace trace = play(program).trace;
    trace.nodes.erase(trace.nodes.begin() + 3);
    const Report report = analyse(trace, testing::plans_for(program));
    EXPECT_EQ(report.communicators[0].matched, 0u);
    EXPECT_EQ(report.iterations.count, 99u);
    EXPECT_EQ(report.attribution.transient_straggler, 0);
    EXPECT_EQ(report.warnings, (std::vector<std::string>{"nothing was heard of rank 3: lateness is worked out only where all ranks of a communicator "
                                                         "are known",
                                                         "no records came from node n4"}));
}

TEST(Analysis, RanksThatDisagreeAreTold) {
    Program program;
    Trace trace = play(program).trace;
    trace.nodes[6].ranks[0].communicators[0].records[17].operation = Operation::barrier;
    const Report report = analyse(trace, {});
    EXPECT_EQ(report.communicators[0].matched, 99u);
    EXPECT_EQ(report.warnings, (std::vector<std::string>{"communicator 0000000000001000, collective 17: rank 0 called allreduce, rank 6 barrier"}));
}

TEST(Analysis, ASampleStandsForTheWhole) {
    Program program;
    program.iterations = 6000;
    program.straggler = 1;
    program.straggler_ms = 3;
    const Report whole = report_of(program);
    program.keep_every = 4;
    const Report sample = report_of(program);
    EXPECT_EQ(sample.communicators[0].calls, 6000u);
    EXPECT_LT(sample.communicators[0].kept, 2000u);
    ASSERT_EQ(sample.stragglers.size(), 1u);
    EXPECT_NEAR(*sample.stragglers[0].cost_ms_per_iteration, *whole.stragglers[0].cost_ms_per_iteration, .05);
    EXPECT_NEAR(sample.iterations.mean_ms, whole.iterations.mean_ms, .05);
    EXPECT_NEAR(sample.attribution.persistent_straggler / sample.attribution.elapsed,
                whole.attribution.persistent_straggler / whole.attribution.elapsed, .005);
}

// Some ranks keep more blocks than others: what not all kept was no disturbance, and is left out.
TEST(Analysis, UnequalSamplesMatchOnWhatAllKept) {
    Program program;
    program.iterations = 2048;
    Trace trace = play(program).trace;
    auto& records = trace.nodes[2].ranks[0].communicators[0].records;
    std::erase_if(records, [](const CollectiveRecord& record) { return record.sequence / 256 % 2 != 0; });
    const Report report = analyse(trace, {});
    EXPECT_EQ(report.communicators[0].kept, 1024u);
    EXPECT_EQ(report.communicators[0].matched, 1024u);
    EXPECT_EQ(report.attribution.unattributed, 0);
}

TEST(Analysis, NothingAtAll) {
    const Report empty = analyse({}, {});
    EXPECT_TRUE(empty.ranks.empty());
    EXPECT_EQ(empty.iterations.remark, "no rank has recorded");
    EXPECT_EQ(empty.elapsed_s, 0);
    Program program;
    program.iterations = 0;
    const Report idle = report_of(program);
    EXPECT_EQ(idle.ranks.size(), 8u);
    EXPECT_EQ(idle.iterations.remark, "no collectives were recorded");
    program.nodes = 1;
    program.iterations = 50;
    const Report alone = report_of(program);
    EXPECT_EQ(alone.communicators[0].matched, 0u);
    EXPECT_EQ(alone.iterations.count, 49u);
}

TEST(Analysis, RecordingIsPricedWhereThePriceIsKnown) {
    Program program;
    const Trace trace = play(program).trace;
    const Report report = analyse(trace, {}, {.recorder_ns_per_call = 100});
    EXPECT_EQ(report.overhead.recorder_calls, 800u);
    EXPECT_NEAR(report.overhead.percent, 100 * 800 * 100e-9 / 8 / report.elapsed_s, 1e-9);
    EXPECT_FALSE(analyse(trace, {}).overhead.ns_per_call);
}

// Torn or forged records must not get further than being left out; run under the sanitizers.
TEST(Analysis, AnyNumbersMayCome) {
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        std::mt19937_64 random(seed);
        Program program;
        program.iterations = 40;
        program.nodes = 3;
        Trace trace = play(program).trace;
        const auto wild = [&]() -> std::uint64_t {
            switch (random() % 4) {
                case 0: return random();
                case 1: return UINT64_MAX - random() % 4;
                case 2: return 0;
                default: return random() % 100;
            }
        };
        for (NodeTrace& node : trace.nodes) {
            for (ClockSample& sample : node.clock)
                if (random() % 2 == 0) sample = {wild(), static_cast<std::int64_t>(wild()), static_cast<std::int64_t>(wild())};
            for (RankTrace& rank : node.ranks) {
                if (random() % 4 == 0) rank.rank = static_cast<int>(wild());
                if (random() % 4 == 0) rank.started_ns = wild();
                if (random() % 4 == 0) rank.world_size = static_cast<int>(wild() % 5000);
                for (CommunicatorTrace& communicator : rank.communicators) {
                    if (random() % 4 == 0) communicator.size = static_cast<std::uint32_t>(wild());
                    for (CollectiveRecord& record : communicator.records)
                        if (random() % 8 == 0)
                            record = {wild(), wild(), wild(), wild(), static_cast<Operation>(random() % operation_count)};
                }
            }
        }
        const Report report = analyse(trace, {});
        EXPECT_TRUE(parse_report(to_json(report))) << seed;
    }
}

TEST(Analysis, AMillionRecordsAreQuick) {
    Program program;
    program.nodes = 64;
    program.iterations = 15'625;
    const Trace trace = play(program).trace;
    const std::clock_t begin = std::clock();  // processor time: a busy machine is no slower a program
    const Report report = analyse(trace, {});
    const double took = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    EXPECT_EQ(report.communicators[0].matched, 15'625u);
    EXPECT_LT(took, 30);  // about one; sanitizers get room
    RecordProperty("seconds", std::to_string(took));
}

}  // namespace
}  // namespace paced::report
