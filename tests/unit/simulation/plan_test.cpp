// SPDX-License-Identifier: BSD-3-Clause
// Collectives on an idle fabric against their closed forms, and what they put on which links.
#include "policy/simulation/plan.h"

#include <cmath>
#include <numeric>

#include "tests/unit/simulation/small_jobs.h"

namespace paced::simulation::test {
namespace {

constexpr double nic_latency = 5e-6, switch_latency = 1e-6, hop = nic_latency + switch_latency;

// The communication of one iteration of a quiet job, measured by running it.
double measured_s(const Scenario& scenario) {
    const Outcome outcome = run(scenario, Case::baseline);
    return mean_of(outcome.iteration_s) - scenario.compute.mean_s;
}

TEST(Plan, RingAllReduceTakesItsClosedForm) {
    for (const std::uint32_t n : {2u, 3u, 8u, 64u}) {
        for (const double bytes : {1e4, 1e6, 1e9}) {
            Scenario scenario = quiet();
            scenario.node_counts = {n};
            scenario.work.traffic[0].bytes = bytes;
            const double expected = 2.0 * (n - 1) * hop + 2.0 * (n - 1) / n * bytes / scenario.node.nic_bytes_s;
            EXPECT_NEAR(measured_s(scenario), expected, 0.01 * expected) << n << " ranks, " << bytes << " bytes";
        }
    }
}

TEST(Plan, HalvesOfARingTakeHalfOfIt) {
    for (const Operation operation : {Operation::reduce_scatter, Operation::allgather}) {
        Scenario scenario = quiet();
        scenario.work.traffic[0].operation = operation;
        const double expected = 7 * hop + 7.0 / 8 * 100e6 / scenario.node.nic_bytes_s;
        EXPECT_NEAR(measured_s(scenario), expected, 0.01 * expected);
    }
}

// Every node receives B/2 from two children and a parent in one tree and from a parent in the other: 2 B in all.
TEST(Plan, DoubleTreeTakesItsClosedForm) {
    for (const std::uint32_t n : {8u, 16u, 64u}) {
        for (const double bytes : {1e4, 1e6, 1e9}) {
            Scenario scenario = quiet();
            scenario.node_counts = {n};
            scenario.work.traffic[0].algorithm = Algorithm::tree;
            scenario.work.traffic[0].bytes = bytes;
            const double expected = 2 * std::log2(n) * hop + 2 * bytes / scenario.node.nic_bytes_s;
            EXPECT_NEAR(measured_s(scenario), expected, 0.01 * expected) << n << " ranks, " << bytes << " bytes";
        }
    }
}

TEST(Plan, HierarchicalIsThreePhases) {
    Scenario scenario = quiet();
    scenario.node.gpus = scenario.node.ranks = scenario.node.nics = 4;
    scenario.work.traffic[0].algorithm = Algorithm::hierarchical;
    const double inside = 2 * (3.0 / 4 * 100e6 / scenario.node.internal_bytes_s + 3 * scenario.node.internal_latency_s);
    const double between = 14 * hop + 2.0 * 7 / 8 * 25e6 / scenario.node.nic_bytes_s;
    EXPECT_NEAR(measured_s(scenario), inside + between, 0.01 * (inside + between));
}

TEST(Plan, DirectAllToAllIsBoundByTheNic) {
    for (const std::uint32_t n : {8u, 64u}) {
        Scenario scenario = quiet();
        scenario.node_counts = {n};
        scenario.work.traffic[0].operation = Operation::alltoall;
        const double expected = hop + (n - 1.0) / n * 100e6 / scenario.node.nic_bytes_s;
        EXPECT_NEAR(measured_s(scenario), expected, 0.01 * expected) << n;
    }
}

TEST(Plan, APipelineSendsToTheNextStageAlone) {
    Scenario scenario = quiet();
    scenario.work.traffic[0].operation = Operation::neighbour;
    const double expected = hop + 100e6 / scenario.node.nic_bytes_s;
    EXPECT_NEAR(measured_s(scenario), expected, 0.01 * expected);
}

// 4 ranks on each side of one uplink: 16 messages each way.
TEST(Plan, AllToAllLoadsTheUplinkWithEveryCrossingPair) {
    for (const std::uint32_t n : {8u, 128u}) {  // pair by pair, and by counts
        Scenario scenario = quiet();
        scenario.fabric.nodes = n;
        scenario.fabric.levels = {Level{.name = "leaf", .below = n / 2, .uplinks = 1, .uplink_bytes_s = 10e9}, Level{.name = "top", .below = 2}};
        scenario.node_counts = {n};
        scenario.work.traffic[0].operation = Operation::alltoall;
        const double expected = nic_latency + 3 * switch_latency + n / 2.0 * (n / 2.0) * (100e6 / n) / 10e9;
        EXPECT_NEAR(measured_s(scenario), expected, 0.01 * expected) << n;
    }
}

// Interleaved over two leaves behind one uplink every step of the ring crosses; in order, one each way.
TEST(Plan, RankOrderDecidesHowOftenTheUplinkIsCrossed) {
    Scenario scenario = quiet();
    scenario.fabric.nodes = 8;
    scenario.fabric.levels = {Level{.name = "leaf", .below = 4, .uplinks = 1, .uplink_bytes_s = 10e9}, Level{.name = "top", .below = 2}};
    scenario.placement = Placement::interleaved;
    const Outcome baseline = run(scenario, Case::baseline), ordered = run(scenario, Case::ordered);
    EXPECT_EQ(baseline.steps_crossing, 8);
    EXPECT_EQ(ordered.steps_crossing, 2);
    const double edge = 2 * 7.0 / 8 * 100e6 / 10e9;
    EXPECT_NEAR(mean_of(baseline.iteration_s) - 0.1, 4 * edge, 0.01 * 4 * edge);
    EXPECT_NEAR(mean_of(ordered.iteration_s) - 0.1, edge, 0.01 * edge);
    // the same bytes over the NICs, a quarter of them over the uplink
    const auto uplink = [](const Outcome& outcome) { return outcome.load.back().mean * outcome.seconds; };
    ASSERT_EQ(ordered.load.back().level, "leaf");
    EXPECT_NEAR(uplink(baseline) / uplink(ordered), 4, 0.05);
}

// What is carried over all NICs is what the collectives send, whatever the fabric.
TEST(Plan, NicsCarryWhatRanksSend) {
    for (const Placement placement : {Placement::block, Placement::random}) {
        Scenario scenario = quiet();
        scenario.fabric.nodes = 64;
        scenario.fabric.levels = {Level{.name = "leaf", .below = 8, .uplinks = 4}, Level{.name = "spine", .below = 4, .uplinks = 2, .oversubscription = 2}, Level{.name = "core", .below = 2}};
        scenario.node.gpus = scenario.node.ranks = 8;
        scenario.node.nics = 4;
        scenario.fabric.rails = 2;
        scenario.placement = placement;
        scenario.node_counts = {24};
        Wiring wiring(scenario, 24, 3);
        std::vector<std::uint32_t> order(24);
        std::iota(order.begin(), order.end(), 0u);
        Planner planner(scenario, wiring, order, false);
        const Members all{0, 1, 192};
        const auto carried = [&](const Plan& plan) {
            double out = 0, in = 0;
            for (const Phase& phase : plan.phases)
                for (const LinkShare& one : phase.carried)
                    if (wiring.level_of_link(one.link) == 0) (one.link % 2 == 0 ? out : in) += phase.transfer.bytes * static_cast<double>(one.weight);
            EXPECT_NEAR(out, in, 1e-6 * out);
            return out;
        };
        Traffic traffic;
        // of 192 edges 24 leave a node
        EXPECT_NEAR(carried(planner.plan(all, traffic, 1e6)), 24 * 2 * 191.0 / 192 * 1e6, 1);
        traffic.algorithm = Algorithm::hierarchical;
        EXPECT_NEAR(carried(planner.plan(all, traffic, 1e6)), 192 * 2 * 23.0 / 24 * 1e6 / 8, 1);
        traffic.algorithm = Algorithm::tree;  // two trees of 23 edges, B/2 each way
        EXPECT_NEAR(carried(planner.plan(all, traffic, 1e6)), 2 * 23 * 2 * 0.5e6, 1);
        traffic.operation = Operation::alltoall;
        EXPECT_NEAR(carried(planner.plan(all, traffic, 1e6)), 192 * 184.0 * 1e6 / 192, 100);
    }
}

}  // namespace
}  // namespace paced::simulation::test
