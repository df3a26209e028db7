// SPDX-License-Identifier: BSD-3-Clause
// What the charts are drawn with. Internal to policy/report.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace paced::report::svg {

// One decimal is a tenth of a pixel: "12.5", "40".
std::string px(double value);

enum class Anchor { start, middle, end };
// y is that of the base line.
std::string text(double x, double y, std::string_view words, Anchor anchor = Anchor::start, std::string_view style_class = "");
std::string line(double x1, double y1, double x2, double y2, std::string_view style_class, std::string_view colour = "");
// What a browser shows for the element under the pointer, and a reader aloud.
std::string title(std::string_view words);
std::string open(double width, double height, std::string_view description);

// Round numbers, about `wanted` of them, 0 among them, from below the lowest to past the highest.
struct Ticks {
    std::vector<double> values;
    int decimals = 0;  // that tell them apart
};
Ticks ticks_over(double lowest, double highest, int wanted = 5);
inline Ticks ticks_from_zero(double highest) { return ticks_over(0, highest); }
std::string number(double value, int decimals);

// Moves places that are nearer than `gap` apart, as little as that takes, within [low, high]; the order stays.
std::vector<double> spread_out(std::vector<double> places, double gap, double low, double high);

}  // namespace paced::report::svg
