// SPDX-License-Identifier: BSD-3-Clause
// How quick the simulator is: events a second on one core, how that changes with the number of nodes, and the memory that it took. An event is a
// rank's arrival, a collective's completion, a change of a flow's rate or a message; one rank a node.
//     bench_simulation [ITERATIONS] [NODES]...      default: 1000 iterations of 64, 256, 1024, 4096 and 10000 nodes
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "policy/simulation/simulate.h"

namespace {

using namespace paced::simulation;

// Three levels, oversubscribed 2 to 1 twice; four buckets of a ring all-reduce, three quarters of them under compute; jitter, rare events.
Scenario cluster(std::uint32_t nodes, std::uint32_t iterations) {
    Scenario scenario;
    scenario.fabric.nodes = nodes;
    scenario.fabric.levels = {Level{.name = "leaf", .below = 32, .uplinks = 8, .oversubscription = 2}, Level{.name = "spine", .below = 16, .uplinks = 16, .oversubscription = 2},
                              Level{.name = "core", .below = 1024}};
    scenario.placement = Placement::sorted;
    scenario.node.gpus = scenario.node.ranks = scenario.node.nics = 1;
    scenario.compute.mean_s = 0.5;
    scenario.compute.sigma = 0.02;
    scenario.compute.persistent = 0.01;
    scenario.compute.event_probability = 1e-5;
    scenario.compute.event_mean_s = 0.1;
    scenario.work.traffic = {Traffic{}};
    scenario.work.traffic[0].bytes = 400e6;
    scenario.work.traffic[0].buckets = 4;
    scenario.work.traffic[0].overlap = 0.75;
    scenario.node_counts = {nodes};
    scenario.iterations = iterations;
    scenario.warmup = 0;
    return scenario;
}

// The same in groups that share the uplinks: data parallel within 64 pipelines, say. This is what the max-min solver is for.
Scenario groups(std::uint32_t nodes, std::uint32_t iterations) {
    Scenario scenario = cluster(nodes, iterations);
    scenario.work.grid = {Axis{"pp", 16}, Axis{"dp", 0}};
    Traffic stages;
    stages.axis = "pp";
    stages.operation = Operation::neighbour;
    stages.bytes = 20e6;
    scenario.work.traffic[0].axis = "dp";
    scenario.work.traffic.push_back(stages);
    return scenario;
}

void row(const char* name, const Scenario& scenario, Case ran) {
    for (const Problem& problem : problems_of(scenario)) std::printf("%s %s\n", problem.field.c_str(), problem.message.c_str());
    const auto begin = std::chrono::steady_clock::now();
    const Outcome outcome = simulate(scenario, {ran, scenario.node_counts[0], 2});
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto events = static_cast<double>(outcome.events);
    std::printf("%-22s %-9s %7u %9.3f %12.0f %10.2f %12.2f %9.0f\n", name, name_of(ran), scenario.node_counts[0], seconds, events, events / seconds / 1e6,
                events / (static_cast<double>(scenario.node_counts[0]) * scenario.iterations), static_cast<double>(usage.ru_maxrss) / 1024);
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
    const auto iterations = static_cast<std::uint32_t>(argc > 1 ? std::atoi(argv[1]) : 1000);
    std::vector<std::uint32_t> sizes;
    for (int i = 2; i < argc; ++i) sizes.push_back(static_cast<std::uint32_t>(std::atoi(argv[i])));
    if (sizes.empty()) sizes = {64, 256, 1024, 4096, 10000};
    std::printf("%-22s %-9s %7s %9s %12s %10s %12s %9s\n", "job", "case", "nodes", "seconds", "events", "M events/s", "events/n/it", "peak MB");
    for (const std::uint32_t nodes : sizes) {
        for (const Case ran : usual_cases) row("one ring, 4 calls", cluster(nodes, iterations), ran);
        if (nodes % 16 == 0) row("16 rings, pipeline", groups(nodes, iterations), Case::baseline);
    }
}
