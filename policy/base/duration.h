// SPDX-License-Identifier: BSD-3-Clause
// Durations as people write them in flags and policies: "500us", "2ms", "1.5s", "0".
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace paced {

using Nanoseconds = std::chrono::nanoseconds;

// A number with one of the units ns, us, ms, s; "0" needs none. nullopt for anything else, for negative values
// and for more than an hour (a unit slipped).
std::optional<Nanoseconds> parse_duration(std::string_view text);

// The shortest exact form: "0", "500us", "1.5ms".
std::string format_duration(Nanoseconds duration);

}  // namespace paced
