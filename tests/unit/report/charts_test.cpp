// SPDX-License-Identifier: BSD-3-Clause
#include "policy/report/svg_charts.h"

#include <limits>

#include <gtest/gtest.h>

#include "policy/report/html_page.h"
#include "policy/report/svg_parts.h"

namespace paced::report {
namespace {

TEST(Charts, TicksAreRoundAndReachTheHighest) {
    EXPECT_EQ(svg::ticks_from_zero(10).values, (std::vector<double>{0, 2, 4, 6, 8, 10}));
    EXPECT_EQ(svg::ticks_from_zero(10).decimals, 0);
    EXPECT_EQ(svg::ticks_from_zero(.22).values.size(), 6u);
    EXPECT_EQ(svg::ticks_from_zero(.22).decimals, 2);
    EXPECT_EQ(svg::ticks_from_zero(12).values.back(), 12.5);
    EXPECT_EQ(svg::ticks_from_zero(12).decimals, 1);
    for (const double highest : {1e-9, .003, .7, 1.0, 9.99, 10.01, 1234.0, 6.02e23}) {
        const svg::Ticks ticks = svg::ticks_from_zero(highest);
        EXPECT_EQ(ticks.values.front(), 0) << highest;
        EXPECT_GE(ticks.values.back(), highest * (1 - 1e-9)) << highest;
        EXPECT_LE(ticks.values.back(), 1.6 * highest) << highest;
        EXPECT_LE(ticks.values.size(), 8u) << highest;
    }
    EXPECT_EQ(svg::ticks_over(-3, 7).values, (std::vector<double>{-4, -2, 0, 2, 4, 6, 8}));
    EXPECT_EQ(svg::ticks_over(-10, -2).values, (std::vector<double>{-10, -8, -6, -4, -2, 0}));
    for (const double nothing : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) EXPECT_EQ(svg::ticks_from_zero(nothing).values.back(), 1) << nothing;
}

TEST(Charts, NamesDoNotLieOverOneAnother) {
    EXPECT_EQ(svg::spread_out({10, 50}, 14, 0, 100), (std::vector<double>{10, 50}));
    EXPECT_EQ(svg::spread_out({50, 50, 10}, 14, 0, 100), (std::vector<double>{50, 64, 10}));
    EXPECT_EQ(svg::spread_out({99, 98}, 14, 0, 100), (std::vector<double>{100, 86}));
}

TEST(Charts, HtmlIsEscaped) {
    EXPECT_EQ(html_escaped("a<b> & \"c\"\x1b"), "a&lt;b&gt; &amp; &quot;c&quot;?");
    LineChart chart;
    chart.description = "<x>";
    chart.series.push_back({"a&b", "#000\"", false, {{1, 2, 2, 2, "<one>"}}});
    const std::string picture = svg_of(chart);
    EXPECT_EQ(picture.find("<x>"), std::string::npos);
    EXPECT_EQ(picture.find("a&b"), std::string::npos);
    EXPECT_EQ(picture.find("<one>"), std::string::npos);
    EXPECT_EQ(picture.find("#000\"\""), std::string::npos);
}

TEST(Charts, NothingToDraw) {
    EXPECT_TRUE(svg_of(LineChart{}).ends_with("</svg>\n"));
    EXPECT_TRUE(svg_of(BarChart{}).ends_with("</svg>\n"));
    EXPECT_TRUE(svg_of(Timeline{}).ends_with("</svg>\n"));
}

// Points stand higher the more they are, and doublings are equally far apart.
TEST(Charts, PlacesFollowTheValues) {
    LineChart chart;
    chart.log_x = true;
    chart.series.push_back({"a", "#000000", false, {{4, 1, 1, 1, ""}, {8, 2, 2, 2, ""}, {16, 4, 4, 4, ""}}});
    const std::string picture = svg_of(chart);
    std::vector<double> x, y;
    for (std::size_t at = picture.find("<circle cx=\""); at != std::string::npos; at = picture.find("<circle cx=\"", at + 1)) {
        x.push_back(std::stod(picture.substr(at + 12)));
        y.push_back(std::stod(picture.substr(picture.find("cy=\"", at) + 4)));
    }
    ASSERT_EQ(x.size(), 4u);  // the last one stands before the name
    EXPECT_NEAR(x[1] - x[0], x[2] - x[1], .11);
    EXPECT_NEAR(y[0] - y[1], 286.0 / 4, .11);  // the plot's height over the highest tick
    EXPECT_NEAR(y[1] - y[2], 286.0 / 2, .11);
}

TEST(Charts, ATimelinesSpansAreAsLongAsTheyLast) {
    Timeline timeline;
    timeline.kinds = {{"compute", "#111111"}, {"transfer", "#222222"}};
    timeline.rows = {{"rank 0", {{0, 0, 5}, {1, 5, 10}, {1, 10, 10}, {7, 0, 1}}}};
    const std::string picture = svg_of(timeline);
    const auto width_of = [&](const std::string& title) {
        const std::size_t end = picture.find("<title>" + title);
        if (end == std::string::npos) return 0.0;
        const std::size_t start = picture.rfind("width=\"", end);
        return std::stod(picture.substr(start + 7));
    };
    EXPECT_NEAR(width_of("rank 0, compute: 5.00 ms"), 277, .11);
    EXPECT_NEAR(width_of("rank 0, transfer: 5.00 ms"), 277, .11);
    std::size_t spans = 0;
    for (std::size_t at = picture.find("<title>"); at != std::string::npos; at = picture.find("<title>", at + 1)) ++spans;
    EXPECT_EQ(spans, 2u);  // none without length, none of a kind that is not there
}

}  // namespace
}  // namespace paced::report
