// SPDX-License-Identifier: BSD-3-Clause
#include "policy/base/quantity.h"

#include <gtest/gtest.h>

namespace paced {
namespace {

TEST(Quantity, ReadsRatesAndSizes) {
    EXPECT_EQ(parse_rate("200mbit"), 200e6);
    EXPECT_EQ(parse_rate("1.5gbit"), 1.5e9);
    EXPECT_EQ(parse_rate("1tbit"), 1e12);
    EXPECT_EQ(parse_rate("0bit"), 0);
    EXPECT_EQ(parse_bytes("64KiB"), 65536);
    EXPECT_EQ(parse_bytes("60kB"), 60'000);
    EXPECT_EQ(parse_bytes("1.5MiB"), 1'572'864);
    EXPECT_EQ(parse_bytes("8B"), 8);
    EXPECT_DOUBLE_EQ(parse_seconds("5us").value_or(0), 5e-6);
    EXPECT_EQ(parse_seconds("10h"), 36'000);
}

TEST(Quantity, RefusesEverythingElse) {
    for (const char* text : {"", "200", "mbit", "-1mbit", "+1mbit", "1 mbit", "1mbit ", "1e3mbit", "nanmbit", "infmbit", "1.2.3mbit", "1Mbit", "1mb", "64KiB"})
        EXPECT_EQ(parse_rate(text), std::nullopt) << text;
    for (const char* text : {"64", "64K", "64kib", "64 KiB", "-1B", "64mbit"}) EXPECT_EQ(parse_bytes(text), std::nullopt) << text;
}

TEST(Quantity, PrintsRatesThatReadBack) {
    EXPECT_EQ(format_rate(200e6), "200mbit");
    EXPECT_EQ(format_rate(1.5e9), "1.5gbit");
    EXPECT_EQ(format_rate(400e9), "400gbit");
    EXPECT_EQ(format_rate(800), "800bit");
    EXPECT_EQ(format_rate(0), "0bit");
    for (const double rate : {1.0, 999.0, 1e3, 123.5e6, 25.5e12}) EXPECT_EQ(parse_rate(format_rate(rate)), rate);
}

}  // namespace
}  // namespace paced
