// SPDX-License-Identifier: BSD-3-Clause
// Reads a scenario of `paced simulate` (docs/simulate.md shows every key; etc/scenarios has examples) with what it names: fabrics,
// nodes, recorded compute times.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/base/diagnostics.h"
#include "policy/simulation/scenario.h"

namespace paced::io {

inline constexpr int newest_scenario_schema = 1;

// What a command line says instead of the file.
struct ScenarioOverrides {
    std::vector<std::uint32_t> node_counts;    // --nodes
    std::optional<std::uint32_t> seeds;        // --seeds
    std::optional<std::uint32_t> iterations;   // --iterations
    std::string fabric;                        // --fabric: a file, relative to where the program runs
};

struct ScenarioFile {
    simulation::Scenario scenario;
    std::string fitted_on;  // which measurements its constants were fitted on; empty: none
    std::string hash;       // of everything that the file says, comments and layout left out: 16 hexadecimal digits (FNV-1a, 64 bits)
};

// nullopt: every mistake is among the diagnostics, with its place; simulation::problems_of() of an answer is empty. What the
// scenario names is looked for beside file.
std::optional<ScenarioFile> parse_scenario(std::string_view text, const std::string& file, const ScenarioOverrides& overrides, Diagnostics& diagnostics);

}  // namespace paced::io
