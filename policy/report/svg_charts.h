// SPDX-License-Identifier: BSD-3-Clause
// Charts as SVG for an HtmlPage: plain data in, one <svg> element out. What a mark stands for is also its <title>, which
// browsers show under the pointer.
#pragma once

#include <string>
#include <vector>

namespace paced::report {

// Curves over one axis, each point with an interval.
struct LineChart {
    struct Point {
        double x = 0, y = 0;
        double low = 0, high = 0;  // equal: no interval is drawn
        std::string label;         // "64 nodes: 1,234 samples/s"
    };
    struct Series {
        std::string name, colour;  // "#0072b2"
        bool dashed = false;
        std::vector<Point> points;  // by x
    };
    std::string description, x_title, y_title;
    bool log_x = false;         // in doublings; all x must then be above 0
    std::vector<Series> series;
};
std::string svg_of(const LineChart& chart);

// Horizontal bars in groups, all on one axis.
struct BarChart {
    struct Bar {
        std::string name, colour;
        double value = 0;
        std::string label;  // beside the bar
    };
    struct Group {
        std::string name;
        std::vector<Bar> bars;
    };
    std::string description, x_title;
    std::vector<Group> groups;
};
std::string svg_of(const BarChart& chart);

// Rows of spans over time.
struct Timeline {
    struct Kind {
        std::string name, colour;
        double top = 0, bottom = 1;  // of the row's height: two kinds that may lie over one another have a part each
    };
    struct Span {
        std::size_t kind = 0;  // in kinds
        double start_ms = 0, end_ms = 0;
    };
    struct Row {
        std::string name;
        std::vector<Span> spans;
    };
    std::string description;
    std::vector<Kind> kinds;
    std::vector<Row> rows;
    double end_ms = 0;  // of the axis; 0: of the last span
};
std::string svg_of(const Timeline& timeline);

}  // namespace paced::report
