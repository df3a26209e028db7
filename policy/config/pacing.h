// SPDX-License-Identifier: BSD-3-Clause
// The site's [pacing]: the constants of the control law (policy/pacing/tuning.h says what each is for), for every job alike, and
// which law decides. As text they travel to the node that decides, in PACED_FABRIC_STEP_PACING.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "policy/base/diagnostics.h"
#include "policy/base/result.h"
#include "policy/pacing/tuning.h"

namespace paced::config {

struct Limits;

// One row of PACED_PACING_CONSTANTS.
struct PacingConstant {
    std::string_view name;
    double pacing::Tuning::* value;
    double standard, least, most;
    std::string_view unit, why;

    // Counted things: no halves, but where what is built in has them.
    constexpr bool is_whole() const {
        return (unit == "iterations" || unit == "pairs" || unit == "blocks") && standard == static_cast<double>(static_cast<long long>(standard));
    }
};
inline constexpr PacingConstant pacing_constants[] = {
#define PACED_PACING_ROW(name, standard, least, most, unit, why) {#name, &pacing::Tuning::name, standard, least, most, unit, why},
    PACED_PACING_CONSTANTS(PACED_PACING_ROW)
#undef PACED_PACING_ROW
};

// Of two constants the first must not be larger than the second.
struct PacingOrder {
    std::string_view lower, upper;
};
inline constexpr PacingOrder pacing_orders[] = {{"least_pairs", "most_pairs"},
                                                {"holdout_floor_percent", "holdout_percent"},
                                                {"first_backoff_blocks", "longest_backoff_blocks"}};

struct Pacing {
    pacing::Tuning tuning;
    std::string arm;   // method fixed: as written
    std::string arms;  // method comparison: as written
    std::string without;  // arms that are never tried: as written
    std::map<std::string, Location, std::less<>> where;  // of each key that the file sets: "method", "arm", "arms", "without" and constants
};

// "ours", "fixed" or "comparison".
Result<pacing::Method> parse_method(std::string_view text);
std::string to_string(pacing::Method method);
// "admit:1", and "off,admit:1,rate:25mbit,fixed-delay:500us:300us,barrier,ours" (`ours` among several alone). Returned as they came.
Result<std::string> parse_arm(std::string_view text);
Result<std::string> parse_arms(std::string_view text);
// "rate,slots": names of arms, without their arguments.
Result<std::string> parse_without(std::string_view text);
// The shortest text that reads back as the same number.
std::string number_text(double value);

const PacingConstant* find_pacing_constant(std::string_view name);

// What holds under the site's limits: no more is spent on experiments than exploration_max_percent.
pacing::Tuning tuning_within(const Pacing& pacing, const Limits& limits);
// "method=comparison arms=off,admit:1 block_iterations=16": what differs from the built-in values, in the order of tuning.h. Empty:
// nothing does. Longer than pacing_text_longest: the interposer has no room for it, and a policy file that gives such a text is refused.
inline constexpr std::size_t pacing_text_longest = 1023;
std::string pacing_text(const Pacing& pacing, const Limits& limits);

}  // namespace paced::config
