// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "policy/report/html_page.h"
#include "policy/report/svg_charts.h"
#include "policy/report/svg_parts.h"

namespace paced::report {

namespace {

constexpr double width = 640, left = 80, right = 96, top = 8, bottom = 46, bar_height = 16, bar_gap = 3, head_height = 18, group_gap = 12;
constexpr double plot_right = width - right;

}  // namespace

std::string svg_of(const BarChart& chart) {
    double highest = 0, plot_bottom = top;
    for (const auto& group : chart.groups) {
        plot_bottom += static_cast<double>(group.bars.size()) * (bar_height + bar_gap) + head_height + group_gap;
        for (const auto& bar : group.bars) highest = std::max(highest, bar.value);
    }
    const svg::Ticks ticks = svg::ticks_from_zero(highest);
    const auto x_of = [&](double value) { return left + (plot_right - left) * std::max(value, 0.0) / ticks.values.back(); };

    const double height = plot_bottom + bottom;
    std::string picture = svg::open(width, height, chart.description);
    for (const double tick : ticks.values) {
        picture += svg::line(x_of(tick), top, x_of(tick), plot_bottom, tick == 0 ? "axis" : "grid");
        picture += svg::text(x_of(tick), plot_bottom + 18, svg::number(tick, ticks.decimals), svg::Anchor::middle, "label");
    }
    picture += svg::text((left + plot_right) / 2, height - 8, chart.x_title, svg::Anchor::middle, "label");

    double y = top;
    for (const auto& group : chart.groups) {
        picture += svg::text(left + 4, y + 13, group.name);
        y += head_height;
        for (const auto& bar : group.bars) {
            picture += svg::text(left - 6, y + 12, bar.name, svg::Anchor::end, "label");
            picture += "<rect x=\"" + svg::px(left) + "\" y=\"" + svg::px(y) + "\" width=\"" + svg::px(x_of(bar.value) - left) + "\" height=\"" + svg::px(bar_height) + "\" fill=\"" +
                       html_escaped(bar.colour) + "\">" + svg::title(group.name + ", " + bar.name + ": " + bar.label) + "</rect>\n";
            picture += svg::text(x_of(bar.value) + 5, y + 12, bar.label);
            y += bar_height + bar_gap;
        }
        y += group_gap;
    }
    return picture + "</svg>\n";
}

}  // namespace paced::report
