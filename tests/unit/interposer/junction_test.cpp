// SPDX-License-Identifier: BSD-3-Clause
// What comes together at a node, and what it refuses.
#include "plugin/interposer/exchange/junction.h"

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "plugin/interposer/exchange/tree.h"
#include "policy/pacing/progress.h"
#include "tests/unit/interposer/zeroed.h"

namespace paced::interposer {
namespace {

constexpr std::uint64_t ms = 1'000'000;

pacing::Progress progress(std::uint64_t communicator, std::uint32_t size, std::uint32_t members, std::uint64_t calls = 100) {
    return {communicator, calls, 5, 4096, 512, 2, size, members, members, members, 1, 7, 128};
}

pacing::BlockSummary block(std::uint64_t communicator, std::uint32_t size, std::uint32_t members, std::uint32_t epoch = 1) {
    pacing::BlockSummary made;
    made.communicator = communicator;
    made.size = size;
    made.members = members;
    made.epoch = epoch;
    made.calls = 16;
    made.wait_ns = members * 1000;
    return made;
}

pacing::Directive directive(std::uint64_t communicator, std::uint32_t epoch, pacing::Arm arm = pacing::Arm::hold_local) {
    pacing::Directive made;
    made.communicator = communicator;
    made.epoch = epoch;
    made.from_sequence = 1000 * epoch;
    made.setting.arm = arm;
    return made;
}

struct At {
    At() : memory(Junction::size()), junction(memory.get()) {}
    bool hear(std::uint32_t child, const std::vector<pacing::Progress>& progresses, const std::vector<pacing::BlockSummary>& blocks = {}, std::uint64_t now = 0, std::uint32_t flags = 0) {
        const SummaryHead head{1, static_cast<std::uint32_t>(progresses.size()), static_cast<std::uint32_t>(blocks.size()), flags, 0, 0, 0};
        return junction.hear(child, head, progresses.data(), blocks.data(), now);
    }
    std::vector<pacing::Directive> directives(std::uint32_t child, std::size_t limit = payload_limit) {
        std::vector<std::uint8_t> payload(limit);
        const std::size_t size = junction.compose_directives(child, payload.data(), limit);
        std::vector<pacing::Directive> found(size == 0 ? 0 : (size - sizeof(DirectivesHead)) / sizeof(pacing::Directive));
        if (!found.empty()) std::memcpy(found.data(), payload.data() + sizeof(DirectivesHead), found.size() * sizeof found[0]);
        return found;
    }
    // Says it to another node, as the wire would.
    bool say(At& to, std::uint32_t as, std::uint64_t now = 0) {
        std::uint8_t payload[payload_limit];
        said = junction.compose_summary(payload, sizeof payload, now, 0);
        return to.junction.hear(as, payload, said, now);
    }

    test::Zeroed memory;
    Junction junction;
    std::size_t said = 0;
};

TEST(Junction, BlocksAreJoinedAndCompleteAtTheLeader) {
    At leader, inner;
    ASSERT_TRUE(leader.hear(Junction::own, {progress(1, 5, 2)}));
    ASSERT_TRUE(inner.hear(Junction::own, {progress(1, 5, 1, 103)}));
    ASSERT_TRUE(inner.hear(4, {progress(1, 5, 2, 101)}));
    ASSERT_TRUE(inner.say(leader, 1));
    pacing::Progress joined;
    ASSERT_TRUE(leader.junction.take_progress(joined));
    EXPECT_EQ(joined.members, 5u);
    EXPECT_EQ(joined.calls, 103u);
    EXPECT_EQ(joined.most_local, 2u);
    EXPECT_EQ(joined.signature, 5u);
    EXPECT_FALSE(leader.junction.take_progress(joined)) << "said once";

    for (At* at : {&leader, &inner}) ASSERT_TRUE(at->junction.tell(directive(1, 1)));
    ASSERT_TRUE(leader.hear(Junction::own, {}, {block(1, 5, 2)}));
    ASSERT_TRUE(inner.hear(Junction::own, {}, {block(1, 5, 1)}));
    EXPECT_FALSE(inner.junction.has_block(0)) << "its child is missing";
    ASSERT_TRUE(inner.hear(4, {}, {block(1, 5, 2)}));
    EXPECT_TRUE(inner.junction.has_block(0));
    pacing::BlockSummary whole;
    EXPECT_FALSE(leader.junction.take_block(0, true, 1000 * ms, whole));
    ASSERT_TRUE(inner.say(leader, 1));
    EXPECT_FALSE(inner.junction.has_block(0)) << "sent once";
    ASSERT_TRUE(leader.junction.take_block(0, true, 1000 * ms, whole));
    EXPECT_EQ(whole.members, 5u);
    EXPECT_EQ(whole.wait_ns, 5000u);
    EXPECT_FALSE(leader.junction.take_block(0, true, 0, whole));
}

TEST(Junction, BlockWithoutAllMembersGoesAfterAWhileAndWhatComesLaterIsRefusedQuietly) {
    At leader;
    ASSERT_TRUE(leader.hear(1, {progress(1, 4, 2)}));
    ASSERT_TRUE(leader.hear(2, {progress(1, 4, 2)}));
    ASSERT_TRUE(leader.junction.tell(directive(1, 1)));
    ASSERT_TRUE(leader.hear(1, {}, {block(1, 4, 2)}, 10 * ms));
    pacing::BlockSummary part;
    EXPECT_FALSE(leader.junction.take_block(500 * ms, true, 1000 * ms, part));
    ASSERT_TRUE(leader.junction.take_block(1011 * ms, true, 1000 * ms, part));
    EXPECT_EQ(part.members, 2u) << "which voids it";
    ASSERT_TRUE(leader.hear(2, {}, {block(1, 4, 2)}, 1012 * ms));
    EXPECT_FALSE(leader.junction.take_block(9000 * ms, true, 0, part));
}

TEST(Junction, DirectivesReachTheChildrenThatHaveMembersOnce) {
    At at;
    ASSERT_TRUE(at.hear(Junction::own, {progress(1, 4, 2)}));
    ASSERT_TRUE(at.hear(1, {progress(1, 4, 2), progress(2, 2, 2)}));
    ASSERT_TRUE(at.hear(2, {progress(3, 2, 2)}));
    for (const std::uint64_t communicator : {1, 2, 9}) ASSERT_TRUE(at.junction.tell(directive(communicator, 1)));
    EXPECT_EQ(at.directives(1).size(), 2u);
    EXPECT_TRUE(at.directives(1).empty());
    EXPECT_TRUE(at.directives(2).empty());
    const pacing::Directive* own = at.junction.take_own();
    ASSERT_NE(own, nullptr);
    EXPECT_EQ(own->communicator, 1u);
    EXPECT_EQ(at.junction.take_own(), nullptr);
    ASSERT_TRUE(at.junction.tell(directive(1, 3, pacing::Arm::off)));
    ASSERT_TRUE(at.junction.tell(directive(1, 2)));  // older: ignored
    const auto next = at.directives(1);
    ASSERT_EQ(next.size(), 1u);
    EXPECT_EQ(next[0].epoch, 3u);
}

TEST(Junction, WhatDoesNotFitComesNext) {
    At at, above;
    std::vector<pacing::Progress> many;
    for (std::uint64_t i = 1; i <= 400; ++i) many.push_back(progress(i * 0x9e37'79b9'7f4a'7c15, 8, 4));
    ASSERT_TRUE(at.hear(1, many));
    std::uint32_t messages = 0;
    for (; at.junction.has_progress() && messages < 10; ++messages) {
        ASSERT_TRUE(at.say(above, 1));
        EXPECT_LE(at.said, payload_limit);
    }
    EXPECT_EQ(messages, 2u);
    EXPECT_EQ(above.junction.communicators(), 400u);
    for (const auto& one : many) ASSERT_TRUE(at.junction.tell(directive(one.communicator, 1)));
    std::size_t directives = 0;
    for (std::vector<pacing::Directive> some; !(some = at.directives(1)).empty();) directives += some.size();
    EXPECT_EQ(directives, 400u);
}

TEST(Junction, MoreCommunicatorsThanThereIsRoomForAreLeftAlone) {
    At at;
    for (std::uint64_t i = 1; i <= 1000; ++i) ASSERT_TRUE(at.hear(1, {progress(i, 8, 4)}));
    EXPECT_EQ(at.junction.communicators(), Junction::entry_limit);
    ASSERT_TRUE(at.junction.tell(directive(1000, 1)));
    EXPECT_TRUE(at.directives(1).empty());
    EXPECT_TRUE(at.hear(1, {}, {block(1000, 8, 4)}));
}

TEST(Junction, LostChildTakesItsMembersAlong) {
    At at;
    ASSERT_TRUE(at.hear(1, {progress(1, 4, 2)}));
    ASSERT_TRUE(at.hear(2, {progress(1, 4, 2)}));
    at.junction.leave(2, false);
    pacing::Progress joined;
    ASSERT_TRUE(at.junction.take_progress(joined));
    EXPECT_EQ(joined.members, 4u) << "it said that it would go";
    EXPECT_EQ(at.junction.total().flags & summary_lost, 0u);
    at.junction.leave(1, true);
    ASSERT_TRUE(at.junction.take_progress(joined));
    EXPECT_EQ(joined.members, 2u);
    EXPECT_NE(at.junction.total().flags & summary_lost, 0u);
}

TEST(Junction, Lies) {
    const auto refuses = [](auto spoil) {
        At at;
        EXPECT_TRUE(at.hear(1, {progress(1, 8, 2)}));
        EXPECT_TRUE(at.junction.tell(directive(1, 1)));
        auto told = progress(1, 8, 2);
        auto ran = block(1, 8, 2);
        SummaryHead head{1, 1, 1, 0, 0, 0, 0};
        spoil(head, told, ran);
        return !at.junction.hear(1, head, &told, &ran, 0);
    };
    using P = pacing::Progress;
    using B = pacing::BlockSummary;
    EXPECT_FALSE(refuses([](SummaryHead&, P&, B&) {})) << "the truth";
    EXPECT_TRUE(refuses([](SummaryHead&, P& p, B&) { p.members = 9; }));
    EXPECT_TRUE(refuses([](SummaryHead&, P& p, B&) { p.members = 0; }));
    EXPECT_TRUE(refuses([](SummaryHead&, P& p, B&) { p.size = ~0u; p.members = ~0u; }));
    EXPECT_TRUE(refuses([](SummaryHead&, P& p, B&) { p.calls = ~std::uint64_t{0}; }));
    EXPECT_TRUE(refuses([](SummaryHead&, P& p, B&) { p.leaves = 0; }));
    EXPECT_TRUE(refuses([](SummaryHead&, P& p, B&) { p.communicator = 0; }));
    EXPECT_TRUE(refuses([](SummaryHead& h, P&, B&) { h.nodes = 0; }));
    EXPECT_TRUE(refuses([](SummaryHead& h, P&, B&) { h.retransmissions = ~std::uint64_t{0}; }));
    EXPECT_TRUE(refuses([](SummaryHead&, P&, B& b) { b.members = 3; })) << "speaks for members it does not have";
    EXPECT_TRUE(refuses([](SummaryHead&, P&, B& b) { b.epoch = 2; })) << "has run what nobody was told of";
    EXPECT_TRUE(refuses([](SummaryHead&, P&, B& b) { b.size = 2; }));
    EXPECT_TRUE(refuses([](SummaryHead&, P&, B& b) { b.communicator = 2; }));
    EXPECT_TRUE(refuses([](SummaryHead&, P&, B& b) { b.iterations_ns2 = std::nan(""); }));
    EXPECT_TRUE(refuses([](SummaryHead&, P&, B& b) { b.wait_ns = ~std::uint64_t{0}; }));
    At twice;
    ASSERT_TRUE(twice.hear(1, {progress(1, 4, 3)}));
    EXPECT_FALSE(twice.hear(2, {progress(1, 4, 3)})) << "six members of four";
    pacing::Directive odd = directive(1, 1);
    odd.setting.arm = static_cast<pacing::Arm>(200);
    EXPECT_FALSE(twice.junction.tell(odd));
}

// Any bytes are taken or refused, and nothing else happens.
TEST(Junction, RandomMessages) {
    std::mt19937_64 random(7);
    At at;
    ASSERT_TRUE(at.hear(1, {progress(1, 8, 2)}));
    std::vector<std::uint8_t> payload(payload_limit);
    int refused = 0;
    for (int round = 0; round < 20'000; ++round) {
        const std::size_t size = random() % 2 == 0 ? random() % 400 : sizeof(SummaryHead) + sizeof(pacing::Progress) + sizeof(pacing::BlockSummary);
        for (std::size_t i = 0; i < size; ++i) payload[i] = static_cast<std::uint8_t>(random());
        const SummaryHead head{1, random() % 4 == 0 ? ~0u : 1u, 1, 0, 0, 0, 0};
        if (size >= sizeof head && random() % 2 == 0) std::memcpy(payload.data(), &head, sizeof head);
        refused += at.junction.hear(static_cast<std::uint32_t>(1 + random() % 3), payload.data(), size, 0) ? 0 : 1;
    }
    EXPECT_GT(refused, 19'900);
}

TEST(Progress, JoiningIsAssociative) {
    std::mt19937 random(3);
    for (int round = 0; round < 5000; ++round) {
        pacing::Progress nodes[4];
        for (auto& one : nodes) {
            one = progress(1, 8, 1 + random() % 2, random() % 3);
            one.signature = random() % 3;
            one.period = random() % 4 == 0 ? 0 : 2;
            one.leaf = random() % 3;
        }
        auto left = nodes[0], right = nodes[2], other = nodes[3];
        for (int i = 1; i < 4; ++i) pacing::join(left, nodes[i]);
        pacing::join(right, nodes[3]);
        auto pair = nodes[0];
        pacing::join(pair, nodes[1]);
        pacing::join(pair, right);
        for (int i = 2; i >= 0; --i) pacing::join(other, nodes[i]);
        EXPECT_EQ(std::memcmp(&left, &pair, sizeof left), 0);
        EXPECT_EQ(std::memcmp(&left, &other, sizeof left), 0);
    }
}

TEST(Tree, EveryNodeIsReachedOnce) {
    for (const std::uint32_t arity : {3u, 8u, 32u})
        for (const std::uint32_t nodes : {2u, 13u, 65u, 1057u, 1058u, 4096u}) {
            std::vector<std::uint32_t> children(nodes);
            for (std::uint32_t i = 1; i < nodes; ++i) {
                ASSERT_LT(parent_of(i, arity), i);
                ++children[parent_of(i, arity)];
            }
            for (std::uint32_t i = 0; i < nodes; ++i) ASSERT_EQ(children[i], children_of(i, arity, nodes));
        }
    EXPECT_EQ(depth_of(1057, 32), 2u);
    EXPECT_EQ(depth_of(1058, 32), 3u);
    EXPECT_EQ(depth_of(4096, 32), 3u);
}

}  // namespace
}  // namespace paced::interposer
