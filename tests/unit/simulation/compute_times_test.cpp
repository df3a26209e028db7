// SPDX-License-Identifier: BSD-3-Clause
#include "policy/simulation/compute_times.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/unit/simulation/small_jobs.h"

namespace paced::simulation::test {
namespace {

std::vector<std::uint32_t> counted(std::uint32_t nodes, bool reversed) {
    std::vector<std::uint32_t> order(nodes);
    std::iota(order.begin(), order.end(), 0u);
    if (reversed) std::reverse(order.begin(), order.end());
    return order;
}

struct Made {
    Scenario scenario;
    Wiring wiring;
    std::vector<std::uint32_t> order;
    ComputeTimes times;

    explicit Made(const Scenario& from, std::uint32_t nodes = 8, bool reversed = false)
        : scenario(from), wiring(scenario, nodes, 1), order(counted(nodes, reversed)), times(scenario, wiring, order, 1) {}
};

struct Moments {
    double mean = 0, deviation = 0;
};

template <class Draw> Moments moments_of(std::uint32_t count, Draw draw) {
    double sum = 0, squares = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        const double value = draw(i);
        sum += value;
        squares += value * value;
    }
    const double mean = sum / count;
    return {mean, std::sqrt(std::max(0.0, squares / count - mean * mean))};
}

TEST(ComputeTimes, HaveTheMeanAndTheScatterThatWereAskedFor) {
    Scenario scenario = quiet();
    scenario.compute.sigma = 0.2;
    Made made(scenario);
    const Moments seen = moments_of(200000, [&](std::uint32_t i) { return made.times.draw(3, i, 0); });
    EXPECT_NEAR(seen.mean, 0.1, 0.1 * 0.005);
    EXPECT_NEAR(seen.deviation, 0.1 * std::sqrt(std::expm1(0.04)), 0.001);
}

TEST(ComputeTimes, EventsAddTheirMeanAsOftenAsTheyCome) {
    Scenario scenario = quiet();
    scenario.compute.event_probability = 0.02;
    scenario.compute.event_mean_s = 0.5;
    Made made(scenario);
    EXPECT_NEAR(moments_of(400000, [&](std::uint32_t i) { return made.times.draw(0, i, 0); }).mean, 0.1 + 0.01, 0.0005);
}

TEST(ComputeTimes, StepsInARowAverageTheirNoise) {
    Scenario scenario = quiet();
    scenario.compute.sigma = 0.2;
    scenario.work.accumulation = 16;
    Made made(scenario);
    const Moments seen = moments_of(100000, [&](std::uint32_t i) { return made.times.draw(0, i, 0); });
    EXPECT_NEAR(seen.mean, 1.6, 0.01);
    EXPECT_NEAR(seen.deviation / seen.mean, 0.05, 0.001);
}

// What a node's ranks have in common moves them together.
TEST(ComputeTimes, RanksOfANodeShareTheirPart) {
    Scenario scenario = quiet();
    scenario.node.gpus = scenario.node.ranks = 2;
    scenario.compute.sigma = 0.1;
    scenario.compute.node_share = 0.6;
    Made made(scenario);
    const auto log = [&](std::uint32_t rank, std::uint32_t i) { return std::log(made.times.draw(rank, i, 0) / 0.1); };
    const auto product = [&](std::uint32_t a, std::uint32_t b) { return moments_of(100000, [&](std::uint32_t i) { return log(a, i) * log(b, i); }).mean / 0.01; };
    EXPECT_NEAR(product(0, 0), 1, 0.02);
    EXPECT_NEAR(product(0, 1), 0.6, 0.02);
    EXPECT_NEAR(product(0, 2), 0, 0.02);
}

TEST(ComputeTimes, BelongToTheMachineNotToTheRank) {
    Scenario scenario = quiet();
    scenario.compute.sigma = 0.1;
    scenario.compute.persistent = 0.2;
    Made plain(scenario), turned(scenario, 8, true);
    for (std::uint32_t rank = 0; rank < 8; ++rank) EXPECT_EQ(plain.times.draw(rank, 5, 0), turned.times.draw(7 - rank, 5, 0));
    EXPECT_NE(plain.times.draw(0, 5, 0), plain.times.draw(1, 5, 0));
}

TEST(ComputeTimes, ANodeIsSlowForTheShareOfTimeThatItsSpellsTake) {
    Scenario scenario = quiet();
    scenario.compute.slow_per_node_hour = 6;  // every 600 s, for 200
    scenario.compute.slow_mean_s = 200;
    scenario.compute.slow_factor = 2;
    Made made(scenario);
    const double mean = moments_of(2000000, [&](std::uint32_t i) { return made.times.draw(0, 0, i); }).mean;
    EXPECT_NEAR(mean, 0.1 * (1 + 200.0 / 800), 0.1 * 0.02);
}

TEST(ComputeTimes, DealtWorkSlowsAllALittleInsteadOfOneMuch) {
    Scenario scenario = quiet();
    scenario.compute.persistent = 0.3;
    Made fixed(scenario);
    scenario.work.assignment = Assignment::dynamic;
    scenario.work.assignment_cost_s = 0.001;
    Made dealt(scenario);
    double worst_fixed = 0, worst_dealt = 0, speeds = 0;
    for (std::uint32_t rank = 0; rank < 8; ++rank) {
        worst_fixed = std::max(worst_fixed, fixed.times.draw(rank, 0, 0));
        worst_dealt = std::max(worst_dealt, dealt.times.draw(rank, 0, 0));
        speeds += 1 / fixed.times.draw(rank, 0, 0);
    }
    EXPECT_GT(worst_fixed, worst_dealt);
    EXPECT_NEAR(worst_dealt, 8 / speeds + 0.001, worst_fixed / 32);
}

TEST(ComputeTimes, AReplayIsReadRowByRowFromSomewhere) {
    Scenario scenario = quiet();
    scenario.compute.replay = Replay{"made up", 2, {0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.6f}};
    Made made(scenario);
    // rank 3 reads column 1; three rows, then again from the start
    const double first = made.times.draw(3, 0, 0);
    EXPECT_EQ(made.times.draw(3, 3, 0), first);
    EXPECT_NEAR(made.times.draw(3, 0, 0) + made.times.draw(3, 1, 0) + made.times.draw(3, 2, 0), 1.2, 1e-6);
    EXPECT_NEAR(made.times.draw(2, 0, 0), first - 0.1, 1e-6);
}

}  // namespace
}  // namespace paced::simulation::test
