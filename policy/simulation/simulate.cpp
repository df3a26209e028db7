// SPDX-License-Identifier: BSD-3-Clause
#include "policy/simulation/simulate.h"

#include <algorithm>

#include "policy/simulation/job.h"
#include "policy/simulation/relaxed.h"

namespace paced::simulation {

std::vector<Run> runs_of(const Scenario& scenario, std::span<const Case> cases) {
    std::vector<std::uint32_t> sizes = scenario.node_counts;
    std::sort(sizes.begin(), sizes.end(), std::greater<>());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    std::vector<Run> runs;
    for (const std::uint32_t nodes : sizes)
        for (std::uint32_t seed = 0; seed < scenario.seeds; ++seed)
            for (const Case ran : cases) runs.push_back({ran, nodes, scenario.first_seed + seed});
    return runs;
}

Outcome simulate(const Scenario& scenario, const Run& run, const Told& told) {
    if (is_relaxed(scenario, run.nodes)) return simulate_relaxed(scenario, run, told);
    return Job(scenario, run).simulate(told);
}

}  // namespace paced::simulation
