// SPDX-License-Identifier: BSD-3-Clause
#include "policy/pacing/ratio.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/unit/pacing/simulated_job.h"

namespace paced::pacing::test {
namespace {

TEST(Student, QuantilesAreThoseOfTheTables) {
    EXPECT_NEAR(student_95(1), 12.706, 1e-3);
    EXPECT_NEAR(student_95(10), 2.228, 1e-3);
    EXPECT_NEAR(student_95(11), 2.201, 1e-3);
    EXPECT_NEAR(student_95(30), 2.042, 1e-3);
    EXPECT_NEAR(student_95(1000000), 1.960, 1e-3);
}

TEST(RatioOfMeans, SaysPercentOfThroughput) {
    RatioOfMeans ratio;
    double value = 1, low = 1, high = 1;
    EXPECT_FALSE(ratio.percent(value, low, high));
    EXPECT_EQ(value, 0);
    ratio.add(120, 100);
    EXPECT_FALSE(ratio.percent(value, low, high));
    EXPECT_NEAR(value, 20, 1e-9);
    ratio.add(130, 100);
    ratio.add(110, 100);
    EXPECT_TRUE(ratio.percent(value, low, high));
    EXPECT_NEAR(value, 20, 1e-9);
    // sd of 120, 130, 110 over 120, over sqrt(3), times 4.303
    const double half = 4.303 * (10.0 / 120) / std::sqrt(3.0);
    EXPECT_NEAR(low, 100 * (1.2 * std::exp(-half) - 1), 1e-6);
    EXPECT_NEAR(high, 100 * (1.2 * std::exp(half) - 1), 1e-6);
}

TEST(RatioOfMeans, WhatBothShareIsNoUncertainty) {
    RatioOfMeans ratio;
    for (const double level : {50.0, 100.0, 200.0, 400.0}) ratio.add(1.1 * level, level);
    double value = 0, low = 0, high = 0;
    EXPECT_TRUE(ratio.percent(value, low, high));
    EXPECT_NEAR(low, 10, 1e-4);
    EXPECT_NEAR(high, 10, 1e-4);
}

TEST(RatioOfMeans, HoldsTheTruthInNearly95Percent) {
    std::uint32_t held = 0;
    for (std::uint32_t run = 0; run < 1000; ++run) {
        Draws draws(run + 1);
        RatioOfMeans ratio;
        // blocks of eight iterations of CV 0.7 and 0.3
        for (int i = 0; i < 20; ++i) ratio.add(120 * std::exp(0.24 * draws.normal() - 0.0288), 100 * std::exp(0.1 * draws.normal() - 0.005));
        double value = 0, low = 0, high = 0;
        ratio.percent(value, low, high);
        held += low <= 20 && 20 <= high;
    }
    EXPECT_GE(held, 925u);
    EXPECT_LE(held, 975u);
}

TEST(Moments, AreThoseOfAllIterationsTogether) {
    const std::vector<std::vector<double>> blocks = {{10, 12, 14}, {20, 20}, {5, 15, 25, 35}};
    Moments moments;
    double n = 0, sum = 0, squares = 0;
    for (const auto& block : blocks) {
        double block_sum = 0, block_squares = 0;
        for (const double t : block) {
            block_sum += t;
            block_squares += t * t;
        }
        const double count = static_cast<double>(block.size()), mean = block_sum / count;
        moments.add(count, mean, std::sqrt(block_squares / count - mean * mean) / mean);
        n += count;
        sum += block_sum;
        squares += block_squares;
    }
    EXPECT_NEAR(moments.mean(), sum / n, 1e-9);
    EXPECT_NEAR(moments.cv(), std::sqrt(squares / n - sum / n * sum / n) / (sum / n), 1e-9);
    moments.add(0, 1, 1);
    moments.add(5, std::nan(""), 0);
    EXPECT_NEAR(moments.mean(), sum / n, 1e-9);
}

}  // namespace
}  // namespace paced::pacing::test
