// SPDX-License-Identifier: BSD-3-Clause
#include "policy/placement/binding/balance.h"

#include <algorithm>
#include <random>
#include <set>

#include <gtest/gtest.h>

namespace paced::placement {
namespace {

using Choices = std::vector<std::vector<std::size_t>>;

// The loads of an assignment, highest first: the smaller in lexical order, the better balanced.
std::vector<std::size_t> loads(const std::vector<std::size_t>& slot_of, std::size_t slots) {
    std::vector<std::size_t> load(slots, 0);
    for (std::size_t slot : slot_of)
        if (slot < slots) ++load[slot];
    std::sort(load.rbegin(), load.rend());
    return load;
}

// The best loads over all assignments: walks through the sets of loads that are possible, taker by taker.
std::vector<std::size_t> best_loads(const Choices& choices, std::size_t slots) {
    std::set<std::vector<std::size_t>> reachable{std::vector<std::size_t>(slots, 0)};
    for (const auto& each : choices) {
        if (each.empty()) continue;
        std::set<std::vector<std::size_t>> next;
        for (const auto& load : reachable)
            for (std::size_t slot : each) {
                auto more = load;
                ++more[slot];
                next.insert(more);
            }
        reachable = std::move(next);
    }
    std::vector<std::size_t> best;
    for (auto load : reachable) {
        std::sort(load.rbegin(), load.rend());
        if (best.empty() || load < best) best = load;
    }
    return best;
}

TEST(Balance, KnownCases) {
    const struct {
        Choices choices;
        std::size_t slots;
        std::vector<std::size_t> slot_of;
    } cases[] = {
        {{}, 0, {}},
        {{{}}, 0, {0}},  // nothing to take
        {{{}, {0}}, 1, {1, 0}},
        {{{0, 1}, {0, 1}, {0, 1}, {0, 1}}, 2, {0, 1, 0, 1}},  // fewest first, then the first named
        {{{0}, {0}, {1}, {1}}, 2, {0, 0, 1, 1}},
        {{{0, 1}, {0}}, 2, {1, 0}},                        // the first gives way
        {{{0, 1}, {1, 2}, {2, 3}, {0}}, 4, {1, 2, 3, 0}},  // a chain of three moves
    };
    for (const auto& each : cases) EXPECT_EQ(balance(each.choices, each.slots), each.slot_of);
}

TEST(Balance, AsGoodAsEveryAssignmentUpToEightByEight) {
    std::mt19937 random(20240607);
    for (int round = 0; round < 400; ++round) {
        const std::size_t takers = 1 + random() % 8, slots = 1 + random() % 8;
        // Sparse choices make the hard cases; the full 8 x 8 comes along.
        const unsigned density = 1 + random() % 4;
        Choices choices(takers);
        for (auto& each : choices) {
            for (std::size_t slot = 0; slot < slots; ++slot)
                if (random() % 4 < density) each.push_back(slot);
        }
        const auto slot_of = balance(choices, slots);
        for (std::size_t taker = 0; taker < takers; ++taker) {
            const bool allowed = std::find(choices[taker].begin(), choices[taker].end(), slot_of[taker]) != choices[taker].end();
            EXPECT_TRUE(allowed || (choices[taker].empty() && slot_of[taker] == slots));
        }
        EXPECT_EQ(loads(slot_of, slots), best_loads(choices, slots)) << "round " << round;
    }
}

}  // namespace
}  // namespace paced::placement
