// SPDX-License-Identifier: BSD-3-Clause
// The simulator's front. A run is one case, one size, one seed: independent of all others, so that a caller may spread runs over
// threads; the result is the same in any order. Pure: no file, no clock, no global state; the same scenario, run and build give the same bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "policy/simulation/result.h"
#include "policy/simulation/scenario.h"

namespace paced::simulation {

struct Run {
    Case ran = Case::baseline;
    std::uint32_t nodes = 0;
    std::uint64_t seed = 0;
};

inline constexpr Case usual_cases[] = {Case::baseline, Case::ordered, Case::paced};
inline constexpr Case all_cases[] = {Case::baseline, Case::ordered, Case::paced, Case::alone, Case::recipe, Case::barrier, Case::oracle};

// All runs of a scenario, the largest first (a caller with several threads takes them in this order).
std::vector<Run> runs_of(const Scenario& scenario, std::span<const Case> cases = usual_cases);

// Told after every few iterations how many of the run's are done; false ends the run, whose outcome is then not complete.
using Told = std::function<bool(std::uint32_t iterations, std::uint32_t of)>;

// problems_of(scenario) must be empty, and the run one of runs_of().
Outcome simulate(const Scenario& scenario, const Run& run, const Told& told = nullptr);

// outcomes: of runs_of() in any order. Those of a size without a baseline get no gain.
Result summarise(const Scenario& scenario, std::span<const Outcome> outcomes);

}  // namespace paced::simulation
