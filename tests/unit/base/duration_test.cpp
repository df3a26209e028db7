// SPDX-License-Identifier: BSD-3-Clause
#include "policy/base/duration.h"

#include <gtest/gtest.h>

namespace paced {
namespace {

TEST(Duration, ParsesANumberWithAUnit) {
    const struct {
        const char* text;
        long long ns;
    } cases[] = {{"0", 0},          {"0ms", 0},           {"1ns", 1},           {"500us", 500'000},
                 {"2ms", 2'000'000}, {"1.5ms", 1'500'000}, {"0.001us", 1},       {"1s", 1'000'000'000},
                 {".5s", 500'000'000}, {"1.s", 1'000'000'000}, {"3600s", 3'600'000'000'000}};
    for (const auto& c : cases) {
        const auto parsed = parse_duration(c.text);
        ASSERT_TRUE(parsed.has_value()) << c.text;
        EXPECT_EQ(parsed->count(), c.ns) << c.text;
    }
}

TEST(Duration, RefusesEverythingElse) {
    for (const char* text : {"", "5", "ms", "-1ms", "+1ms", "1 ms", " 1ms", "1ms ", "1e3us", "inf", "infs", "nans", "1.2.3ms", ".ms", "0x1ms",
                             "1MS", "1m", "1h", "3601s", "99999999999999999999s", "auto"})
        EXPECT_EQ(parse_duration(text), std::nullopt) << text;
}

TEST(Duration, PrintsTheShortestExactForm) {
    const struct {
        long long ns;
        const char* text;
    } cases[] = {{0, "0"},          {1, "1ns"},         {999, "999ns"},         {1'000, "1us"},
                 {1'500, "1.5us"},  {500'000, "500us"}, {1'500'000, "1.5ms"},   {1'000'001, "1000.001us"},
                 {2'000'000, "2ms"}, {1'234'567, "1234.567us"}, {1'050'000'000, "1.05s"}, {60'000'000'000, "60s"}};
    for (const auto& c : cases) EXPECT_EQ(format_duration(Nanoseconds{c.ns}), c.text);
}

TEST(Duration, WhatIsPrintedReadsBackTheSame) {
    for (long long ns = 1; ns < 3'000'000'000'000; ns = ns * 7 + 3) {
        const Nanoseconds duration{ns};
        EXPECT_EQ(parse_duration(format_duration(duration)), duration) << ns;
    }
}

}  // namespace
}  // namespace paced
