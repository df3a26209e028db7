// SPDX-License-Identifier: BSD-3-Clause
// The gate by itself: what each arm does to a call, from which call on, and what is never done to any.
#include "plugin/interposer/pacing/gate.h"

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "tests/unit/interposer/paced_node.h"

namespace paced::interposer {
namespace {

using pacing::Arm;
using test::PacedNode;
using test::write_directive;

constexpr std::uint64_t ms = 1'000'000;
constexpr std::uint64_t tolerance = 200 * ms;  // what a busy machine may add to a delay

void pause_ms(int count) { std::this_thread::sleep_for(std::chrono::milliseconds(count)); }

void expect_held(const Passage& passage, std::uint64_t wanted_ns) {
    EXPECT_GE(passage.held_ns, wanted_ns);
    EXPECT_LT(passage.held_ns, wanted_ns + tolerance);
}

TEST(Gate, WithoutADirectiveNothingIsDelayed) {
    PacedNode node(1);
    node.join(0);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(node.call(0).held_ns, 0u);
    EXPECT_EQ(node.shown(0).finished, 0u);
    EXPECT_EQ(node.shown(0).period, 1u);
    EXPECT_EQ(node.shown(0).bytes, 4096u);
    EXPECT_NE(node.shown(0).signature, 0u);
}

TEST(Gate, PhaseIsOnceAndFromItsCallOn) {
    PacedNode node(1);
    node.join(0);
    node.call(0);
    auto directive = node.directive(Arm::phase);
    directive.from_sequence = 3;
    directive.setting.delay_ns = 5 * ms;
    write_directive(node.entry(0), directive);
    EXPECT_EQ(node.call(0).held_ns, 0u);
    EXPECT_EQ(node.call(0).held_ns, 0u);
    expect_held(node.call(0), 5 * ms);
    EXPECT_EQ(node.call(0).held_ns, 0u);
}

TEST(Gate, NoDelayIsLongerThanItsCapOrTheWindow) {
    PacedNode node(1);
    node.join(0);
    node.call(0);
    auto directive = node.directive(Arm::phase);
    directive.setting.delay_ns = 3600'000 * ms;
    directive.setting.cap_ns = 2 * ms;
    write_directive(node.entry(0), directive);
    expect_held(node.call(0), 2 * ms);
    directive = node.directive(Arm::phase);
    directive.setting.delay_ns = 5 * ms;
    directive.setting.cap_ns = 0;
    write_directive(node.entry(0), directive);
    EXPECT_EQ(node.call(0).held_ns, 0u);

    PacedNode narrow(1, "3000000");
    narrow.join(0);
    narrow.call(0);
    directive = narrow.directive(Arm::phase);
    directive.setting.delay_ns = directive.setting.cap_ns = 3600'000 * ms;
    write_directive(narrow.entry(0), directive);
    expect_held(narrow.call(0), 3 * ms);
    // The law's own caps, and the site's window_max behind them.
    PacedNode automatic(1, "auto:4000000");
    automatic.join(0);
    automatic.call(0);
    write_directive(automatic.entry(0), directive);
    expect_held(automatic.call(0), 4 * ms);
    PacedNode closed(1, "0");
    closed.join(0);
    closed.call(0);
    write_directive(closed.entry(0), directive);
    EXPECT_EQ(closed.call(0).held_ns, 0u);
}

TEST(Gate, RemoteHoldIsTheOwnShortestWaitLessTheService) {
    PacedNode node(1);
    node.join(0);
    node.call(0);
    auto directive = node.directive(Arm::off);
    directive.length = 3;
    write_directive(node.entry(0), directive);
    for (int i = 0; i < 3; ++i) node.call(0, 0, [] { pause_ms(20); });
    ASSERT_EQ(node.shown(0).finished, 1u);
    const std::uint64_t shortest = node.shown(0).blocks[1].shortest_wait_ns;
    EXPECT_GE(shortest, 20 * ms);
    directive = node.directive(Arm::hold_remote);
    directive.setting.delay_ns = 1000 * ms;
    directive.setting.service_ns = 5 * ms;
    write_directive(node.entry(0), directive);
    const std::uint64_t held = node.call(0).held_ns;
    EXPECT_GE(held, shortest - 5 * ms - ms);
    EXPECT_LT(held, shortest - 5 * ms + tolerance);
    directive = node.directive(Arm::hold_remote);
    directive.setting.delay_ns = 1000 * ms;
    directive.setting.service_ns = 3600'000 * ms;
    write_directive(node.entry(0), directive);
    EXPECT_EQ(node.call(0).held_ns, 0u);
}

TEST(Gate, FixedDelayLooksAtTheLastCall) {
    PacedNode node(1);
    node.join(0);
    node.call(0);
    auto directive = node.directive(Arm::fixed_delay);
    directive.setting.delay_ns = 3 * ms;
    directive.setting.threshold_ns = 2000 * ms;
    write_directive(node.entry(0), directive);
    node.call(0, 0, [] { pause_ms(10); });
    EXPECT_EQ(node.call(0).held_ns, 0u);
    directive = node.directive(Arm::fixed_delay);
    directive.setting.delay_ns = 3 * ms;
    directive.setting.threshold_ns = 5 * ms;
    write_directive(node.entry(0), directive);
    node.call(0, 0, [] { pause_ms(10); });
    expect_held(node.call(0), 3 * ms);
}

TEST(Gate, SlotsAreForTheFirstDataCallAfterAPause) {
    PacedNode node(1);
    node.join(0);
    const auto iteration = [&](bool pause) {
        std::vector<std::uint64_t> held;
        if (pause) pause_ms(10);
        held.push_back(node.call(0, Operation::allreduce, 1 << 20).held_ns);
        held.push_back(node.call(0, Operation::allreduce, 1 << 20).held_ns);
        if (pause) pause_ms(10);
        held.push_back(node.call(0, Operation::allreduce, 8).held_ns);
        held.push_back(node.call(0, Operation::barrier, 0).held_ns);
        return held;
    };
    for (int i = 0; i < 16; ++i) iteration(false);
    ASSERT_EQ(node.shown(0).period, 4u);
    auto directive = node.directive(Arm::slots);
    directive.position = 3;
    directive.setting.delay_ns = 2 * ms;
    write_directive(node.entry(0), directive);
    const auto held = iteration(true);
    EXPECT_GE(held[0], 6 * ms);
    EXPECT_LT(held[0], 6 * ms + tolerance);
    EXPECT_EQ(held[1] + held[2] + held[3], 0u);
    directive = node.directive(Arm::slots);
    directive.position = 0;
    directive.setting.delay_ns = 2 * ms;
    write_directive(node.entry(0), directive);
    EXPECT_EQ(iteration(true)[0], 0u);
}

TEST(Gate, WithoutAnArbiterPermitsDelayNobody) {
    PacedNode node(1);
    node.join(0);
    for (int i = 0; i < 20; ++i) node.call(0);
    for (const Arm arm : {Arm::admit, Arm::barrier}) {
        write_directive(node.entry(0), node.directive(arm));
        for (int i = 0; i < 3; ++i) EXPECT_LT(node.call(0).held_ns, tolerance);
    }
}

// Everything that is not a blocking synchronizing collective, calls while recording is paused, and threads at the same time.
TEST(Gate, IllegalPointsAreNeverDelayed) {
    PacedNode node(1);
    node.join(0);
    node.call(0);
    auto directive = node.directive(Arm::fixed_delay);
    directive.setting.delay_ns = 3 * ms;
    write_directive(node.entry(0), directive);
    node.call(0, 0, [] { pause_ms(5); });
    std::uint32_t delayed = 0;
    for (std::uint32_t i = 0; i < segment::operation_limit; ++i) {
        node.call(0, 0, [] { pause_ms(2); });
        if (node.call(0, static_cast<Operation>(i)).held_ns > 0) delayed |= 1u << i;
    }
    // barrier allreduce allgather(v) alltoall(v,w) reduce_scatter(_block)
    EXPECT_EQ(delayed, 0b0'0111'1100'0011'1001u);
    node.call(0, 0, [] { pause_ms(5); });
    node.process(0).inside = 2;
    EXPECT_EQ(node.call(0).held_ns, 0u);
    node.process(0).inside = 1;
    node.process(0).paused = 1;
    node.call(0, 0, [] { pause_ms(5); });
    EXPECT_EQ(node.call(0).held_ns, 0u);
    node.process(0).paused = 0;
    node.call(0, 0, [] { pause_ms(5); });
    EXPECT_GT(node.call(0).held_ns, 0u);
}

TEST(Gate, LateDirectivesHoldAtOnceAndAreVoid) {
    PacedNode node(1);
    node.join(0);
    for (int i = 0; i < 10; ++i) node.call(0);
    auto directive = node.directive(Arm::off);
    directive.from_sequence = 7;
    directive.length = 8;
    write_directive(node.entry(0), directive);
    for (int i = 0; i < 8; ++i) node.call(0);
    EXPECT_EQ(node.shown(0).finished, 1u);
    EXPECT_EQ(node.shown(0).blocks[1].late, 1u);
    directive = node.directive(Arm::off);
    directive.length = 8;
    write_directive(node.entry(0), directive);
    for (int i = 0; i < 8; ++i) node.call(0);
    EXPECT_EQ(node.shown(0).finished, 2u);
    EXPECT_EQ(node.shown(0).blocks[0].late, 0u);
    EXPECT_EQ(node.shown(0).blocks[0].calls, 8u);
    EXPECT_EQ(node.shown(0).blocks[0].iterations, 8u);
}

// Each block may bring the one after it while it runs: none of the calls lies between two.
TEST(Gate, BlocksFollowAsCloselyAsTheyAreTold) {
    PacedNode node(1);
    node.join(0);
    node.call(0);
    auto directive = node.directive(Arm::off);
    directive.length = directive.then_length = 4;
    write_directive(node.entry(0), directive);
    for (std::uint32_t epoch = 1; epoch <= 6; ++epoch) {
        for (int i = 0; i < 4; ++i) node.call(0);
        ASSERT_EQ(node.shown(0).finished, epoch);
        const pacing::RankBlock& block = node.shown(0).blocks[epoch % 2];
        EXPECT_EQ(block.late, 0u);
        EXPECT_EQ(block.calls, 4u);
        EXPECT_EQ(block.iterations, 4u);
        if (epoch % 2 != 0) node.call(0);  // told in the midst of the second block, or just before its first call
        directive = following(directive);
        directive.then_length = 4;
        write_directive(node.entry(0), directive);
        if (epoch % 2 != 0) {
            for (int i = 0; i < 3; ++i) node.call(0);
            ASSERT_EQ(node.shown(0).finished, ++epoch);
            EXPECT_EQ(node.shown(0).blocks[epoch % 2].late, 0u);
            directive = following(directive);
            directive.then_length = 4;
            write_directive(node.entry(0), directive);
        }
    }
}

// Told between the block's last call and the next one it is in time; a call later it is void, like any other.
TEST(Gate, WhatIsToldAfterTheBlockFollowsItIfNoCallHasPassed) {
    for (const std::uint32_t passed : {0u, 1u}) {
        PacedNode node(1);
        node.join(0);
        node.call(0);
        auto directive = node.directive(Arm::off);
        directive.length = 4;
        write_directive(node.entry(0), directive);
        for (std::uint32_t i = 0; i < 4 + passed; ++i) node.call(0);
        ASSERT_EQ(node.shown(0).finished, 1u);
        directive.then_length = 4;
        write_directive(node.entry(0), directive);
        for (int i = 0; i < 4; ++i) node.call(0);
        EXPECT_EQ(node.shown(0).finished, 2u);
        EXPECT_EQ(node.shown(0).blocks[0].late, passed);
    }
}

TEST(Gate, TheSameBlockWithAnotherBeginningOrEndIsNotFollowed) {
    PacedNode node(1);
    node.join(0);
    node.call(0);
    auto directive = node.directive(Arm::off);
    directive.length = 4;
    write_directive(node.entry(0), directive);
    node.call(0);
    auto other = directive;
    ++other.from_sequence;
    other.then_length = 4;
    write_directive(node.entry(0), other);
    for (int i = 0; i < 11; ++i) node.call(0);
    EXPECT_EQ(node.shown(0).finished, 1u);
    EXPECT_EQ(node.shown(0).blocks[1].calls, 4u);
}

TEST(Gate, ABlockEndsWithTheNextDirectiveWhereItHasNoLength) {
    PacedNode node(1);
    node.join(0);
    node.call(0);
    write_directive(node.entry(0), node.directive(Arm::off));
    for (int i = 0; i < 5; ++i) node.call(0);
    EXPECT_EQ(node.shown(0).finished, 0u);
    write_directive(node.entry(0), node.directive(Arm::off));
    node.call(0);
    EXPECT_EQ(node.shown(0).finished, 1u);
    EXPECT_EQ(node.shown(0).blocks[1].calls, 5u);
    EXPECT_EQ(node.shown(0).blocks[1].late, 0u);
}

TEST(Gate, MissedDirectivesAreSaidToBeVoid) {
    PacedNode node(1);
    node.join(0);
    node.call(0);
    auto directive = node.directive(Arm::off);
    directive.length = 2;
    write_directive(node.entry(0), directive);
    for (int i = 0; i < 2; ++i) node.call(0);
    ASSERT_EQ(node.shown(0).finished, 1u);
    node.directive(Arm::off);
    node.directive(Arm::off);
    write_directive(node.entry(0), node.directive(Arm::off));  // 4
    node.call(0);
    EXPECT_EQ(node.shown(0).finished, 3u);
    EXPECT_EQ(node.shown(0).blocks[1].epoch, 3u);
    EXPECT_EQ(node.shown(0).blocks[1].late, 1u);
    EXPECT_EQ(node.shown(0).blocks[0].epoch, 2u);
}

TEST(Gate, DirectivesThatMakeNoSenseAreNotFollowed) {
    PacedNode node(1);
    node.join(0);
    node.call(0);
    const auto phase = [&](std::uint32_t epoch) {
        auto directive = node.directive(Arm::phase);
        directive.epoch = epoch;
        directive.setting.delay_ns = 3 * ms;
        return directive;
    };
    auto foreign = phase(8);
    foreign.communicator = 77;
    write_directive(node.entry(0), foreign);
    EXPECT_EQ(node.call(0).held_ns, 0u);
    write_directive(node.entry(0), phase(0));
    EXPECT_EQ(node.call(0).held_ns, 0u);
    auto unknown = phase(9);
    unknown.setting.arm = static_cast<Arm>(200);
    write_directive(node.entry(0), unknown);
    EXPECT_EQ(node.call(0).held_ns, 0u);
    write_directive(node.entry(0), phase(9));
    EXPECT_EQ(node.call(0).held_ns, 0u) << "the same epoch";
    write_directive(node.entry(0), phase(3));
    EXPECT_EQ(node.call(0).held_ns, 0u) << "an older one";
    store(node.entry(0).version, load(node.entry(0).version) + 1);  // being written
    EXPECT_EQ(node.call(0).held_ns, 0u);
    store(node.entry(0).version, load(node.entry(0).version) - 1);
    write_directive(node.entry(0), phase(10));
    expect_held(node.call(0), 3 * ms);
}

TEST(Gate, FullTableIsNotPaced) {
    PacedNode node(1);
    for (std::uint32_t i = 0; i < pacing::paced_limit; ++i) node.header->communicators[i].id = 5'000'000 + i;
    Tracked tracked{};
    tracked.size = 4;
    tracked.id = 42;
    EXPECT_EQ(pace_communicator(node.process(0), tracked), nullptr);
    EXPECT_EQ(node.header->paced, 1u);
    tracked.size = 1;
    EXPECT_EQ(pace_communicator(node.process(0), tracked), nullptr) << "alone";
}

TEST(Gate, RecordsSayHowLongTheirCallWasDelayed) {
    segment::Record record{};
    EXPECT_EQ(segment::held_ns(record), 0u);
    for (const std::uint64_t ns : {std::uint64_t{100}, std::uint64_t{25'600}, 123'456'700 * std::uint64_t{1}, 1000 * ms}) {
        segment::set_held(record, ns);
        EXPECT_EQ(segment::held_ns(record), ns);
    }
    segment::set_held(record, 149);
    EXPECT_EQ(segment::held_ns(record), 100u);
    segment::set_held(record, ~std::uint64_t{0});
    EXPECT_EQ(segment::held_ns(record), 0xff'ffffu * segment::held_unit_ns);
}

class LocalHold : public testing::Test {
protected:
    LocalHold() {
        for (std::uint32_t rank = 0; rank < 2; ++rank) {
            node.join(rank, 0, 2);
            node.call(rank);
        }
    }
    void start(std::uint64_t cap_ns) {
        auto directive = node.directive(Arm::hold_local);
        directive.setting.cap_ns = cap_ns;
        write_directive(node.entry(0), directive);
    }
    PacedNode node{2};
};

TEST_F(LocalHold, EndsWithTheLastArrival) {
    start(10'000 * ms);
    node.process(0).delay_limit_ns = 10'000 * ms;
    for (int i = 0; i < 5; ++i) {
        std::uint64_t late_arrival = 0;
        std::thread late([&] {
            pause_ms(20);
            late_arrival = now_ns();
            EXPECT_EQ(node.call(1).held_ns, 0u);
        });
        const Passage early = node.call(0);
        late.join();
        EXPECT_GE(early.entry_ns, late_arrival);
        EXPECT_LT(early.entry_ns, late_arrival + tolerance);
        EXPECT_FALSE(early.timed_out);
    }
}

// Dead, stopped or elsewhere: the same from here.
TEST_F(LocalHold, EndsByItsCapWhereOneDoesNotCome) {
    start(15 * ms);
    for (int i = 0; i < 3; ++i) {
        const Passage early = node.call(0);
        expect_held(early, 15 * ms);
        EXPECT_TRUE(early.timed_out);
    }
    // it comes after all, and everything is as it was
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(node.call(1).held_ns == 0 || i == 1);
    EXPECT_EQ(node.call(1).held_ns, 0u);
    std::thread late([&] {
        pause_ms(3);
        node.call(1);
    });
    const Passage early = node.call(0);
    late.join();
    EXPECT_GT(early.held_ns, 0u);
}

// Calls of every kind count, also those at which nobody is held, and those under other settings.
TEST_F(LocalHold, CountsCallsThatWereMadeBefore) {
    for (int i = 0; i < 7; ++i) {
        node.call(0, i % 2 == 0 ? Operation::bcast : Operation::allreduce);
        node.call(1, i % 2 == 0 ? Operation::bcast : Operation::allreduce);
    }
    start(10'000 * ms);
    node.call(1, Operation::bcast);  // runs ahead
    EXPECT_EQ(node.call(0, Operation::bcast).held_ns, 0u);
    std::thread late([&] {
        pause_ms(10);
        node.call(1);
    });
    const Passage early = node.call(0);
    late.join();
    EXPECT_GT(early.held_ns, 0u);
    EXPECT_FALSE(early.timed_out);
    EXPECT_EQ(node.entry(0).arrived, 2 * node.calls(0));
}

TEST_F(LocalHold, PastTwoToTheThirtyTwo) {
    node.calls(0) = node.calls(1) = 0xffff'fffd;
    start(10'000 * ms);
    for (int i = 0; i < 6; ++i) {
        std::thread late([&] {
            pause_ms(5);
            node.call(1);
        });
        const Passage early = node.call(0);
        late.join();
        EXPECT_FALSE(early.timed_out) << i;
        // At the first of them the other has not told of more than 2^31 calls, which looks like being ahead.
        if (i > 0) {
            EXPECT_GT(early.held_ns, 0u) << i;
        }
        EXPECT_LT(early.held_ns, 5 * ms + tolerance) << i;
    }
}

}  // namespace
}  // namespace paced::interposer
