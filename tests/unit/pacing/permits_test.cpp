// SPDX-License-Identifier: BSD-3-Clause
#include "policy/pacing/permits.h"

#include <vector>

#include <gtest/gtest.h>

namespace paced::pacing {
namespace {

constexpr std::uint64_t ms = 1'000'000;

class PermitsTest : public testing::Test {
protected:
    void admit(std::uint32_t width, std::uint32_t lead_percent = 0) {
        PermitRule rule;
        rule.width = width;
        rule.lead_percent = lead_percent;
        rule.on_first_done = false;
        permits.set(0, rule);
    }
    // Two members each.
    bool ask(std::uint64_t communicator, std::uint64_t sequence, std::uint64_t now, std::uint64_t members = 0b11) {
        return permits.request(0, communicator, 2, members, sequence, now);
    }
    void leave(std::uint64_t communicator, std::uint64_t sequence, std::uint64_t now, std::uint64_t members = 0b11) { permits.done(communicator, members, sequence, now); }
    std::vector<std::uint64_t> granted() {
        std::vector<std::uint64_t> found;
        for (Permits::Grant grant; permits.next(grant);) found.push_back(grant.communicator);
        return found;
    }

    Permits permits;
};
using List = std::vector<std::uint64_t>;

TEST_F(PermitsTest, GrantsInTheOrderOfAskingAndNoMoreThanTheWidth) {
    admit(2);
    for (std::uint64_t c : {7, 3, 9, 5}) ask(c, 0, c);
    EXPECT_EQ(granted(), (List{7, 3}));
    EXPECT_EQ(permits.in_flight(0), 2u);
    leave(3, 0, 20);
    EXPECT_EQ(granted(), (List{9}));
    leave(7, 0, 21);
    leave(9, 0, 21);
    EXPECT_EQ(granted(), (List{5}));
    EXPECT_EQ(permits.in_flight(0), 1u);
}

TEST_F(PermitsTest, NobodyWaitsWhileAPermitIsFree) {
    admit(1);
    ask(1, 0, 0);
    EXPECT_EQ(granted(), (List{1}));
    leave(1, 0, 1);
    ask(1, 1, 2);
    EXPECT_EQ(granted(), (List{1}));
}

TEST_F(PermitsTest, AWholeCommunicatorAsksAndAWholeOneLeaves) {
    admit(1);
    ask(1, 0, 0, 0b01);
    ask(2, 0, 1);
    EXPECT_EQ(granted(), (List{2})) << "one that lacks a member must not keep the link from others";
    ask(1, 0, 2, 0b10);
    leave(2, 0, 3, 0b01);
    EXPECT_EQ(granted(), List{});
    leave(2, 0, 4, 0b10);
    EXPECT_EQ(granted(), (List{1}));
}

TEST_F(PermitsTest, TheOtherRulesGrantAndReleaseAtTheFirst) {
    PermitRule rule;
    rule.on_first_request = rule.on_first_done = true;
    permits.set(0, rule);
    ask(1, 0, 0, 0b01);
    ask(2, 0, 0, 0b01);
    EXPECT_EQ(granted(), (List{1}));
    leave(1, 0, 1, 0b10);
    EXPECT_EQ(granted(), (List{2}));
    ask(2, 0, 2, 0b10);
    Permits::Grant grant{};
    ASSERT_TRUE(permits.next(grant));
    EXPECT_EQ(grant.members, 0b10u) << "who comes later is told, who knows is not told again";
}

TEST_F(PermitsTest, ABarrierWaitsForAllAndKeepsNobodyOut) {
    PermitRule rule;
    rule.kind = PermitRule::Kind::barrier;
    permits.set(0, rule);
    ask(1, 0, 0, 0b01);
    ask(2, 0, 0, 0b10);
    EXPECT_EQ(granted(), List{});
    ask(1, 0, 1, 0b10);
    ask(2, 0, 1, 0b01);
    EXPECT_EQ(granted(), (List{1, 2}));
    EXPECT_EQ(permits.in_flight(0), 0u);
}

TEST_F(PermitsTest, DomainsDoNotWaitForOneAnother) {
    permits.set(0, {});
    permits.set(1, {});
    permits.request(0, 1, 1, 1, 0, 0);
    permits.request(1, 2, 1, 1, 0, 0);
    EXPECT_EQ(granted(), (List{1, 2}));
}

TEST_F(PermitsTest, APermitIsTakenBackInTheEnd) {
    PermitRule rule;
    rule.longest_ns = 10 * ms;
    permits.set(0, rule);
    ask(1, 0, 0);
    ask(2, 0, 1 * ms);
    EXPECT_EQ(granted(), (List{1}));
    EXPECT_EQ(permits.next_tick_ns(), 10 * ms);
    permits.tick(10 * ms - 1);
    EXPECT_EQ(granted(), List{});
    permits.tick(10 * ms);
    EXPECT_EQ(granted(), (List{2}));
    EXPECT_EQ(permits.expired(), 1u);
    leave(1, 0, 11 * ms);  // late: it must not free what 2 holds
    ask(3, 0, 12 * ms);
    EXPECT_EQ(granted(), List{});
    EXPECT_EQ(permits.in_flight(0), 1u);
}

TEST_F(PermitsTest, NoPermitLastsLongerThanTheLimitWhateverIsAskedFor) {
    PermitRule rule;
    rule.longest_ns = ~std::uint64_t{0};
    permits.set(0, rule);
    ask(1, 0, 0);
    EXPECT_EQ(permits.next_tick_ns(), longest_permit_ns);
}

TEST_F(PermitsTest, WhatComesTwiceChangesNothing) {
    admit(1);
    ask(1, 0, 0, 0b01);
    ask(1, 0, 1, 0b01);
    EXPECT_EQ(granted(), List{}) << "one member twice is not two";
    ask(1, 0, 2, 0b10);
    ask(2, 0, 2);
    EXPECT_EQ(granted(), (List{1}));
    leave(1, 0, 3, 0b01);
    leave(1, 0, 3, 0b01);
    EXPECT_EQ(granted(), List{});
    ask(1, 0, 4, 0b01);
    EXPECT_EQ(granted(), (List{1})) << "asked again: its grant was lost";
    EXPECT_EQ(permits.in_flight(0), 1u);
}

TEST_F(PermitsTest, OldMessagesAreDropped) {
    admit(1);
    ask(1, 5, 0);
    EXPECT_EQ(granted(), (List{1}));
    ask(1, 4, 1);
    leave(1, 4, 1);
    ask(2, 0, 2);
    EXPECT_EQ(granted(), List{}) << "neither a grant for the old call nor the release of the new one";
    leave(1, 5, 3);
    EXPECT_EQ(granted(), (List{2}));
}

TEST_F(PermitsTest, WhoAsksForTheNextCallHasLeftTheLast) {
    admit(1);
    ask(1, 0, 0);
    ask(2, 0, 0);
    EXPECT_EQ(granted(), (List{1}));
    ask(1, 1, 1, 0b01);  // its done was lost
    permits.tick(1);
    EXPECT_EQ(granted(), (List{2}));
}

TEST_F(PermitsTest, WhoLeftWithoutAGrantLeavesTheQueue) {
    admit(1);
    ask(1, 0, 0);
    ask(2, 0, 0);
    ask(3, 0, 0);
    leave(2, 0, 1);
    EXPECT_EQ(granted(), (List{1}));
    leave(1, 0, 2);
    EXPECT_EQ(granted(), (List{3}));
}

TEST_F(PermitsTest, TheNextIsGrantedBeforeTheRunningOneIsExpectedToEnd) {
    admit(1, 20);
    ask(1, 0, 0);
    ask(2, 0, 0);
    leave(1, 0, 10 * ms);  // so long it takes: known from now on
    ask(1, 1, 12 * ms);
    leave(2, 0, 20 * ms);
    granted();  // 1 since 20 ms
    ask(2, 1, 21 * ms);
    EXPECT_EQ(permits.next_tick_ns(), 28 * ms);
    permits.tick(28 * ms);
    EXPECT_EQ(granted(), (List{2}));
    // 2 is expected to end at 38: but 1 has still not ended at 36
    ask(3, 0, 29 * ms);
    permits.tick(36 * ms);
    EXPECT_EQ(granted(), List{}) << "a call that takes longer than expected stops the passing on";
    leave(1, 1, 36 * ms);
    permits.tick(36 * ms);
    EXPECT_EQ(granted(), (List{3}));
}

TEST_F(PermitsTest, RefusesWhatItHasNoRoomFor) {
    admit(1);
    EXPECT_FALSE(permits.request(0, 1, member_limit + 1, 1, 0, 0));
    EXPECT_FALSE(permits.request(0, 1, 2, 0b100, 0, 0)) << "a member that there is not";
    EXPECT_FALSE(permits.request(permit_domains, 1, 2, 1, 0, 0));
    for (std::uint64_t c = 1; c <= permit_limit; ++c) EXPECT_TRUE(ask(c, 0, 0));
    EXPECT_FALSE(ask(permit_limit + 1, 0, 0));
    EXPECT_EQ(granted(), (List{1}));
    // 1 leaves and is not heard of again
    leave(1, 0, 1);
    EXPECT_FALSE(ask(permit_limit + 1, 0, longest_permit_ns / 2));
    EXPECT_TRUE(ask(permit_limit + 1, 0, 2 * longest_permit_ns));
}

TEST_F(PermitsTest, RefusesWhatComesTooFast) {
    admit(1);
    std::uint64_t sequence = 0;
    for (std::uint32_t i = 0; i < message_limit; ++i) ASSERT_TRUE(ask(1, sequence++, i));
    EXPECT_FALSE(ask(1, sequence, message_limit));
    EXPECT_TRUE(ask(1, sequence, 1'000'000'000));
}

}  // namespace
}  // namespace paced::pacing
