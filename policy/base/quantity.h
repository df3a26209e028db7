// SPDX-License-Identifier: BSD-3-Clause
// A number with a unit, as people write it: "200gbit", "64KiB", "1.5ms". duration.h has those of time.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace paced {

// Name and what one of it is: {"kbit", 1e3}.
using Unit = std::pair<std::string_view, double>;

// Digits with at most one point, then one of the units at once; in units of 1. nullopt for anything else: no sign, no exponent,
// no "nan". Which numbers make sense is for the caller.
std::optional<double> parse_quantity(std::string_view text, std::span<const Unit> units);

// bit, kbit, mbit, gbit or tbit a second, in steps of 1000, as tc(8) and the arm `rate` write them; in bit/s.
std::optional<double> parse_rate(std::string_view text);
// "200gbit", "1.5mbit": at most three decimals.
std::string format_rate(double bits_per_second);

// B, KiB, MiB or GiB, in steps of 1024, or kB, MB or GB, in steps of 1000; in bytes.
std::optional<double> parse_bytes(std::string_view text);

// ns, us, ms, s, min or h; in seconds. For what is described, not decided: delays are durations (duration.h), whole nanoseconds.
std::optional<double> parse_seconds(std::string_view text);

}  // namespace paced
