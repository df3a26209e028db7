// SPDX-License-Identifier: BSD-3-Clause
#include "policy/pacing/arms.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/unit/pacing/simulated_job.h"

namespace paced::pacing::test {
namespace {

constexpr double ms = 1e6;

// blocks of 100 ms iterations, calls of 20 ms, the longest of them 50 ms
OffWindow steady(double longest_ms = 50) {
    OffWindow off;
    for (int i = 0; i < 8; ++i) {
        Observation block;
        block.iterations = 8;
        block.mean_ns = 100 * ms;
        block.log_mean = std::log(100 * ms);
        block.cv = 0.1;
        block.service_ns = 20 * ms;
        block.longest_service_ns = longest_ms * ms;
        off.add(block);
    }
    return off;
}

Setting of(Arm arm) {
    Setting setting;
    setting.arm = arm;
    return setting;
}

TEST(Arms, ThatCannotActAreNotTried) {
    Facts facts = four_groups();
    EXPECT_TRUE(can_act(Arm::admit, facts));
    EXPECT_TRUE(can_act(Arm::rate, facts));
    EXPECT_FALSE(can_act(Arm::hold_local, facts));
    facts.most_local = 2;
    EXPECT_TRUE(can_act(Arm::hold_local, facts));
    facts.tcp = false;
    EXPECT_FALSE(can_act(Arm::rate, facts));
    facts.communicators = 1;
    EXPECT_FALSE(can_act(Arm::admit, facts));
    facts.communicators = 4;
    facts.crosses = false;
    EXPECT_FALSE(can_act(Arm::admit, facts));
    facts = four_groups();
    facts.window_ns = 0;
    for (std::uint32_t i = 0; i < arm_count; ++i) EXPECT_FALSE(can_act(static_cast<Arm>(i), facts));
    // for comparison only
    for (const Arm arm : {Arm::off, Arm::fixed_delay, Arm::barrier}) EXPECT_FALSE(can_act(arm, four_groups()));
}

// Where TCP counts what it sends again and counts nothing, nothing is overloaded; other fabrics have no counter that we read.
TEST(Arms, TurnsAreTriedOnSuspicionOnlyWhereNothingCounts) {
    Facts facts = four_groups();
    Arm arms[arm_count];
    facts.tcp = true;
    EXPECT_EQ(arms_to_try(facts, Signature(), true, arms), 0u);
    facts.tcp = false;
    ASSERT_EQ(arms_to_try(facts, Signature(), true, arms), 1u);
    EXPECT_EQ(arms[0], Arm::admit);
}

TEST(Arms, SlotsAreAServiceLongAndFitTheWindow) {
    Facts facts = four_groups();
    OffWindow off;
    Observation block;
    block.iterations = 8;
    block.valid = true;
    block.mean_ns = 80e6;
    block.log_mean = 18.2;
    block.service_ns = block.longest_service_ns = 44e6;
    for (int i = 0; i < 8; ++i) off.add(block);
    Setting settings[candidate_limit];
    ASSERT_EQ(candidates_of(Arm::slots, facts, off, Tuning(), settings), 2u);
    EXPECT_NEAR(static_cast<double>(settings[0].delay_ns), 14e6, 1e4);  // 1.25 times 11 ms, two digits
    EXPECT_EQ(settings[0].cap_ns, 3 * settings[0].delay_ns);
    EXPECT_GT(settings[1].delay_ns, settings[0].delay_ns);
    facts.window_ns = 20'000'000;
    ASSERT_EQ(candidates_of(Arm::slots, facts, off, Tuning(), settings), 2u);
    EXPECT_EQ(settings[0].cap_ns, 20'000'000u);
}

TEST(Arms, ASlotIsWhatOneTakesAloneAndALittle) {
    const Facts facts = four_groups();
    Setting under = of(Arm::slots), to;
    under.delay_ns = 18'000'000;
    ASSERT_TRUE(slot_of(11e6, under, facts, steady(), Tuning(), to));
    EXPECT_EQ(to.arm, Arm::slots);
    EXPECT_EQ(to.delay_ns, 14'000'000u);
    EXPECT_EQ(to.cap_ns, 42'000'000u);
    // one that is longer than the slot has met another, or a time-out
    under.delay_ns = 10'000'000;
    ASSERT_TRUE(slot_of(60e6, under, facts, steady(), Tuning(), to));
    EXPECT_EQ(to.delay_ns, 13'000'000u);
    for (const double nonsense : {0.0, -1.0, 1e16, std::nan("")}) EXPECT_FALSE(slot_of(nonsense, under, facts, steady(), Tuning(), to)) << nonsense;
}

TEST(Arms, TurnsAreTakenAmongRivals) {
    Facts facts = four_groups();
    facts.communicators = 8;
    facts.rivals = 2;
    OffWindow off;
    Observation block;
    block.iterations = 8;
    block.valid = true;
    block.mean_ns = 80e6;
    block.log_mean = 18.2;
    block.service_ns = block.longest_service_ns = 20e6;
    for (int i = 0; i < 8; ++i) off.add(block);
    Setting settings[candidate_limit];
    ASSERT_EQ(candidates_of(Arm::slots, facts, off, Tuning(), settings), 2u);
    EXPECT_EQ(settings[0].delay_ns, 13'000'000u);
    EXPECT_EQ(settings[0].cap_ns, 13'000'000u);
    ASSERT_EQ(candidates_of(Arm::admit, facts, off, Tuning(), settings), 1u);
    EXPECT_EQ(settings[0].width, 1u);
    facts.rivals = 1;
    EXPECT_FALSE(can_act(Arm::slots, facts));
    EXPECT_FALSE(can_act(Arm::admit, facts));
}

TEST(Arms, FollowTheSignature) {
    Facts facts = four_groups();
    facts.most_local = 2;
    Arm arms[arm_count];
    Signature seen;
    EXPECT_EQ(arms_to_try(facts, seen, false, arms), 0u);
    seen.congested = true;
    ASSERT_EQ(arms_to_try(facts, seen, false, arms), 2u);
    EXPECT_EQ(arms[0], Arm::slots);
    EXPECT_EQ(arms[1], Arm::admit);
    seen.retransmits = true;
    ASSERT_EQ(arms_to_try(facts, seen, false, arms), 3u);
    EXPECT_EQ(arms[2], Arm::rate);
    seen = {};
    seen.waits = true;
    ASSERT_EQ(arms_to_try(facts, seen, false, arms), 2u);
    EXPECT_EQ(arms[0], Arm::hold_local);
    EXPECT_EQ(arms[1], Arm::hold_remote);
    seen = {};
    seen.foreign_blocks = 5;
    ASSERT_EQ(arms_to_try(facts, seen, false, arms), 1u);
    EXPECT_EQ(arms[0], Arm::phase);
}

TEST(Arms, WidthsBeginAtHalfTheCommunicators) {
    Facts facts = four_groups();
    Setting settings[candidate_limit];
    ASSERT_EQ(candidates_of(Arm::admit, facts, steady(), Tuning(), settings), 2u);
    EXPECT_EQ(settings[0].width, 2u);
    EXPECT_EQ(settings[1].width, 1u);
    facts.communicators = 64;
    ASSERT_EQ(candidates_of(Arm::admit, facts, steady(), Tuning(), settings), 3u);
    EXPECT_EQ(settings[0].width, 32u);
    EXPECT_EQ(settings[1].width, 16u);
    EXPECT_EQ(settings[2].width, 1u);
    facts.communicators = 2;
    ASSERT_EQ(candidates_of(Arm::admit, facts, steady(), Tuning(), settings), 1u);
    EXPECT_EQ(settings[0].width, 1u);
}

TEST(Arms, RatesAreWhatTheBusiestSocketNeeds) {
    Facts facts = four_groups();
    facts.size = 8;
    facts.socket_bytes = 16384;
    Setting settings[candidate_limit];
    const auto is = [&](std::uint32_t i, double bytes_s) { EXPECT_NEAR(static_cast<double>(settings[i].rate_bytes_s), bytes_s, 0.05 * bytes_s) << i; };  // two digits
    // 16 KiB in 20 ms: a little less, and a little more
    ASSERT_EQ(candidates_of(Arm::rate, facts, steady(), Tuning(), settings), 2u);
    is(0, 0.85 * 16384 / 0.020);
    is(1, 1.15 * 16384 / 0.020);
    EXPECT_TRUE(can_act(Arm::rate, facts));
    // what goes beyond a ring's two payloads is another class's, whose calls a rate for this one would stop
    facts.socket_bytes = 2 * facts.bytes + 1;
    EXPECT_FALSE(can_act(Arm::rate, facts));
    facts.socket_bytes = 0;
    EXPECT_FALSE(can_act(Arm::rate, facts)) << "nobody has looked at the sockets";
    EXPECT_EQ(candidates_of(Arm::rate, facts, OffWindow(), Tuning(), settings), 0u);
}

TEST(Arms, RatesLieBetweenTheQuickestBlockAndTheQuickestCall) {
    Facts facts = four_groups();
    facts.communicators = 1;
    facts.size = 8;
    facts.socket_bytes = 16384;
    OffWindow off;
    Observation block;
    block.iterations = 8;
    block.valid = true;
    block.mean_ns = 100e6;
    block.log_mean = 18.4;
    block.service_ns = block.longest_service_ns = 64e6;
    block.shortest_service_ns = 16e6;
    off.add(block);
    block.shortest_service_ns = 20e6;
    off.add(block);
    Setting settings[candidate_limit];
    const auto is = [&](std::uint32_t i, double bytes_s) { EXPECT_NEAR(static_cast<double>(settings[i].rate_bytes_s), bytes_s, 0.05 * bytes_s) << i; };  // two digits
    ASSERT_EQ(candidates_of(Arm::rate, facts, off, Tuning(), settings), 3u);
    is(0, 0.85 * 16384 / 0.064);
    is(1, 0.85 * 16384 / 0.016);
    is(2, 0.85 * 16384 / 0.032);
    // one of several may have been alone, and the shortest of several calls may be the smallest
    facts.communicators = 4;
    EXPECT_EQ(candidates_of(Arm::rate, facts, off, Tuning(), settings), 2u);
    facts.communicators = 1;
    facts.calls = 2;
    EXPECT_EQ(candidates_of(Arm::rate, facts, off, Tuning(), settings), 2u);
}

// An all-to-all: each gets from all others at once, and turns would make them begin together.
TEST(Arms, NoTurnsWhereMembersOverrunAPortThemselves) {
    Facts facts = four_groups();
    facts.size = 8;
    facts.tcp = true;
    facts.socket_bytes = facts.bytes / 8;
    Signature seen;
    seen.congested = seen.retransmits = true;
    Arm arms[arm_count];
    ASSERT_EQ(arms_to_try(facts, seen, false, arms), 1u);
    EXPECT_EQ(arms[0], Arm::rate);
    facts.socket_bytes = facts.bytes * 7 / 4;  // a ring
    ASSERT_EQ(arms_to_try(facts, seen, false, arms), 3u);
    EXPECT_EQ(arms[0], Arm::slots);
}

TEST(Caps, RemoteHoldsTakeHoldPercentOfAnIterationInSum) {
    Facts facts = four_groups();
    facts.calls = 4;
    const Setting held = with_cap(of(Arm::hold_remote), facts, steady(), Tuning());
    EXPECT_EQ(held.cap_ns, 500'000u);  // 2 % of 100 ms over 4 calls
    EXPECT_EQ(held.delay_ns, held.cap_ns);
    EXPECT_EQ(held.service_ns, 20'000'000u);
}

TEST(Caps, LocalHoldsTakeTheWindowAndUnderAutoAnIteration) {
    Facts facts = four_groups();
    EXPECT_EQ(with_cap(of(Arm::hold_local), facts, steady(), Tuning()).cap_ns, 100'000'000u);
    EXPECT_EQ(with_cap(of(Arm::hold_local), facts, OffWindow(), Tuning()).cap_ns, 10'000'000u);
    facts.window_ns = 2'000'000;
    EXPECT_EQ(with_cap(of(Arm::hold_local), facts, steady(), Tuning()).cap_ns, 2'000'000u);
}

TEST(Caps, AdmitWaitsForThoseInFront) {
    const Facts facts = four_groups();
    Setting one = of(Arm::admit), two = one, four = one;
    one.width = 1;
    two.width = 2;
    four.width = 4;
    EXPECT_EQ(with_cap(one, facts, steady(), Tuning()).cap_ns, 150'000'000u);  // three others of 50 ms
    EXPECT_EQ(with_cap(two, facts, steady(), Tuning()).cap_ns, 50'000'000u);
    EXPECT_EQ(with_cap(four, facts, steady(), Tuning()).cap_ns, 1u);
    // a retransmission time-out in every block is nobody's service when alone
    EXPECT_EQ(with_cap(one, facts, steady(400), Tuning()).cap_ns, 240'000'000u);
}

TEST(Caps, NothingExceedsTheWindow) {
    for (const std::uint64_t window : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{700'000}, std::uint64_t{30'000'000}}) {
        Facts facts = four_groups();
        facts.window_ns = window;
        for (std::uint32_t arm = 0; arm < arm_count; ++arm) {
            Setting setting = of(static_cast<Arm>(arm));
            setting.width = 1;
            setting.delay_ns = 1'000'000'000;
            setting.rate_bytes_s = 1'000'000;
            setting = with_cap(setting, facts, steady(), Tuning());
            EXPECT_LE(setting.cap_ns, window) << name_of(setting.arm);
            EXPECT_LE(setting.delay_ns, window) << name_of(setting.arm);
        }
    }
}

TEST(Aimd, HalvesAfterLossAndElseAddsOne) {
    const Facts facts = four_groups();
    Setting setting = of(Arm::admit), to;
    setting.width = 2;
    ASSERT_TRUE(neighbour_of(setting, true, facts, to));
    EXPECT_EQ(to.width, 1u);
    ASSERT_TRUE(neighbour_of(setting, false, facts, to));
    EXPECT_EQ(to.width, 3u);
    EXPECT_FALSE(neighbour_of(to, false, facts, to)) << "as wide as the class is OFF";
    setting.width = 1;
    EXPECT_FALSE(neighbour_of(setting, true, facts, to));
    setting = of(Arm::rate);
    setting.rate_bytes_s = 1'000'000;
    ASSERT_TRUE(neighbour_of(setting, true, facts, to));
    EXPECT_EQ(to.rate_bytes_s, 850'000u);
    ASSERT_TRUE(neighbour_of(setting, false, facts, to));
    EXPECT_EQ(to.rate_bytes_s, 1'250'000u);
    EXPECT_FALSE(neighbour_of(of(Arm::hold_local), false, facts, to));
    setting = of(Arm::slots);
    setting.delay_ns = 13'000'000;
    ASSERT_TRUE(neighbour_of(setting, true, facts, to));
    EXPECT_EQ(to.delay_ns, 16'000'000u);
    EXPECT_FALSE(neighbour_of(setting, false, facts, to)) << "slots are measured";
}

TEST(Aimd, IsAsBoldWhatLetsAsMuchThrough) {
    const auto with = [](Arm arm, std::uint32_t width, std::uint64_t delay_ns, std::uint64_t rate) {
        Setting setting = of(arm);
        setting.width = width;
        setting.delay_ns = delay_ns;
        setting.rate_bytes_s = rate;
        return setting;
    };
    const Setting slots = with(Arm::slots, 0, 13'000'000, 0), admit = with(Arm::admit, 2, 0, 0), rate = with(Arm::rate, 0, 0, 1'000'000);
    for (const Setting& setting : {slots, admit, rate}) EXPECT_TRUE(is_as_bold(setting, setting));
    EXPECT_TRUE(is_as_bold(with(Arm::slots, 0, 12'000'000, 0), slots));
    EXPECT_FALSE(is_as_bold(with(Arm::slots, 0, 14'000'000, 0), slots));
    EXPECT_TRUE(is_as_bold(with(Arm::admit, 3, 0, 0), admit));
    EXPECT_FALSE(is_as_bold(with(Arm::admit, 1, 0, 0), admit));
    EXPECT_TRUE(is_as_bold(with(Arm::rate, 0, 0, 2'000'000), rate));
    EXPECT_FALSE(is_as_bold(with(Arm::rate, 0, 0, 500'000), rate));
    EXPECT_FALSE(is_as_bold(slots, Setting())) << "none has been left";
    EXPECT_FALSE(is_as_bold(slots, admit));
}

TEST(Phase, GoesBackByTheRestOfTheIteration) {
    Setting settings[candidate_limit];
    ASSERT_EQ(candidates_of(Arm::phase, four_groups(), steady(), Tuning(), settings), 1u);
    const Setting back = control_of(settings[0], steady());
    EXPECT_EQ(back.arm, Arm::phase);
    EXPECT_EQ(settings[0].delay_ns + back.delay_ns, 100'000'000u);
    EXPECT_EQ(control_of(of(Arm::admit), steady()), Setting());
}

}  // namespace
}  // namespace paced::pacing::test
