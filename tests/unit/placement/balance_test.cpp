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

// The same by going through all takers, one by one: who moves where must not depend on how takers are kept.
std::vector<std::size_t> balance_by_takers(const Choices& choices, std::size_t slots) {
    constexpr auto nobody = static_cast<std::size_t>(-1);
    std::vector<std::size_t> load(slots, 0), slot_of;
    for (std::size_t newcomer = 0; newcomer < choices.size(); ++newcomer) {
        std::vector<std::size_t> came_by(slots, nobody), reached;
        const auto reach_from = [&](std::size_t taker) {
            for (std::size_t slot : choices[taker]) {
                if (came_by[slot] != nobody) continue;
                came_by[slot] = taker;
                reached.push_back(slot);
            }
        };
        reach_from(newcomer);
        for (std::size_t i = 0; i < reached.size(); ++i)
            for (std::size_t taker = 0; taker < newcomer; ++taker)
                if (slot_of[taker] == reached[i]) reach_from(taker);
        slot_of.push_back(slots);
        if (reached.empty()) continue;
        std::size_t slot = *std::min_element(reached.begin(), reached.end(), [&](std::size_t a, std::size_t b) { return load[a] < load[b]; });
        ++load[slot];
        for (std::size_t taker = nobody; taker != newcomer;) {
            taker = came_by[slot];
            std::swap(slot, slot_of[taker]);
        }
    }
    return slot_of;
}

TEST(Balance, TakersOfOneKindMoveAsIfEachWereLookedAt) {
    std::mt19937 random(5);
    for (int round = 0; round < 500; ++round) {
        const std::size_t slots = 1 + random() % 8;
        Choices kinds(1 + random() % 6), choices(random() % 60);
        for (auto& each : kinds) {
            for (std::size_t slot = 0; slot < slots; ++slot)
                if (random() % 3 == 0) each.push_back(slot);
            std::shuffle(each.begin(), each.end(), random);
        }
        for (auto& each : choices) each = kinds[random() % kinds.size()];
        ASSERT_EQ(balance(choices, slots), balance_by_takers(choices, slots)) << round;
    }
}

}  // namespace
}  // namespace paced::placement
