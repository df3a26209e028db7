// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "policy/report/html_page.h"
#include "policy/report/svg_charts.h"
#include "policy/report/svg_parts.h"
#include "policy/report/text_layout.h"

namespace paced::report {

namespace {

constexpr double width = 640, left = 70, right = 16, top = 28, bottom = 46;
constexpr double plot_right = width - right;

// Many ranks become thin lines, of which only some are named.
double row_height_of(std::size_t rows) { return rows <= 16 ? 16 : rows <= 64 ? 8 : std::max(1.0, 512.0 / static_cast<double>(rows)); }

}  // namespace

std::string svg_of(const Timeline& timeline) {
    double end = timeline.end_ms;
    if (end <= 0)
        for (const auto& row : timeline.rows)
            for (const auto& span : row.spans) end = std::max(end, span.end_ms);
    const svg::Ticks ticks = svg::ticks_from_zero(end);
    if (end <= 0) end = ticks.values.back();
    const auto x_of = [&](double ms) { return left + (plot_right - left) * std::clamp(ms / end, 0.0, 1.0); };
    const double row_height = row_height_of(timeline.rows.size());
    const double plot_bottom = top + row_height * static_cast<double>(timeline.rows.size());

    std::string picture = svg::open(width, plot_bottom + bottom, timeline.description);
    double x = left;
    for (const auto& kind : timeline.kinds) {
        picture += "<rect x=\"" + svg::px(x) + "\" y=\"4\" width=\"12\" height=\"12\" fill=\"" + html_escaped(kind.colour) + "\"/>\n" + svg::text(x + 17, 14, kind.name);
        x += 35 + 6.5 * static_cast<double>(columns_of(kind.name));
    }
    for (const double tick : ticks.values) {
        if (tick > end) break;
        picture += svg::line(x_of(tick), top, x_of(tick), plot_bottom, "grid");
        picture += svg::text(x_of(tick), plot_bottom + 18, svg::number(tick, ticks.decimals), svg::Anchor::middle, "label");
    }
    picture += svg::text((left + plot_right) / 2, plot_bottom + bottom - 8, "ms from the start of the iteration", svg::Anchor::middle, "label");

    const double bar = row_height * .85;
    double y = top, named = top - 2 * row_height - 12;
    for (const auto& row : timeline.rows) {
        if (y - named >= 12) {
            picture += svg::text(left - 6, y + row_height / 2 + 4, row.name, svg::Anchor::end, "label");
            named = y;
        }
        for (const auto& span : row.spans) {
            if (span.kind >= timeline.kinds.size() || !(span.end_ms > span.start_ms)) continue;
            const auto& kind = timeline.kinds[span.kind];
            picture += "<rect x=\"" + svg::px(x_of(span.start_ms)) + "\" y=\"" + svg::px(y + kind.top * bar) + "\" width=\"" + svg::px(x_of(span.end_ms) - x_of(span.start_ms)) + "\" height=\"" +
                       svg::px((kind.bottom - kind.top) * bar) + "\" fill=\"" + html_escaped(kind.colour) + "\">" +
                       svg::title(row.name + ", " + kind.name + ": " + time_text(span.end_ms - span.start_ms)) + "</rect>\n";
        }
        y += row_height;
    }
    return picture + "</svg>\n";
}

}  // namespace paced::report
