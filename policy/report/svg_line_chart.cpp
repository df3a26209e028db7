// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "policy/report/html_page.h"
#include "policy/report/svg_charts.h"
#include "policy/report/svg_parts.h"

namespace paced::report {

namespace {

constexpr double width = 640, height = 360, left = 64, right = 110, top = 28, bottom = 46;
constexpr double plot_right = width - right, plot_bottom = height - bottom;
constexpr double label_gap = 14;    // between the names of two curves
constexpr double least_apart = 34;  // of two numbers on the axis
// Curves stand this far beside each other, and all of them together so far, so that their intervals can be told apart.
constexpr double beside = 5, all_beside = 12;

class Drawing {
public:
    explicit Drawing(const LineChart& chart) : chart_(chart) {
        double lowest = 0, highest = 0;
        for (const auto& series : chart.series) {
            for (const auto& point : series.points) {
                lowest = std::min({lowest, point.y, point.low});
                highest = std::max({highest, point.y, point.high});
                places_.push_back(place(point.x));
                xs_.push_back(point.x);
            }
        }
        std::sort(xs_.begin(), xs_.end());
        xs_.erase(std::unique(xs_.begin(), xs_.end()), xs_.end());
        if (!places_.empty()) {
            low_ = *std::min_element(places_.begin(), places_.end());
            high_ = *std::max_element(places_.begin(), places_.end());
        }
        y_ticks_ = svg::ticks_over(lowest, highest);
    }

    std::string text() {
        std::string picture = svg::open(width, height, chart_.description);
        picture += axes();
        std::vector<double> label_places;
        for (std::size_t i = 0; i < chart_.series.size(); ++i) {
            picture += curve(i);
            const auto& points = chart_.series[i].points;
            label_places.push_back(points.empty() ? plot_bottom : y_of(points.back().y) + 4);
        }
        label_places = svg::spread_out(std::move(label_places), label_gap, top + 4, plot_bottom + 4);
        for (std::size_t i = 0; i < chart_.series.size(); ++i) picture += name(i, label_places[i]);
        return picture + "</svg>\n";
    }

private:
    double place(double x) const { return chart_.log_x ? std::log2(std::max(x, 1e-9)) : x; }
    double x_of(double x) const {
        if (high_ <= low_) return (left + plot_right) / 2;
        return left + 14 + (plot_right - left - 28) * (place(x) - low_) / (high_ - low_);
    }
    double y_of(double y) const {
        const double low = y_ticks_.values.front(), high = y_ticks_.values.back();
        return plot_bottom - (plot_bottom - top) * (std::clamp(y, low, high) - low) / (high - low);
    }
    double shift_of(std::size_t series) const {
        const auto last = static_cast<double>(chart_.series.size()) - 1;
        return std::min(beside, all_beside / std::max(last, 1.0)) * (static_cast<double>(series) - last / 2);
    }

    std::string axes() const {
        std::string picture;
        for (const double tick : y_ticks_.values) {
            const double y = y_of(tick);
            picture += svg::line(left, y, plot_right, y, tick == 0 ? "axis" : "grid");
            picture += svg::text(left - 8, y + 4, svg::number(tick, y_ticks_.decimals), svg::Anchor::end, "label");
        }
        double last = -least_apart;
        for (const double x : xs_) {
            const double place_of_x = x_of(x);
            picture += svg::line(place_of_x, plot_bottom, place_of_x, plot_bottom + 4, "axis");
            if (place_of_x - last < least_apart) continue;
            last = place_of_x;
            picture += svg::text(place_of_x, plot_bottom + 18, svg::number(x, x == std::floor(x) ? 0 : 1), svg::Anchor::middle, "label");
        }
        picture += svg::text((left + plot_right) / 2, height - 8, chart_.x_title, svg::Anchor::middle, "label");
        return picture + svg::text(0, 14, chart_.y_title, svg::Anchor::start, "label");
    }

    std::string curve(std::size_t index) const {
        const LineChart::Series& series = chart_.series[index];
        const double shift = shift_of(index);
        std::string picture, way;
        for (const auto& point : series.points) {
            const double x = x_of(point.x) + shift;
            way.append(way.empty() ? "" : " ").append(svg::px(x)).append(",").append(svg::px(y_of(point.y)));
            if (point.high > point.low) picture += svg::line(x, y_of(point.low), x, y_of(point.high), "spread", series.colour);
        }
        picture += "<polyline class=\"curve" + std::string(series.dashed ? " dashed" : "") + "\" stroke=\"" + html_escaped(series.colour) + "\" points=\"" + way + "\"/>\n";
        for (const auto& point : series.points)
            picture += "<circle cx=\"" + svg::px(x_of(point.x) + shift) + "\" cy=\"" + svg::px(y_of(point.y)) + "\" r=\"3.5\" fill=\"" + html_escaped(series.colour) + "\">" +
                       svg::title(point.label) + "</circle>\n";
        return picture;
    }

    // At the end of its curve, so that nobody has to match colours.
    std::string name(std::size_t index, double y) const {
        const LineChart::Series& series = chart_.series[index];
        const double x = plot_right + 10;
        return "<circle cx=\"" + svg::px(x) + "\" cy=\"" + svg::px(y - 4) + "\" r=\"4\" fill=\"" + html_escaped(series.colour) + "\"/>\n" + svg::text(x + 9, y, series.name);
    }

    const LineChart& chart_;
    std::vector<double> places_, xs_;
    double low_ = 0, high_ = 0;
    svg::Ticks y_ticks_;
};

}  // namespace

std::string svg_of(const LineChart& chart) { return Drawing(chart).text(); }

}  // namespace paced::report
