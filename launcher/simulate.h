// SPDX-License-Identifier: BSD-3-Clause
// `paced simulate`: what a scenario is expected to do, with and without order and pacing.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "policy/base/result.h"
#include "policy/io/toml_scenario.h"
#include "policy/simulation/result.h"
#include "policy/simulation/simulate.h"

namespace paced::launcher {

struct SimulateOptions {
    std::string file;
    std::vector<std::uint32_t> nodes;  // empty: as the scenario says
    std::uint32_t seeds = 0, iterations = 0;  // 0: as the scenario says
    std::string fabric;                // a file instead of the scenario's fabric
    bool compare = false;              // the cases that are there to be compared with, too
    bool json = false;
    std::string html;                  // a page is written there
    std::uint32_t jobs = 0;            // threads; 0: one for each CPU that this process may use
};
int run_simulate(const SimulateOptions& options);

// What is shown, in each form. file.scenario is what was simulated, overrides included.
struct Simulated {
    io::ScenarioFile file;
    simulation::Result result;
};
std::string simulate_text(const Simulated& simulated);
std::string simulate_json(const Simulated& simulated);
std::string simulate_page(const Simulated& simulated);

// nullptr: not simulated.
const simulation::CaseResult* find_case(const simulation::Row& row, simulation::Case ran);
// "12.35", "1,234", "12.30M": of samples a second.
std::string throughput_text(double value);
// "-0.1% to +0.3%"; "-" for the baseline itself.
std::string gain_interval_text(const simulation::CaseResult& result);
// What the law made of each class of one case, a sentence each.
std::vector<std::string> law_lines(const simulation::CaseResult& result);

// All runs, spread over threads. progress: called from this thread a few times a second with the part of the work that is done,
// 0 to 1. The error: what a run threw (memory, say).
Result<std::vector<simulation::Outcome>> run_all(const simulation::Scenario& scenario, const std::vector<simulation::Run>& runs, std::uint32_t threads,
                                                 const std::function<void(double)>& progress);

}  // namespace paced::launcher
