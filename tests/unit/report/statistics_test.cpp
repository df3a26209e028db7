// SPDX-License-Identifier: BSD-3-Clause
#include "policy/report/statistics.h"

#include <gtest/gtest.h>

#include "policy/report/ranges.h"
#include "policy/report/text_layout.h"

namespace paced::report {
namespace {

TEST(Statistics, PercentilesAreValuesThatWereMeasured) {
    std::vector<double> values;
    for (int i = 100; i >= 1; --i) values.push_back(i);
    EXPECT_EQ(percentile(values, .50), 50);
    EXPECT_EQ(percentile(values, .95), 95);
    EXPECT_EQ(percentile(values, .99), 99);
    EXPECT_EQ(percentile(values, 1), 100);
    std::vector<double> one{7}, none;
    EXPECT_EQ(percentile(one, .99), 7);
    EXPECT_EQ(percentile(none, .5), 0);
}

TEST(Statistics, CoefficientOfVariationIsOfTheSample) {
    EXPECT_DOUBLE_EQ(coefficient_of_variation(std::vector<double>{9, 10, 11}), .1);
    EXPECT_EQ(coefficient_of_variation(std::vector<double>{5}), 0);
    EXPECT_EQ(coefficient_of_variation(std::vector<double>{}), 0);
}

TEST(Statistics, ADistributionHasAllItsFigures) {
    const Distribution d = distribution_of({4, 1, 3, 2});
    EXPECT_EQ(d, (Distribution{4, 10, 2.5, 2, 4, 4, 4}));
    EXPECT_EQ(distribution_of({}), Distribution{});
}

TEST(Ranges, NumbersInFewCharacters) {
    EXPECT_EQ(compress_numbers(std::vector<int>{0, 1, 2, 3, 7}), "0-3,7");
    EXPECT_EQ(compress_numbers(std::vector<int>{0, 1, 5}), "0,1,5");
    EXPECT_EQ(compress_numbers(std::vector<int>{}), "");
    EXPECT_EQ(compress_numbers(std::vector<int>{0, 2, 4, 6}, 2), "0,2,...");
}

TEST(Layout, NumbersAsPeopleReadThem) {
    for (const auto& [ms, text] : std::vector<std::pair<double, std::string>>{
             {0, "0"}, {.0004, "0.4 us"}, {.0123, "12 us"}, {.9994, "999 us"}, {.9996, "1.00 ms"}, {3.214, "3.21 ms"}, {48.04, "48.0 ms"},
             {250.4, "250 ms"}, {999.6, "1.00 s"}, {61'230, "61.2 s"}, {123'000, "2 min 03 s"}, {11'220'000, "3 h 07 min"}})
        EXPECT_EQ(time_text(ms), text) << ms;
    for (const auto& [bytes, text] :
         std::vector<std::pair<double, std::string>>{{0, "0 B"}, {8, "8 B"}, {65536, "64 KiB"}, {1.5 * 1048576, "1.50 MiB"}, {1e15, "909 TiB"}})
        EXPECT_EQ(bytes_text(bytes), text) << bytes;
    for (const auto& [share, text] :
         std::vector<std::pair<double, std::string>>{{0, "0%"}, {1e-6, "<0.01%"}, {.0021, "0.21%"}, {.9712, "97.1%"}, {.9996, "100%"}, {1, "100%"}})
        EXPECT_EQ(percent_text(share), text) << share;
    EXPECT_EQ(shortened("abcdefgh", 6), "abc...");
}

TEST(Layout, WrapsAtBlanksAndNeverBreaksAWord) {
    Block block("head");
    block.add("label", std::string(60, 'a') + ' ' + std::string(40, 'b') + ' ' + std::string(120, 'c') + " d");
    EXPECT_EQ(block.take(), (std::vector<std::string>{"head", "  label       " + std::string(60, 'a'), "              " + std::string(40, 'b'),
                                                      "              " + std::string(120, 'c'), "              d"}));
}

TEST(Layout, TablesAlignAndLeaveNoBlanksBehind) {
    Block block("head");
    TextTable table({{"n", true}, {"name"}, {"x"}});
    table.add({"1", "long name", ""});
    table.add({"100", "b", "y"});
    block.add("t", table);
    EXPECT_EQ(block.take(), (std::vector<std::string>{"head", "  t             n  name       x", "                1  long name",
                                                      "              100  b          y"}));
}

}  // namespace
}  // namespace paced::report
