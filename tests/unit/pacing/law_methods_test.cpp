// SPDX-License-Identifier: BSD-3-Clause
// What is there to be compared with.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "tests/unit/pacing/simulated_job.h"

namespace paced::pacing::test {
namespace {

Tuning tuned(const std::string& text) {
    Tuning tuning = without_slots();
    WrongToken wrong;
    EXPECT_TRUE(parse_tuning(text.data(), text.size(), tuning, wrong)) << wrong.why;
    return tuning;
}

Cell cell() {
    Cell made;
    made.off = {100, 0.1, Noise::lognormal, 40};
    made.under = [](const Setting& setting) {
        const double ms = setting.arm == Arm::admit && setting.width == 1 ? 80 : setting.arm == Arm::barrier ? 125 : 100;
        return Times{ms, 0.1, Noise::lognormal, 0};
    };
    return made;
}

TEST(Methods, NothingRunsWhereNoDelayIsAllowed) {
    for (const char* const method : {"method=fixed arm=rate:25mbit", "method=fixed arm=slots:11ms", "method=comparison arms=off,admit:1"}) {
        Facts facts = four_groups();
        facts.window_ns = 0;
        Law law(tuned(method), facts, 1);
        EXPECT_EQ(law.first().setting.arm, Arm::off) << method;
        EXPECT_TRUE(law.is_over()) << method;
        EXPECT_EQ(law.account().state, Ended::not_applicable) << method;
        EXPECT_EQ(law.account().count, 0u) << method;
    }
}

TEST(Fixed, RunsItsSettingAfterOneBlock) {
    Law law(tuned("method=fixed arm=admit width=1"), four_groups(), 1);
    SimulatedJob job(cell(), four_groups(), 1);
    Decision decision = law.first();
    EXPECT_EQ(decision.setting.arm, Arm::off) << "what the cap follows from must be measured once";
    decision = law.step(job.block(decision));
    const Setting fixed = decision.setting;
    EXPECT_EQ(fixed.arm, Arm::admit);
    EXPECT_EQ(fixed.width, 1u);
    EXPECT_GT(fixed.cap_ns, 0u);
    for (int i = 0; i < 50; ++i) {
        decision = law.step(job.block(decision));
        EXPECT_EQ(decision.setting, fixed);
    }
    ASSERT_EQ(law.account().count, 1u);
    EXPECT_EQ(law.account().trials[0].blocks, 50u);
    EXPECT_NEAR(law.account().trials[0].mean_ms, 80, 2);
    EXPECT_NEAR(law.account().trials[0].cv, 0.1, 0.02);
    EXPECT_EQ(law.account().trials[0].holdout_blocks, 0u);
}

TEST(Comparison, EachRoundHasEveryArmOnceInAnOrderOfItsOwn) {
    Law law(tuned("method=comparison arms=off,admit:1,barrier,fixed-delay:500us:300us"), four_groups(), 1);
    SimulatedJob job(cell(), four_groups(), 1);
    Decision decision = law.first();
    while (law.account().count == 0) decision = law.step(job.block(decision));
    std::set<std::vector<Arm>> orders;
    for (int round = 0; round < 60; ++round) {
        std::vector<Arm> order;
        for (int i = 0; i < 4; ++i) {
            order.push_back(decision.setting.arm);
            decision = law.step(job.block(decision));
        }
        orders.insert(order);
        EXPECT_EQ(std::set<Arm>(order.begin(), order.end()).size(), 4u);
    }
    EXPECT_GT(orders.size(), 15u) << "of 24";
    const Account& account = law.account();
    ASSERT_EQ(account.count, 4u);
    for (std::uint32_t i = 0; i < 4; ++i) {
        EXPECT_EQ(account.trials[i].blocks, 60u);
        EXPECT_EQ(account.trials[i].pairs, 60u);
        EXPECT_EQ(account.trials[i].ended, Ended::running);
        EXPECT_NEAR(account.trials[i].off_mean_ms, 100, 2);
        EXPECT_NEAR(account.trials[i].cv, 0.1, 0.02);
    }
    EXPECT_EQ(account.trials[0].gain, 0);
    EXPECT_NEAR(account.trials[1].gain, 25, 4);
    EXPECT_LT(account.trials[1].gain_low, 25);
    EXPECT_GT(account.trials[1].gain_high, 25);
    EXPECT_NEAR(account.trials[2].gain, -20, 4);
    EXPECT_LE(account.trials[3].gain_low, account.trials[3].gain);
}

TEST(Comparison, OursLearnsFirstAndThenTakesPart) {
    Law law(tuned("method=comparison arms=off,ours,barrier without=slots"), four_groups(), 1);
    SimulatedJob job(cell(), four_groups(), 1);
    job.run(law, 3000);
    const Account& account = law.account();
    ASSERT_EQ(account.count, 3u);
    EXPECT_TRUE(account.trials[1].ours);
    EXPECT_EQ(account.trials[1].setting.arm, Arm::admit);
    EXPECT_EQ(account.trials[1].setting.width, 1u);
    EXPECT_EQ(account.trials[1].ended, Ended::engaged);
    EXPECT_GT(account.trials[1].decided_iteration, 0u);
    EXPECT_LE(account.trials[1].decided_iteration, 520u);
    EXPECT_NEAR(account.trials[1].gain, 25, 3);
    EXPECT_FALSE(account.trials[0].ours || account.trials[2].ours);
}

TEST(Comparison, OursIsOffWhereNothingGains) {
    Cell flat;
    flat.off = {100, 0.1, Noise::lognormal, 0};
    Law law(tuned("method=comparison arms=off,ours"), four_groups(), 1);
    SimulatedJob job(flat, four_groups(), 1);
    job.run(law, 3000);
    ASSERT_EQ(law.account().count, 2u);
    EXPECT_EQ(law.account().trials[1].setting, Setting());
    EXPECT_TRUE(law.account().trials[1].ours);
    EXPECT_EQ(law.account().trials[1].ended, Ended::no_gain);
    EXPECT_LE(law.account().trials[1].decided_iteration, 520u);
    EXPECT_LE(law.account().trials[1].gain_low, 0);
    EXPECT_GE(law.account().trials[1].gain_high, 0);
}

TEST(Comparison, AFaultEndsItToo) {
    Law law(tuned("method=comparison arms=off,admit:1"), four_groups(), 1);
    SimulatedJob job(cell(), four_groups(), 1);
    job.run(law, 300);
    law.fault();
    EXPECT_TRUE(law.is_over());
    EXPECT_EQ(law.step(Observation()).setting, Setting());
}

}  // namespace
}  // namespace paced::pacing::test
