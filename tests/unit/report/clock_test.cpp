// SPDX-License-Identifier: BSD-3-Clause
#include "policy/report/clock.h"

#include <gtest/gtest.h>

namespace paced::report {
namespace {

TEST(Clock, TheLeadersOwnNeedsNothing) {
    const Clock clock;
    EXPECT_TRUE(clock.known());
    EXPECT_EQ(clock.to_leader(12345).ns, 12345);
    EXPECT_EQ(clock.to_leader(12345).error_ns, 0);
}

TEST(Clock, WithoutSamplesNothingIsKnown) {
    EXPECT_FALSE(Clock(std::vector<ClockSample>{}).known());
}

TEST(Clock, InterpolatesBetweenSamplesAndCarriesTheLargerError) {
    const Clock clock({{1'000'000'000, 500, 20}, {3'000'000'000, 700, 30}});
    EXPECT_EQ(clock.to_leader(2'000'000'000).ns, 2'000'000'600);
    EXPECT_EQ(clock.to_leader(2'000'000'000).error_ns, 30);
    EXPECT_EQ(clock.to_leader(1'000'000'000).ns, 1'000'000'500);
}

TEST(Clock, OutsideOfTheSamplesTheErrorGrowsBy30MicrosecondsASecond) {
    const Clock clock({{1'000'000'000, -500, 20}, {3'000'000'000, -700, 30}});
    EXPECT_EQ(clock.to_leader(5'000'000'000).ns, 4'999'999'300);
    EXPECT_EQ(clock.to_leader(5'000'000'000).error_ns, 30 + 60'000);
    EXPECT_EQ(clock.to_leader(0).ns, -500);
    EXPECT_EQ(clock.to_leader(0).error_ns, 20 + 30'000);
}

TEST(Clock, OneSampleIsConstantAndOrderDoesNotMatter) {
    EXPECT_EQ(Clock({{10, 7, 1}}).to_leader(10).ns, 17);
    const Clock shuffled({{3'000'000'000, 700, 30}, {1'000'000'000, 500, 20}});
    EXPECT_EQ(shuffled.to_leader(2'000'000'000).ns, 2'000'000'600);
}

TEST(Clock, ForgedSamplesAreLeftOut) {
    EXPECT_FALSE(Clock({{10, INT64_MAX, 1}}).known());
    EXPECT_FALSE(Clock({{10, 5, -1}}).known());
    EXPECT_FALSE(Clock({{UINT64_MAX, 5, 1}}).known());
}

}  // namespace
}  // namespace paced::report
