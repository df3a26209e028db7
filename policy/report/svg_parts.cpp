// SPDX-License-Identifier: BSD-3-Clause
#include "policy/report/svg_parts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "policy/report/html_page.h"

namespace paced::report::svg {

std::string number(double value, int decimals) {
    std::array<char, 64> text{};
    const int length = std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
    return {text.data(), static_cast<std::size_t>(std::clamp(length, 0, static_cast<int>(text.size()) - 1))};
}

std::string px(double value) {
    std::string digits = number(value, 1);
    if (digits.ends_with(".0")) digits.erase(digits.size() - 2);
    return digits == "-0" ? "0" : digits;
}

std::string text(double x, double y, std::string_view words, Anchor anchor, std::string_view style_class) {
    constexpr std::array<std::string_view, 3> names{"start", "middle", "end"};
    std::string element = "<text x=\"" + px(x) + "\" y=\"" + px(y) + '"';
    if (anchor != Anchor::start) element.append(" text-anchor=\"").append(names[static_cast<std::size_t>(anchor)]).append("\"");
    if (!style_class.empty()) element.append(" class=\"").append(style_class).append("\"");
    return element + '>' + html_escaped(words) + "</text>\n";
}

std::string line(double x1, double y1, double x2, double y2, std::string_view style_class, std::string_view colour) {
    std::string element = "<line x1=\"" + px(x1) + "\" y1=\"" + px(y1) + "\" x2=\"" + px(x2) + "\" y2=\"" + px(y2) + "\" class=\"";
    element.append(style_class).append("\"");
    if (!colour.empty()) element.append(" stroke=\"").append(colour).append("\"");
    return element + "/>\n";
}

std::string title(std::string_view words) { return "<title>" + html_escaped(words) + "</title>"; }

std::string open(double width, double height, std::string_view description) {
    return "<svg viewBox=\"0 0 " + px(width) + ' ' + px(height) + "\" role=\"img\" aria-label=\"" + html_escaped(description) + "\">\n";
}

Ticks ticks_over(double lowest, double highest, int wanted) {
    if (!(lowest < 0) || !std::isfinite(lowest)) lowest = 0;
    if (!(highest > 0) || !std::isfinite(highest)) highest = lowest < 0 ? 0 : 1;
    const double rough = (highest - lowest) / wanted, power = std::pow(10, std::floor(std::log10(rough)));
    double step = 10 * power;
    for (const double factor : {5.0, 2.5, 2.0, 1.0})
        if (factor * power >= rough * (1 - 1e-9)) step = factor * power;
    Ticks ticks;
    for (int i = static_cast<int>(std::floor(lowest / step + 1e-9)); ticks.values.empty() || ticks.values.back() < highest * (1 - 1e-9); ++i) ticks.values.push_back(i * step);
    const auto is_whole = [&](int decimals) {
        const double scaled = step * std::pow(10, decimals);
        return std::abs(scaled - std::round(scaled)) < 1e-6 * scaled;
    };
    while (ticks.decimals < 9 && !is_whole(ticks.decimals)) ++ticks.decimals;
    return ticks;
}

std::vector<double> spread_out(std::vector<double> places, double gap, double low, double high) {
    std::vector<std::size_t> by_place(places.size());
    std::iota(by_place.begin(), by_place.end(), std::size_t{0});
    std::stable_sort(by_place.begin(), by_place.end(), [&](std::size_t a, std::size_t b) { return places[a] < places[b]; });
    double least = low;
    for (const std::size_t i : by_place) {
        places[i] = std::max(places[i], least);
        least = places[i] + gap;
    }
    double most = high;
    for (auto i = by_place.rbegin(); i != by_place.rend(); ++i) {
        places[*i] = std::min(places[*i], most);
        most = places[*i] - gap;
    }
    return places;
}

}  // namespace paced::report::svg
