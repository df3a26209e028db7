// SPDX-License-Identifier: BSD-3-Clause
// Random arrivals and random directives over overlapping communicators: threads stand for ranks, a barrier of each communicator
// for its collective, one more thread for the node's agent. Whatever is decided, every run ends, and no
// call is held beyond its cap.
#include <barrier>
#include <chrono>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "plugin/interposer/pacing/delay.h"
#include "tests/unit/interposer/paced_node.h"

namespace paced::interposer {
namespace {

using pacing::Arm;
using test::PacedNode;
using test::write_directive;

constexpr std::uint64_t cap_ns = 300'000;
constexpr std::uint64_t tolerance = 500'000'000;  // what a busy machine may add to a delay
constexpr std::uint32_t ranks = 4;
constexpr bool is_member[PacedNode::communicators][ranks] = {{true, true, true, true}, {true, true, false, false}, {false, true, true, true}, {true, false, false, true}};

pacing::Directive random_directive(std::mt19937& random, std::uint32_t communicator, std::uint32_t epoch, std::uint64_t calls) {
    pacing::Directive directive;
    directive.communicator = PacedNode::id(communicator);
    directive.epoch = epoch;
    directive.from_sequence = calls + random() % 12 - (random() % 4 == 0 && calls > 8 ? 8 : 0);
    directive.period = static_cast<std::uint32_t>(random() % 5);
    directive.skip = static_cast<std::uint32_t>(random() % 3);
    directive.length = static_cast<std::uint32_t>(random() % 8);
    directive.position = static_cast<std::uint32_t>(random() % 4);
    directive.setting.arm = static_cast<Arm>(random() % (pacing::arm_count + 1));
    directive.setting.width = 1;
    directive.setting.cap_ns = random() % (cap_ns + 1);
    directive.setting.delay_ns = random() % (2 * cap_ns);
    directive.setting.threshold_ns = random() % 20'000;
    directive.setting.service_ns = random() % 20'000;
    return directive;
}

class GateProperty : public testing::TestWithParam<unsigned> {};

TEST_P(GateProperty, EveryRunEndsAndNoCallIsHeldBeyondItsCap) {
    constexpr int calls = 1500;
    const unsigned seed = GetParam();
    PacedNode node(ranks);
    std::vector<std::unique_ptr<std::barrier<>>> collectives;
    for (std::uint32_t c = 0; c < PacedNode::communicators; ++c) {
        std::uint32_t size = 0;
        for (std::uint32_t r = 0; r < ranks; ++r) size += is_member[c][r] ? 1 : 0;
        collectives.push_back(std::make_unique<std::barrier<>>(size));
        for (std::uint32_t r = 0; r < ranks; ++r)
            if (is_member[c][r]) node.join(r, c, size);
    }
    std::vector<std::thread> running;
    std::uint64_t longest[ranks] = {}, held[ranks] = {}, timeouts[ranks] = {};
    std::uint32_t ended = 0;
    std::uint64_t progress[PacedNode::communicators] = {};
    for (std::uint32_t r = 0; r < ranks; ++r)
        running.emplace_back([&, r] {
            std::mt19937 program(seed), own(seed * 31 + r);  // what is called is the same on all
            for (int i = 0; i < calls; ++i) {
                const auto c = static_cast<std::uint32_t>(program() % PacedNode::communicators);
                const auto operation = program() % 6 == 0 ? Operation::barrier : Operation::allreduce;
                const std::uint64_t bytes = program() % 2 == 0 ? 8 : 65536;
                if (!is_member[c][r]) continue;
                if (own() % 8 == 0) delay_until(now_ns() + own() % 200'000, false);
                const Passage passage = node.call(r, c, [&] { collectives[c]->arrive_and_wait(); }, operation, bytes);
                longest[r] = std::max(longest[r], passage.held_ns);
                held[r] += passage.held_ns > 0 ? 1 : 0;
                timeouts[r] += passage.timed_out ? 1 : 0;
                store(progress[c], node.calls(r, c));
            }
            fetch_add(ended, 1u);
        });
    std::thread agent([&] {
        std::mt19937 random(seed * 7 + 1);
        for (std::uint32_t epoch = 1; load(ended) < ranks;) {
            for (std::uint32_t c = 0; c < PacedNode::communicators; ++c) {
                epoch += 1 + static_cast<std::uint32_t>(random() % 2);
                write_directive(node.entry(c), random_directive(random, c, epoch, load(progress[c])));
            }
            delay_until(now_ns() + 1'000'000, false);
        }
    });
    for (auto& rank : running) rank.join();
    agent.join();
    std::uint64_t all = 0;
    for (std::uint32_t r = 0; r < ranks; ++r) {
        EXPECT_LT(longest[r], cap_ns + tolerance);
        EXPECT_LE(timeouts[r], held[r]);
        all += held[r];
        for (std::uint32_t c = 0; c < PacedNode::communicators; ++c) {
            if (!is_member[c][r]) continue;
            const auto& shown = node.shown(r, c);
            EXPECT_GT(shown.finished, 0u);
            EXPECT_EQ(shown.blocks[shown.finished % 2].epoch, shown.finished);
        }
    }
    EXPECT_GT(all, 100u) << "nothing was put to the test";
}

INSTANTIATE_TEST_SUITE_P(Seeds, GateProperty, testing::Values(1, 2, 3, 4));

}  // namespace
}  // namespace paced::interposer
