// SPDX-License-Identifier: BSD-3-Clause
// The law's course through single jobs.
#include "policy/pacing/law.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "tests/unit/pacing/simulated_job.h"

namespace paced::pacing::test {
namespace {

// ADMIT of one at a time gains 25 %, everything else costs 10 %
Cell gains(double cv = 0.1) {
    Cell cell;
    cell.off = {100, cv, Noise::lognormal, 40};
    cell.under = [cv](const Setting& setting) {
        const bool good = setting.arm == Arm::admit && setting.width == 1;
        return Times{good ? 80.0 : 110.0, cv, Noise::lognormal, 0};
    };
    return cell;
}

const Trial* trial_of(const Account& account, Arm arm, std::uint32_t width = 0) {
    for (std::uint32_t i = 0; i < account.count; ++i) {
        if (account.trials[i].setting.arm == arm && account.trials[i].setting.width == width) return &account.trials[i];
    }
    return nullptr;
}

TEST(Law, BeginsOff) {
    Law law(without_slots(), four_groups(), 1);
    const Decision first = law.first();
    EXPECT_EQ(first.setting, Setting());
    EXPECT_EQ(first.washout, 1u);
    EXPECT_EQ(first.iterations, 9u);
    EXPECT_FALSE(law.is_over());
}

// All-to-all: of the rates only the lowest takes the overload away, and times alone would need many pairs for each.
TEST(Law, WhatIsSentAgainSaysWhichRateIsWorthItsPairs) {
    Facts facts = four_groups();
    facts.communicators = 1;
    facts.size = 8;
    facts.socket_bytes = 16384;
    // the quickest call takes 24 ms: 614 kB/s are its rate, and only what is below that does anything
    Cell cell;
    cell.off = {106, .7, Noise::timeouts, 400, 60, 24};
    constexpr std::uint64_t too_high = 620'000;
    cell.under = [](const Setting& setting) { return setting.rate_bytes_s < too_high ? Times{80, .2, Noise::timeouts, 0} : Times{106, .7, Noise::timeouts, 300}; };
    std::uint32_t engaged = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        Law law(Tuning(), facts, seed);
        SimulatedJob job(cell, facts, seed);
        job.run(law, 600);
        engaged += law.account().state == Ended::engaged;
        std::uint32_t idle = 0;
        for (std::uint32_t i = 0; i < law.account().count; ++i) {
            const Trial& trial = law.account().trials[i];
            if (trial.setting.rate_bytes_s >= too_high) idle += trial.pairs;
        }
        EXPECT_LE(idle, 3u) << "seed " << seed;
    }
    EXPECT_GE(engaged, 14u);
}

TEST(Law, EngagesTheWidthThatGains) {
    Law law(without_slots(), four_groups(), 1);
    SimulatedJob job(gains(), four_groups(), 1);
    job.run(law, 1000);
    ASSERT_EQ(law.account().state, Ended::engaged);
    EXPECT_EQ(law.account().engaged.arm, Arm::admit);
    EXPECT_EQ(law.account().engaged.width, 1u);
    const Trial* trial = trial_of(law.account(), Arm::admit, 1);
    ASSERT_NE(trial, nullptr);
    EXPECT_EQ(trial->ended, Ended::engaged);
    EXPECT_LE(trial->decided_iteration, 300u);
    EXPECT_GT(trial->gain_high, 25);
    EXPECT_LT(trial->gain_low, 25);
    EXPECT_GT(trial->gain_low, 15);
    EXPECT_LT(trial->probe_low, 25);
    EXPECT_GT(trial->probe_high, 25);
}

// What one takes alone shows in no OFF block: their quickest is 40 ms of four, or 68 ms where each held some loss. Under slots it is 10.9 ms, or
// more where they collide.
TEST(Law, FindsTheSlotWhateverTheOffBlocksSay) {
    for (const double off_service : {36.0, 40.0, 68.0, 90.0}) {
        Cell cell;
        cell.off = {130, .6, Noise::timeouts, 40, off_service};
        cell.under = [](const Setting& setting) {
            if (setting.arm != Arm::slots) return Times{130, .6, Noise::timeouts, 40, 40};
            const double slot = static_cast<double>(setting.delay_ns) / 1e6;
            return slot > 10.9 ? Times{20 + 3 * slot + 10.9, .05, Noise::lognormal, 0, 10.9} : Times{120, .5, Noise::timeouts, 20, 14};
        };
        std::uint32_t found = 0;
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            Law law(Tuning(), four_groups(), seed);
            SimulatedJob job(cell, four_groups(), seed);
            job.run(law, 500);
            found += law.account().engaged.arm == Arm::slots && law.account().engaged.delay_ns > 10'900'000 && law.account().engaged.delay_ns <= 15'000'000;
        }
        EXPECT_GE(found, 18u) << off_service << " ms without slots";
    }
}

// Both take the time-outs away, which are what scatters in a pair: their own blocks tell at once which is the better.
TEST(Law, EngagesTheBetterOfTwoSteadySettings) {
    Cell cell;
    cell.off = {140, .75, Noise::timeouts, 40};
    cell.under = [](const Setting& setting) { return Times{setting.width == 1 ? 83.0 : 95.0, .05, Noise::lognormal, 0}; };
    std::uint32_t better = 0, worse = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        Law law(without_slots(), four_groups(), seed);
        SimulatedJob job(cell, four_groups(), seed);
        job.run(law, 300);
        better += law.account().engaged.width == 1;
        worse += law.account().engaged.width == 2;
    }
    EXPECT_GE(better, 32u);
    EXPECT_LE(worse, 2u);
}

TEST(Law, BlocksLastLongEnoughForDecisionsToTravel) {
    Cell cell;
    cell.off = {1, 0.01, Noise::lognormal, 0};
    Law law(without_slots(), four_groups(), 1);
    SimulatedJob job(cell, four_groups(), 1);
    const Decision next = law.step(job.block(law.first()));
    EXPECT_NEAR(next.iterations, 101, 2);  // 100 ms and the washout
}

TEST(Law, GivesUpWhenTheGainIsGone) {
    Law law(without_slots(), four_groups(), 1);
    SimulatedJob job(gains(), four_groups(), 1);
    job.run(law, 1000);
    ASSERT_EQ(law.account().state, Ended::engaged);
    // now OFF is as good
    job.cell().off.mean_ms = 70;
    job.run(law, 3000);
    EXPECT_NE(law.account().state, Ended::engaged);
    EXPECT_EQ(law.account().engaged, Setting());
    const Trial* trial = trial_of(law.account(), Arm::admit, 1);
    ASSERT_NE(trial, nullptr);
    EXPECT_TRUE(trial->ended == Ended::loses || trial->ended == Ended::no_gain) << name_of(trial->ended);
}

TEST(Law, GivesUpSoonWhenTheSettingTurnsBad) {
    Law law(without_slots(), four_groups(), 1);
    SimulatedJob job(gains(), four_groups(), 1);
    job.run(law, 1000);
    ASSERT_EQ(law.account().state, Ended::engaged);
    job.cell().under = [](const Setting&) { return Times{300, 0.1, Noise::lognormal, 0}; };
    job.run(law, 1060);
    EXPECT_NE(law.account().state, Ended::engaged);
}

TEST(Law, GivesUpWherePermitsDoNotArrive) {
    Law law(without_slots(), four_groups(), 1);
    SimulatedJob job(gains(), four_groups(), 1);
    Decision decision = law.first();
    while (law.account().state != Ended::engaged) decision = law.step(job.block(decision));
    for (int i = 0; i < 8 && law.account().state == Ended::engaged; ++i) {
        Observation seen = job.block(decision);
        seen.held = 100;
        seen.timeouts = 60;
        decision = law.step(seen);
    }
    EXPECT_EQ(law.account().state, Ended::loses);
}

TEST(Law, EngagesAgainAfterABackOff) {
    Law law(without_slots(), four_groups(), 1);
    SimulatedJob job(gains(), four_groups(), 1);
    job.run(law, 1000);
    const Cell before = job.cell();
    job.cell().under = [](const Setting&) { return Times{130, 0.1, Noise::lognormal, 0}; };
    job.run(law, 1500);
    ASSERT_NE(law.account().state, Ended::engaged);
    job.cell() = before;
    job.run(law, 6000);
    EXPECT_EQ(law.account().state, Ended::engaged);
    // the first engagement keeps what it claimed
    EXPECT_GE(law.account().count, 3u);
}

TEST(Law, TriesAWidthBesideTheEngagedOne) {
    // four at a time is what the class does when OFF; three is not among the first candidates
    Cell cell;
    cell.off = {100, 0.05, Noise::lognormal, 40};
    cell.under = [](const Setting& setting) {
        const double ms = setting.arm != Arm::admit ? 110 : setting.width == 3 ? 70 : setting.width == 2 ? 80 : 95;
        return Times{ms, 0.05, Noise::lognormal, 0};
    };
    Law law(without_slots(), four_groups(), 1);
    SimulatedJob job(cell, four_groups(), 1);
    job.run(law, 3000);
    EXPECT_EQ(law.account().engaged.width, 3u);
    const Trial* replaced = trial_of(law.account(), Arm::admit, 2);
    ASSERT_NE(replaced, nullptr);
    EXPECT_GT(replaced->holdout_blocks, 0u);
    EXPECT_EQ(replaced->ended, Ended::replaced);
    EXPECT_LT(replaced->engaged_iteration, replaced->decided_iteration);
}

// In a short slot a time-out is met once in thirty iterations, and twice as rarely with each 0.8 ms more. The first pairs see few of them.
TEST(Law, LeavesASlotInWhichTimeOutsAreMet) {
    Cell cell;
    cell.off = {130, .7, Noise::timeouts, 40, 40};
    cell.under = [](const Setting& setting) {
        if (setting.arm != Arm::slots) return Times{130, .7, Noise::timeouts, 40, 40};
        const double slot = static_cast<double>(setting.delay_ns) / 1e6;
        const double often = std::exp(-(slot - 11) * 0.9) / 30;  // time-outs an iteration
        return slot < 16 ? Times{36 + 3 * slot + 200 * often, 200 * std::sqrt(often) / 80, Noise::timeouts, 4, 11} : Times{36 + 3 * slot, .04, Noise::lognormal, 4, 11};
    };
    std::uint32_t calm = 0, restless = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        Law law(Tuning(), four_groups(), seed);
        SimulatedJob job(cell, four_groups(), seed);
        job.run(law, 2000);
        const Setting& engaged = law.account().engaged;
        const bool is_calm = cell.under(engaged).cv <= 0.3 * cell.off.cv;
        calm += engaged.arm == Arm::slots && is_calm;
        restless += engaged.arm == Arm::slots && !is_calm;
    }
    EXPECT_GE(calm, 34u);
    EXPECT_LE(restless, 4u);
}

// The longer one does take longer, by more than steadiness is worth.
TEST(Law, KeepsASlotThatIsQuickerDespiteItsTimeOuts) {
    Cell cell;
    cell.off = {130, .7, Noise::timeouts, 40, 40};
    cell.under = [](const Setting& setting) {
        if (setting.arm != Arm::slots) return Times{130, .7, Noise::timeouts, 40, 40};
        const double slot = static_cast<double>(setting.delay_ns) / 1e6;
        return slot < 14.5 ? Times{82, .32, Noise::timeouts, 4, 11} : Times{94, .05, Noise::lognormal, 4, 12};
    };
    std::uint32_t quicker = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        Law law(Tuning(), four_groups(), seed);
        SimulatedJob job(cell, four_groups(), seed);
        job.run(law, 2000);
        const Setting& engaged = law.account().engaged;
        quicker += engaged.arm == Arm::slots && engaged.delay_ns < 14'500'000;
    }
    EXPECT_GE(quicker, 34u);
}

TEST(Law, NamesAStragglerAndStaysOff) {
    Cell cell = gains();
    cell.straggles = 0.2;
    Law law(without_slots(), four_groups(), 1);
    SimulatedJob job(cell, four_groups(), 1);
    job.run(law, 200);
    EXPECT_TRUE(law.is_over());
    EXPECT_EQ(law.account().state, Ended::straggler);
    EXPECT_EQ(law.account().count, 0u);
    EXPECT_LE(law.account().blocks, 5u);
}

TEST(Law, IsOverAtOnceWhereNoArmCanAct) {
    Facts facts;
    facts.communicators = 1;
    facts.size = 1;
    facts.window_ns = ~std::uint64_t{0};
    Law law(without_slots(), facts, 1);
    law.first();
    EXPECT_TRUE(law.is_over());
    EXPECT_EQ(law.account().state, Ended::not_applicable);
    facts = four_groups();
    facts.window_ns = 0;
    Law closed(without_slots(), facts, 1);
    closed.first();
    EXPECT_EQ(closed.account().state, Ended::not_applicable);
}

TEST(Law, WithoutASignatureProbesOnceInAWhileAndNoMore) {
    Cell cell;
    cell.off = {100, 0.02, Noise::lognormal, 0};
    cell.under = [](const Setting&) { return Times{101, 0.02, Noise::lognormal, 0}; };
    Facts facts = four_groups();
    facts.tcp = false;  // no counter that would show it
    Law law(without_slots(), facts, 1);
    SimulatedJob job(cell, facts, 1);
    job.run(law, 255 * 9);
    EXPECT_EQ(law.account().count, 0u);
    EXPECT_EQ(law.account().state, Ended::no_gain);
    job.run(law, 600 * 9);
    EXPECT_GT(law.account().count, 0u);
    EXPECT_LT(law.account().probe_cost_ms, law.account().total_ms * 0.002);
}

TEST(Law, ASteadyLossIsFoundByTheReCheck) {
    Cell cell;
    cell.off = {100, 0.05, Noise::lognormal, 0};
    cell.under = [](const Setting& setting) { return Times{setting.arm == Arm::admit ? 80.0 : 100.0, 0.05, Noise::lognormal, 0}; };
    Facts facts = four_groups();
    facts.tcp = false;  // no counter that would show it
    Law law(without_slots(), facts, 1);
    SimulatedJob job(cell, facts, 1);
    job.run(law, 300 * 9);
    EXPECT_EQ(law.account().state, Ended::engaged);
}

TEST(Law, BackOffsGrow) {
    Cell cell;
    cell.off = {100, 0.05, Noise::lognormal, 40};
    cell.under = [](const Setting&) { return Times{102, 0.05, Noise::lognormal, 40}; };
    Law law(without_slots(), four_groups(), 1);
    SimulatedJob job(cell, four_groups(), 1);
    std::vector<std::uint32_t> rests;
    std::uint32_t resting = 0;
    Decision decision = law.first();
    for (int i = 0; i < 3000; ++i) {
        decision = law.step(job.block(decision));
        if (law.account().state == Ended::running) {
            if (resting > 0) rests.push_back(resting);
            resting = 0;
        } else {
            ++resting;
        }
    }
    ASSERT_GE(rests.size(), 2u);
    EXPECT_GE(rests[0], 8u);
    EXPECT_GT(rests.back(), 4 * rests.front());
}

TEST(Law, RepeatsVoidBlocksAndEndsWhenThereIsNothingElse) {
    Law law(without_slots(), four_groups(), 1);
    SimulatedJob job(gains(), four_groups(), 1);
    Decision decision = law.first();
    Observation wrong = job.block(decision);
    wrong.valid = false;
    for (int i = 0; i < 15; ++i) {
        const Decision again = law.step(wrong);
        EXPECT_EQ(again.setting, decision.setting);
        EXPECT_FALSE(law.is_over());
        EXPECT_FALSE(law.last_block().valid);
    }
    law.step(job.block(decision));
    EXPECT_TRUE(law.last_block().valid);
    EXPECT_EQ(law.account().void_blocks, 15u);
    Observation other = job.block(decision);
    other.ran.arm = Arm::barrier;
    for (int i = 0; i < 16; ++i) law.step(other);
    EXPECT_TRUE(law.is_over());
    EXPECT_EQ(law.account().state, Ended::fault);
}

TEST(Law, FaultMeansOffForGood) {
    Law law(without_slots(), four_groups(), 1);
    SimulatedJob job(gains(), four_groups(), 1);
    job.run(law, 1000);
    ASSERT_EQ(law.account().state, Ended::engaged);
    law.fault();
    EXPECT_TRUE(law.is_over());
    EXPECT_EQ(law.account().state, Ended::fault);
    EXPECT_EQ(law.account().engaged, Setting());
    EXPECT_EQ(trial_of(law.account(), Arm::admit, 1)->ended, Ended::fault);
    Decision decision;
    for (int i = 0; i < 100; ++i) {
        decision = law.step(job.block(decision.iterations > 0 ? decision : Decision{{}, 9, 1}));
        EXPECT_EQ(decision.setting, Setting());
        EXPECT_TRUE(law.is_over());
    }
}

TEST(Law, SameSeedSameDecisions) {
    const auto decisions = [](std::uint64_t seed) {
        Law law(without_slots(), four_groups(), seed);
        SimulatedJob job(gains(0.5), four_groups(), 7);
        std::vector<Setting> made;
        Decision decision = law.first();
        for (int i = 0; i < 300; ++i) made.push_back((decision = law.step(job.block(decision))).setting);
        return made;
    };
    EXPECT_EQ(decisions(1), decisions(1));
    EXPECT_NE(decisions(1), decisions(2));
}

TEST(Law, PhaseIsTriedAgainstTheWayBack) {
    Cell cell;
    cell.off = {100, 0.02, Noise::lognormal, 0};
    Facts facts = four_groups();
    facts.communicators = 1;
    Law law(without_slots(), facts, 1);
    SimulatedJob job(cell, facts, 1);
    Decision decision = law.first();
    bool forth = false, back = false;
    for (int i = 0; i < 200; ++i) {
        Observation seen = job.block(decision);
        if (decision.setting.arm == Arm::off) seen.service_ns *= 1 + 0.4 * std::sin(2 * M_PI * i / 6);
        decision = law.step(seen);
        forth = forth || (decision.setting.arm == Arm::phase && decision.setting.delay_ns > 49'000'000);
        back = back || (decision.setting.arm == Arm::phase && decision.setting.delay_ns < 51'000'000);
    }
    EXPECT_TRUE(forth && back);
}

TEST(ErrorShare, SumsToOneOverAnyNumberOfClasses) {
    double sum = 0;
    for (std::uint32_t i = 0; i < 64; ++i) sum += error_share_of_class(i);
    EXPECT_LE(sum, 1 + 1e-12);
    EXPECT_GT(sum, 0.99);
}

}  // namespace
}  // namespace paced::pacing::test
