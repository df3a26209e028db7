// SPDX-License-Identifier: BSD-3-Clause
// Whatever a scenario says, if it is accepted it ends, and what must hold of any job holds: 300 made by chance.
#include <cmath>

#include "policy/simulation/draws.h"
#include "tests/unit/simulation/small_jobs.h"

namespace paced::simulation::test {
namespace {

Scenario by_chance(std::uint64_t seed) {
    Draws draws(seed);
    const auto pick = [&](auto... values) {
        const std::common_type_t<decltype(values)...> all[] = {values...};
        return all[draws.below(sizeof...(values))];
    };
    const auto chance = [&](double p) { return draws.uniform() < p; };
    Scenario scenario;
    scenario.name = "by chance";
    const std::uint32_t nodes = pick(1u, 2u, 3u, 4u, 8u, 12u, 16u);
    scenario.fabric.nodes = 48;
    scenario.fabric.levels = {Level{.name = "leaf", .below = pick(1u, 2u, 4u, 5u), .uplinks = pick(1u, 2u, 3u), .oversubscription = pick(1.0, 2.0, 8.0), .buffer_bytes = pick(0.0, 2e4, 1e7), .latency_s = 1e-6},
                              Level{.name = "spine", .below = pick(4u, 7u), .uplinks = pick(1u, 2u), .oversubscription = pick(0.5, 4.0), .buffer_bytes = 2e4, .latency_s = 1e-6},
                              Level{.name = "core", .below = 48, .buffer_bytes = 1e5, .latency_s = 0}};
    scenario.fabric.rails = pick(1u, 2u);
    scenario.fabric.transport = chance(0.5) ? Transport::tcp : Transport::lossless;
    scenario.fabric.overload.on = chance(0.8);
    scenario.node.ranks = pick(1u, 2u, 4u);
    scenario.node.gpus = scenario.node.ranks;
    scenario.node.nics = 2;
    scenario.node.nic_bytes_s = pick(1e8, 1e10);
    if (chance(0.3)) scenario.node.unbound = {topology::Relation::sys, topology::Relation::pix};
    scenario.work.grid = {Axis{"tp", scenario.node.ranks}, Axis{"dp", 0}};
    const std::uint32_t kinds = 1 + draws.below(3);
    for (std::uint32_t i = 0; i < kinds; ++i) {
        Traffic traffic;
        traffic.axis = pick("", "tp", "dp");
        traffic.operation = pick(Operation::allreduce, Operation::reduce_scatter, Operation::allgather, Operation::alltoall, Operation::neighbour);
        traffic.algorithm = traffic.operation == Operation::allreduce ? pick(Algorithm::ring, Algorithm::tree, Algorithm::hierarchical) : pick(Algorithm::ring, Algorithm::hierarchical);
        traffic.bytes = pick(8.0, 1e5, 1e7);
        traffic.buckets = pick(1u, 2u, 5u);
        traffic.overlap = chance(0.5) ? draws.uniform() : 0;
        traffic.from = draws.uniform();
        traffic.to = traffic.from + (1 - traffic.from) * draws.uniform();
        traffic.channels = pick(1u, 2u);
        scenario.work.traffic.push_back(traffic);
    }
    scenario.work.scaling = chance(0.5) ? Scaling::weak : Scaling::strong;
    scenario.work.accumulation = pick(1u, 4u);
    scenario.work.assignment = chance(0.8) ? Assignment::fixed : Assignment::dynamic;
    scenario.compute.mean_s = pick(0.0005, 0.02, 0.2);
    scenario.compute.sigma = pick(0.0, 0.02, 0.5);
    scenario.compute.segment_sigma = pick(0.0, 0.1);
    scenario.compute.persistent = pick(0.0, 0.1);
    scenario.compute.node_share = pick(0.0, 0.5, 1.0);
    scenario.compute.event_probability = pick(0.0, 0.01);
    scenario.compute.event_mean_s = 0.1;
    scenario.compute.slow_per_node_hour = pick(0.0, 100.0);
    scenario.compute.slow_mean_s = 2;
    scenario.compute.theft = pick(0.0, 0.3, 1.0);
    scenario.compute.spin_theft = pick(0.0, 0.2);
    scenario.fabric_events = {pick(0.0, 0.01), 0.05};
    if (chance(0.4)) scenario.background = {Background{pick("leaf", "spine"), draws.uniform(), pick(0.02, 0.1), pick(0.0, 0.3, 1.0), 0.7, pick(0.0, 0.3)}};
    scenario.pacing.tuning = pick("", "", "method=fixed arm=admit:1", "method=fixed arm=hold-local", "method=comparison arms=off,slots:2ms,rate:1gbit,phase:1ms,barrier,fixed-delay:1ms:1ms,hold-remote");
    scenario.pacing.window_s = pick(-1.0, 0.0, 0.002);
    scenario.pacing.control.loss = pick(0.0, 0.2);
    scenario.placement = pick(Placement::block, Placement::interleaved, Placement::random, Placement::sorted);
    scenario.node_counts = {nodes};
    scenario.seeds = 1;
    scenario.iterations = 60;
    scenario.warmup = pick(0u, 5u);
    return scenario;
}

TEST(RandomJobs, EndAndAddUp) {
    std::uint32_t accepted = 0;
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        const Scenario scenario = by_chance(seed);
        if (!problems_of(scenario).empty()) continue;
        ++accepted;
        for (const Case ran : all_cases) {
            SCOPED_TRACE("seed " + std::to_string(seed) + ", " + name_of(ran));
            const Outcome outcome = simulate(scenario, {ran, scenario.node_counts[0], seed});
            ASSERT_EQ(outcome.iteration_s.size(), std::size_t{outcome.parts} * 60);
            ASSERT_TRUE(std::isfinite(outcome.throughput));
            EXPECT_GT(outcome.throughput, 0);
            for (const float each : outcome.iteration_s) EXPECT_GT(each, 0);
            for (const LevelLoad& level : outcome.load) EXPECT_LE(level.most, 1 + 1e-6) << level.level;
            // what is there before the first measured iteration, and what the first ones of a group have begun when the last ends
            const double iteration = outcome.seconds / scenario.iterations, sum = outcome.shares.compute + outcome.shares.waiting + outcome.shares.transfer;
            EXPECT_NEAR(sum, iteration, 0.05 * iteration);
        }
    }
    EXPECT_GT(accepted, 150u);
}

}  // namespace
}  // namespace paced::simulation::test
