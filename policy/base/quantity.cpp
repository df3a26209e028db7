// SPDX-License-Identifier: BSD-3-Clause
#include "policy/base/quantity.h"

#include <array>
#include <charconv>
#include <cmath>

namespace paced {

namespace {

constexpr std::array<Unit, 5> rates{{{"bit", 1}, {"kbit", 1e3}, {"mbit", 1e6}, {"gbit", 1e9}, {"tbit", 1e12}}};
constexpr std::array<Unit, 7> sizes{{{"B", 1}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"KiB", 1024}, {"MiB", 1024.0 * 1024}, {"GiB", 1024.0 * 1024 * 1024}}};
constexpr std::array<Unit, 6> times{{{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}}};

}  // namespace

std::optional<double> parse_quantity(std::string_view text, std::span<const Unit> units) {
    // digits and at most one point: from_chars alone would take "inf" and "1e3"
    const auto end = text.find_first_not_of("0123456789.");
    if (end == std::string_view::npos || end == 0) return std::nullopt;
    double number = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + end, number);
    if (error != std::errc{} || stop != text.data() + end) return std::nullopt;
    for (const auto& [name, size] : units)
        if (text.substr(end) == name) return number * size;
    return std::nullopt;
}

std::optional<double> parse_rate(std::string_view text) { return parse_quantity(text, rates); }

std::string format_rate(double bits_per_second) {
    std::size_t unit = 0;
    while (unit + 1 < rates.size() && bits_per_second >= rates[unit + 1].second) ++unit;
    const double value = std::round(bits_per_second / rates[unit].second * 1000) / 1000;
    std::array<char, 32> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
    return std::string(text.data(), end).append(rates[unit].first);
}

std::optional<double> parse_bytes(std::string_view text) { return parse_quantity(text, sizes); }

std::optional<double> parse_seconds(std::string_view text) { return parse_quantity(text, times); }

}  // namespace paced
