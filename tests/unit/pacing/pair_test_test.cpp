// SPDX-License-Identifier: BSD-3-Clause
#include "policy/pacing/pair_test.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tests/unit/pacing/simulated_job.h"

namespace paced::pacing::test {
namespace {

using Draw = std::function<double(Draws&, std::uint32_t)>;

// how many of `runs` ever reach 1/error within `pairs`
std::uint32_t ever_rejected(const Draw& draw, double shift, double error, std::uint32_t pairs, std::uint32_t runs) {
    std::uint32_t rejected = 0;
    for (std::uint32_t run = 0; run < runs; ++run) {
        Draws draws(run + 1);
        PairTest test;
        test.clear(1, {PairTest::Side::above, 0});
        for (std::uint32_t i = 0; i < pairs; ++i) {
            test.add(draw(draws, i) + shift);
            if (test.log_wealth() < std::log(1 / error)) continue;
            ++rejected;
            break;
        }
    }
    return rejected;
}

double normal(Draws& draws, std::uint32_t) { return draws.normal(); }
// no variance, no mean
double cauchy(Draws& draws, std::uint32_t) { return std::tan(M_PI * (draws.uniform() - 0.5)); }
// light, with rare large events on either side
double rare(Draws& draws, std::uint32_t) { return 0.05 * draws.normal() + (draws.uniform() < 0.05 ? draws.normal() * 3 : 0); }
// noise that grows while one looks
double growing(Draws& draws, std::uint32_t i) { return draws.normal() * (1 + i); }

TEST(PairTest, IsValidUnderPeekingForAnySymmetricNoise) {
    for (const Draw& draw : {Draw(normal), Draw(cauchy), Draw(rare), Draw(growing)}) EXPECT_LE(ever_rejected(draw, 0, 0.05, 200, 2000), 100u);
}

TEST(PairTest, HasPowerFromFewPairsToMany) {
    EXPECT_GE(ever_rejected(normal, 2, 0.02, 12, 200), 190u);
    EXPECT_GE(ever_rejected(normal, 1, 0.02, 25, 200), 180u);
    EXPECT_GE(ever_rejected(normal, 0.5, 0.02, 100, 200), 180u);
    EXPECT_LE(ever_rejected(normal, -0.5, 0.02, 100, 200), 1u);
}

TEST(PairTest, FactorIsNeverBelowTheSelfNormalisedOne) {
    // one pair: W = mean over bets of 1 + tanh(r D / s)
    for (const double d : {-3.0, -1.0, -0.1, 0.0, 0.1, 1.0, 3.0}) {
        PairTest test;
        test.clear(1, {PairTest::Side::above, 0});
        test.add(d);
        double exact = 0, normalised = 0;
        for (const double r : {0.4, 0.9, 2.0}) {
            exact += (1 + std::tanh(r * d)) / 3;
            normalised += std::exp(r * d - r * r * d * d / 2) / 3;
        }
        EXPECT_NEAR(std::exp(test.log_wealth()), exact, 1e-9);
        EXPECT_GE(exact, normalised - 1e-12);
    }
}

TEST(PairTest, SidesAndShiftsMirrorEachOther) {
    PairTest above, below;
    above.clear(0.2, {PairTest::Side::above, 0.1});
    below.clear(0.2, {PairTest::Side::below, -0.1});
    Draws draws(3);
    for (int i = 0; i < 50; ++i) {
        const double d = 0.3 * draws.normal() + 0.2;
        above.add(d);
        below.add(-d);
    }
    EXPECT_NEAR(above.log_wealth(), below.log_wealth(), 1e-6);
    EXPECT_NEAR(above.mean(), -below.mean(), 1e-12);
}

TEST(PairTest, BoundsHoldTheShiftAtAllTimes) {
    std::uint32_t missed = 0;
    double width = 0;
    for (std::uint32_t run = 0; run < 400; ++run) {
        Draws draws(run + 1);
        PairTest test;
        test.clear(0.25, {PairTest::Side::above, 0});
        bool out = false;
        for (int i = 0; i < 60; ++i) {
            test.add(0.2 + 0.25 * draws.normal());
            if (i % 6 != 5) continue;
            const PairTest::Bounds bounds = test.bounds(0.05);
            EXPECT_LT(bounds.low, test.mean());
            EXPECT_GT(bounds.high, test.mean());
            out = out || bounds.low > 0.2 || bounds.high < 0.2;
            if (i == 59) width += (bounds.high - bounds.low) / 400;
        }
        missed += out;
    }
    EXPECT_LE(missed, 20u);
    // a fixed-sample interval of 60 such pairs is 0.127 wide; peeking costs, but not twice as much again
    EXPECT_LT(width, 0.127 * 2);
}

TEST(PairTest, ForgetsTheOlderHalfWhenFull) {
    PairTest test;
    test.clear(1, {PairTest::Side::above, 0});
    for (std::uint32_t i = 0; i < pair_limit; ++i) test.add(-1);
    EXPECT_LT(test.log_wealth(), -100);
    for (std::uint32_t i = 0; i < 2 * pair_limit; ++i) test.add(1);
    EXPECT_LE(test.count(), pair_limit);
    EXPECT_NEAR(test.mean(), 1, 1e-6);
    EXPECT_GT(test.log_wealth(), 0);
}

TEST(PairTest, TakesNoNonsense) {
    PairTest test;
    test.clear(std::nan(""), {PairTest::Side::above, 0});
    for (const double d : {std::nan(""), HUGE_VAL, -HUGE_VAL}) test.add(d);
    EXPECT_EQ(test.count(), 0u);
    EXPECT_EQ(test.log_wealth(), 0);
    test.add(0);
    test.add(0);
    EXPECT_TRUE(std::isfinite(test.log_wealth()));
    EXPECT_GT(test.deviation(), 0);
}

}  // namespace
}  // namespace paced::pacing::test
