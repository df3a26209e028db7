// SPDX-License-Identifier: BSD-3-Clause
#include "policy/pacing/off_window.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/pacing/simulated_job.h"

namespace paced::pacing::test {
namespace {

Observation block(double mean_ms, double cv = 0.05) {
    Observation seen;
    seen.valid = true;
    seen.iterations = 8;
    seen.mean_ns = mean_ms * 1e6;
    seen.log_mean = std::log(seen.mean_ns);
    seen.cv = cv;
    seen.service_ns = seen.mean_ns / 5;
    seen.longest_service_ns = seen.service_ns * 1.2;
    return seen;
}

TEST(Signature, QuietBlocksShowNothing) {
    OffWindow off;
    for (int i = 0; i < 100; ++i) off.add(block(100));
    const Signature seen = off.signature(four_groups(), Tuning());
    EXPECT_FALSE(seen.congested || seen.retransmits || seen.waits);
    EXPECT_EQ(seen.foreign_blocks, 0);
}

TEST(Signature, RetransmissionsCountWhereCallsTakeTime) {
    OffWindow off, instant, few;
    Observation seen = block(100);
    seen.retransmissions = seen.iterations - 1;  // fewer than one an iteration: any network has those
    few.add(seen);
    EXPECT_FALSE(few.signature(four_groups(), Tuning()).retransmits);
    seen.retransmissions = seen.iterations;
    off.add(seen);
    seen.service_ns = 1000;
    seen.longest_service_ns = 2000;
    instant.add(seen);
    EXPECT_TRUE(off.signature(four_groups(), Tuning()).retransmits);
    EXPECT_FALSE(instant.signature(four_groups(), Tuning()).retransmits);
}

TEST(Signature, InflationNeedsNoCounters) {
    OffWindow off;
    Observation seen = block(100);
    seen.longest_service_ns = 200e6;
    for (int i = 0; i < 3; ++i) off.add(seen);
    EXPECT_TRUE(off.signature(four_groups(), Tuning()).congested);
    EXPECT_FALSE(off.signature(four_groups(), Tuning()).retransmits);
}

TEST(Signature, WaitingCountsWhereItCostsOthers) {
    OffWindow off;
    Observation seen = block(100);
    seen.earliness_ns = 10e6;
    off.add(seen);
    Facts facts = four_groups();
    EXPECT_FALSE(off.signature(facts, Tuning()).waits);
    facts.pays_for_waiting = true;
    EXPECT_TRUE(off.signature(facts, Tuning()).waits);
}

TEST(OffWindow, OneBadBlockIsSevereOnlyBeyondTheNoise) {
    OffWindow quiet, noisy;
    Draws draws(1);
    for (int i = 0; i < 16; ++i) {
        quiet.add(block(100 * (1 + 0.005 * draws.normal()), 0.02));
        noisy.add(block(100 * std::exp(0.25 * draws.normal()), 0.7));
    }
    EXPECT_FALSE(quiet.is_severe(block(108), Tuning()));
    EXPECT_TRUE(quiet.is_severe(block(115), Tuning()));
    EXPECT_FALSE(noisy.is_severe(block(150), Tuning()));
    EXPECT_TRUE(noisy.is_severe(block(1000), Tuning()));
    EXPECT_FALSE(OffWindow().is_severe(block(1e6), Tuning()));
}

TEST(OffWindow, DeviationIsThatOfABlock) {
    OffWindow off;
    Draws draws(1);
    for (int i = 0; i < 8; ++i) off.add(block(100 * std::exp(0.2 * draws.normal()), 0.2 * std::sqrt(8.0)));
    EXPECT_NEAR(off.deviation(8), 0.2, 0.08);
    EXPECT_NEAR(off.deviation(2), 2 * off.deviation(8), 1e-9);
}

TEST(Straggler, IsPersistentAndCosts) {
    OffWindow persistent, passing, cheap;
    for (std::uint32_t i = 0; i < 8; ++i) {
        Observation seen = block(100);
        seen.straggler_ns = 3e6;
        cheap.add(seen);
        seen.straggler_ns = 10e6;
        persistent.add(seen);
        if (i % 2) seen.straggler_ns = 0;
        passing.add(seen);
        EXPECT_EQ(persistent.has_straggler(Tuning()), i + 1 >= OffWindow::straggler_blocks);
        EXPECT_EQ(persistent.suspects_straggler(Tuning()), i + 1 < OffWindow::straggler_blocks);
    }
    EXPECT_FALSE(passing.has_straggler(Tuning()));
    EXPECT_FALSE(cheap.has_straggler(Tuning()));
}

TEST(ForeignPeriod, FindsTheBeatAndNoOther) {
    for (const std::uint32_t period : {3u, 5u, 8u, 12u}) {
        ForeignPeriod foreign;
        Draws draws(period);
        for (std::uint32_t i = 0; i < 128; ++i) foreign.add(20e6 * std::exp(0.3 * std::sin(2 * M_PI * i / period) + 0.1 * draws.normal()));
        EXPECT_EQ(foreign.blocks(), period);
    }
}

TEST(ForeignPeriod, NoiseAndDriftHaveNone) {
    std::uint32_t found = 0;
    for (std::uint32_t run = 0; run < 100; ++run) {
        ForeignPeriod white, red, drift;
        Draws draws(run + 1);
        double state = 0;
        for (std::uint32_t i = 0; i < 200; ++i) {
            state = 0.9 * state + draws.normal();
            white.add(20e6 * std::exp(0.2 * draws.normal()));
            red.add(20e6 * std::exp(0.1 * state));
            drift.add(20e6 * std::exp(0.01 * i));
            found += white.blocks() > 0;
        }
        EXPECT_EQ(drift.blocks(), 0);
    }
    EXPECT_LE(found, 100u * 200u / 100u);
}

}  // namespace
}  // namespace paced::pacing::test
