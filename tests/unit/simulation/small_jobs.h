// SPDX-License-Identifier: BSD-3-Clause
// Scenarios that several tests start from.
#pragma once

#include <gtest/gtest.h>

#include "policy/simulation/simulate.h"

namespace paced::simulation::test {

// One rank and one NIC a node, one switch, one blocking all-reduce over a ring, no jitter, nothing that overloads.
inline Scenario quiet() {
    Scenario scenario;
    scenario.name = "quiet";
    scenario.fabric.nodes = 64;
    scenario.fabric.levels = {Level{.name = "leaf", .below = 64}};
    scenario.fabric.overload.on = false;
    scenario.node.gpus = scenario.node.ranks = scenario.node.nics = 1;
    scenario.node.nic_bytes_s = 10e9;
    scenario.compute.mean_s = 0.1;
    scenario.compute.sigma = 0;
    scenario.work.traffic = {Traffic{}};
    scenario.work.traffic[0].bytes = 100e6;
    scenario.node_counts = {8};
    scenario.seeds = 1;
    scenario.iterations = 50;
    scenario.warmup = 2;
    return scenario;
}

// contrib/cluster with 8 nodes: two leaves, hosts of 200 Mbit/s, one uplink of 100 Mbit/s, small buffers; four groups of two ranks, each
// across the uplink, which all call at once.
inline Scenario four_groups(double buffer_bytes) {
    Scenario scenario;
    scenario.name = "four groups";
    scenario.fabric.nodes = 8;
    scenario.fabric.levels = {Level{.name = "leaf", .below = 4, .uplinks = 1, .uplink_bytes_s = 12.5e6, .buffer_bytes = buffer_bytes, .latency_s = 20e-6},
                              Level{.name = "top", .below = 2, .buffer_bytes = buffer_bytes, .latency_s = 20e-6}};
    scenario.node.gpus = 0;
    scenario.node.ranks = scenario.node.nics = 1;
    scenario.node.nic_bytes_s = 25e6;
    scenario.node.nic_latency_s = 100e-6;
    scenario.compute.mean_s = 0.02;
    scenario.compute.sigma = 0.02;
    // neighbours in number are on different leaves, so that each pair crosses
    scenario.placement = Placement::interleaved;
    scenario.work.grid = {Axis{"pair", 2}, Axis{"group", 0}};
    scenario.work.traffic = {Traffic{}};
    scenario.work.traffic[0].axis = "pair";
    scenario.work.traffic[0].bytes = 131072;
    // and all of them meet once in an iteration, as at a step's end
    scenario.work.traffic.push_back(Traffic{});
    scenario.work.traffic[1].algorithm = Algorithm::tree;
    scenario.work.traffic[1].bytes = 8;
    scenario.node_counts = {8};
    scenario.seeds = 1;
    scenario.iterations = 2000;
    return scenario;
}

inline Outcome run(const Scenario& scenario, Case ran, std::uint64_t seed = 1) {
    const std::vector<Problem> problems = problems_of(scenario);
    for (const Problem& problem : problems) ADD_FAILURE() << problem.field << ' ' << problem.message;
    if (!problems.empty()) return {};
    return simulate(scenario, {ran, scenario.node_counts.front(), seed});
}

inline double mean_of(const std::vector<float>& values) {
    double sum = 0;
    for (const float value : values) sum += static_cast<double>(value);
    return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

}  // namespace paced::simulation::test
