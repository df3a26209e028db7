// SPDX-License-Identifier: BSD-3-Clause
#include "policy/base/duration.h"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace paced {

namespace {

constexpr std::array<std::pair<std::string_view, long long>, 4> units{{{"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}}};

}  // namespace

std::optional<Nanoseconds> parse_duration(std::string_view text) {
    if (text == "0") return Nanoseconds{0};
    // digits and at most one point: from_chars alone would take "inf" and "1e3"
    const auto end = text.find_first_not_of("0123456789.");
    if (end == std::string_view::npos || end == 0) return std::nullopt;
    double number = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + end, number);
    if (error != std::errc{} || stop != text.data() + end) return std::nullopt;
    for (const auto& [name, scale] : units) {
        if (text.substr(end) != name) continue;
        const double value = number * static_cast<double>(scale);
        if (value > 3.6e12) return std::nullopt;
        return Nanoseconds{std::llround(value)};
    }
    return std::nullopt;
}

std::string format_duration(Nanoseconds duration) {
    const long long ns = duration.count();
    if (ns == 0) return "0";
    std::string_view unit = "ns";
    long long scale = 1;
    for (const auto& [name, size] : units) {
        // three decimals are exact one unit up
        if (ns >= size && (size == 1 || ns % (size / 1000) == 0)) {
            unit = name;
            scale = size;
        }
    }
    std::string text = std::to_string(ns / scale);
    if (long long rest = ns % scale; rest != 0) {
        std::string digits = std::to_string(rest * 1000 / scale);
        digits.insert(0, 3 - digits.size(), '0');
        while (digits.back() == '0') digits.pop_back();
        text += '.' + digits;
    }
    return text.append(unit);
}

}  // namespace paced
