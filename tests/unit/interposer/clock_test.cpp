// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/interposer/exchange/clock.h"

#include <cmath>
#include <memory>
#include <random>

#include <gtest/gtest.h>

namespace paced::interposer {
namespace {

TEST(ClockPoint, OffsetAndBound) {
    // The leader's clock is 1000 ahead; 10 there, 4 at the leader, 30 back.
    const auto point = clock_point(100, 1110, 1114, 144);
    EXPECT_EQ(point.local_ns, 122u);
    EXPECT_EQ(point.offset_ns, 990);
    EXPECT_EQ(point.error_ns, 21);
    // behind
    EXPECT_EQ(clock_point(5000, 1010, 1010, 5020).offset_ns, -4000);
}

TEST(ClockPoint, TrueOffsetIsAlwaysWithinTheBound) {
    std::mt19937_64 random(1);
    for (int i = 0; i < 10000; ++i) {
        const std::int64_t offset = static_cast<std::int64_t>(random() % 2'000'000'000'000) - 1'000'000'000'000;
        const std::uint64_t t1 = 5'000'000'000'000 + random() % 1000, there = random() % 100'000, inside = random() % 1000, back = random() % 100'000;
        const std::uint64_t t2 = t1 + there + static_cast<std::uint64_t>(offset), t3 = t2 + inside, t4 = t1 + there + inside + back;
        const auto point = clock_point(t1, t2, t3, t4);
        ASSERT_LE(std::abs(point.offset_ns - offset), point.error_ns);
    }
}

TEST(ClockPoints, SpanTheWholeJobInFixedMemory) {
    const auto points = std::make_unique<ClockPoints>();
    for (std::uint64_t i = 0; i < 100'000; ++i) points->add({i, 0, 1});
    points->add_last({100'000, 0, 1});
    ASSERT_LE(points->count(), segment::clock_limit);
    ASSERT_GT(points->count(), segment::clock_limit / 2);
    EXPECT_EQ(points->data()[0].local_ns, 0u);
    EXPECT_EQ(points->data()[points->count() - 1].local_ns, 100'000u);
    for (std::uint32_t i = 1; i + 1 < points->count(); ++i) EXPECT_EQ(points->data()[i].local_ns - points->data()[i - 1].local_ns, 128u) << i;
}

}  // namespace
}  // namespace paced::interposer
