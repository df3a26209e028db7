// SPDX-License-Identifier: BSD-3-Clause
#include "policy/base/duration.h"

#include <array>
#include <cmath>

#include "policy/base/quantity.h"

namespace paced {

namespace {

constexpr std::array<Unit, 4> units{{{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}};

}  // namespace

std::optional<Nanoseconds> parse_duration(std::string_view text) {
    if (text == "0") return Nanoseconds{0};
    const auto value = parse_quantity(text, units);
    if (!value || *value > 3.6e12) return std::nullopt;
    return Nanoseconds{std::llround(*value)};
}

std::string format_duration(Nanoseconds duration) {
    const long long ns = duration.count();
    if (ns == 0) return "0";
    std::string_view unit = "ns";
    long long scale = 1;
    for (const auto& [name, ns_each] : units) {
        const auto size = static_cast<long long>(ns_each);
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
