// SPDX-License-Identifier: BSD-3-Clause
// Every figure of the account, beside what a listener adds up from the blocks alone.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <vector>

#include "tests/unit/pacing/simulated_job.h"

namespace paced::pacing::test {
namespace {

struct Heard {
    Decision decision;
    Observation seen;
    Ended state;  // of the law when the block was decided
};

// Blocks of a job that engages, with what holds cost made up.
struct Story {
    std::vector<Heard> blocks;
    Account account;

    explicit Story(std::uint64_t iterations) {
        Cell cell;
        cell.off = {100, 0.2, Noise::lognormal, 40};
        cell.under = [](const Setting& setting) {
            return Times{setting.arm == Arm::admit && setting.width == 1 ? 80.0 : 104.0, 0.1, Noise::lognormal, 0};
        };
        const Facts facts = four_groups();
        Law law(without_slots(), facts, 3);
        SimulatedJob job(cell, facts, 3);
        Decision decision = law.first();
        while (job.iterations() < iterations) {
            const Ended state = law.account().state;
            Observation seen = job.block(decision);
            if (decision.setting.arm != Arm::off) {
                seen.held_ns = 8 * 2e6 * seen.iterations;  // 2 ms of each of 8 members, each iteration
                seen.held = 8 * seen.iterations;
                seen.timeouts = 1;
            }
            blocks.push_back({decision, seen, state});
            decision = law.step(seen);
        }
        law.finish();
        account = law.account();
    }
    const Trial* engaged() const {
        for (std::uint32_t i = 0; i < account.count; ++i) {
            if (account.trials[i].ended == Ended::engaged) return &account.trials[i];
        }
        return nullptr;
    }
};

TEST(Account, TotalsAreThoseOfTheBlocks) {
    const Story story(2000);
    double total = 0;
    std::uint64_t iterations = 0;
    for (const Heard& heard : story.blocks) {
        iterations += heard.decision.iterations;
        total += heard.seen.mean_ns * heard.decision.iterations / 1e6;
    }
    EXPECT_EQ(story.account.blocks, story.blocks.size());
    EXPECT_EQ(story.account.void_blocks, 0u);
    EXPECT_EQ(story.account.iterations, iterations);
    EXPECT_NEAR(story.account.total_ms, total, total * 1e-9);
}

TEST(Account, TrialsCountTheirBlocksAndHolds) {
    const Story story(2000);
    std::map<std::uint32_t, std::uint32_t> blocks;
    for (const Heard& heard : story.blocks) blocks[heard.decision.setting.width] += heard.decision.setting.arm == Arm::admit;
    for (std::uint32_t i = 0; i < story.account.count; ++i) {
        const Trial& trial = story.account.trials[i];
        if (trial.setting.arm != Arm::admit) continue;
        EXPECT_EQ(trial.blocks, blocks[trial.setting.width]);
        EXPECT_NEAR(trial.held_ms, 2, 1e-9);
        EXPECT_EQ(trial.timeouts, trial.blocks);
        EXPECT_GE(trial.held_calls, 8u * 2 * trial.blocks);
        EXPECT_EQ(trial.held_calls % 8, 0u);
        EXPECT_NE(trial.ended, Ended::running);
        EXPECT_GE(trial.decided_iteration, trial.first_iteration);
    }
}

TEST(Account, ClaimIsFromTheHoldoutsAlone) {
    const Story story(4000);
    const Trial* trial = story.engaged();
    ASSERT_NE(trial, nullptr);
    // by hand: each OFF block of the engaged time beside the engaged blocks around it
    double off = 0, beside = 0, engaged_time = 0, engaged_iterations = 0;
    std::uint32_t holdouts = 0;
    for (std::size_t i = 1; i + 1 < story.blocks.size(); ++i) {
        const Heard &before = story.blocks[i - 1], &block = story.blocks[i], &after = story.blocks[i + 1];
        if (block.state != Ended::engaged) continue;
        if (block.decision.setting.arm != Arm::off) {
            if (block.decision.setting.width != 1) continue;
            engaged_time += block.seen.mean_ns * block.seen.iterations;
            engaged_iterations += block.seen.iterations;
            continue;
        }
        if (!(before.decision.setting == trial->setting) || !(after.decision.setting == trial->setting)) continue;
        ++holdouts;
        off += block.seen.mean_ns;
        beside += (before.seen.mean_ns + after.seen.mean_ns) / 2;
    }
    EXPECT_NEAR(trial->holdout_blocks, holdouts, 1);
    EXPECT_GE(holdouts, 15u);
    EXPECT_NEAR(trial->gain, 100 * (off / beside - 1), 1.5);
    EXPECT_NEAR(trial->gain, 25, 6);
    EXPECT_LT(trial->gain_low, trial->gain);
    EXPECT_GT(trial->gain_high, trial->gain);
    EXPECT_NEAR(trial->mean_ms, engaged_time / engaged_iterations / 1e6, 0.5);
    EXPECT_NEAR(trial->cv, 0.1, 0.02);
    EXPECT_NEAR(trial->off_cv, 0.2, 0.05);
    EXPECT_NEAR(trial->off_mean_ms, 100, 6);
}

TEST(Account, HoldoutsFallFromTenPercentToThree) {
    const Story story(12000);
    std::vector<bool> off;
    for (const Heard& heard : story.blocks) {
        if (heard.state == Ended::engaged) off.push_back(heard.decision.setting.arm == Arm::off);
    }
    ASSERT_GT(off.size(), 1000u);
    const auto share = [&](std::size_t from, std::size_t to) {
        double count = 0;
        for (std::size_t i = from; i < to; ++i) count += off[i];
        return 100 * count / static_cast<double>(to - from);
    };
    // other OFF blocks of that time: none, since a neighbour is compared with the engaged setting
    EXPECT_NEAR(share(0, 100), 10, 3);
    EXPECT_NEAR(share(off.size() - 500, off.size()), 3, 1);
}

TEST(Account, CostIsWhatProbesTookLonger) {
    Cell cell;
    cell.off = {100, 0.01, Noise::lognormal, 40};
    cell.under = [](const Setting&) { return Times{103, 0.01, Noise::lognormal, 40}; };
    Law law(without_slots(), four_groups(), 1);
    SimulatedJob job(cell, four_groups(), 1);
    double paced = 0;
    Decision decision = law.first();
    for (int i = 0; i < 150; ++i) {
        if (decision.setting.arm != Arm::off) paced += 3.0 * decision.iterations;
        decision = law.step(job.block(decision));
    }
    ASSERT_GT(paced, 50);
    EXPECT_NEAR(law.account().probe_cost_ms, paced, 0.25 * paced);
    EXPECT_LT(law.account().probe_cost_ms, 0.01 * law.account().total_ms);
}

TEST(Account, NamesWhatIsStillOpenAtTheEnd) {
    Cell cell;
    cell.off = {100, 0.1, Noise::lognormal, 40};
    Law law(without_slots(), four_groups(), 1);
    SimulatedJob job(cell, four_groups(), 1);
    job.run(law, 80);
    ASSERT_EQ(law.account().state, Ended::running);
    ASSERT_GT(law.account().count, 0u);
    law.finish();
    EXPECT_EQ(law.account().state, Ended::finished);
    for (std::uint32_t i = 0; i < law.account().count; ++i) EXPECT_NE(law.account().trials[i].ended, Ended::running);
    EXPECT_STREQ(name_of(Ended::finished), "job ended");
    EXPECT_STREQ(name_of(static_cast<Ended>(200)), "unknown");
}

TEST(Account, LogsEachBlock) {
    Cell cell;
    Law law(without_slots(), four_groups(), 1);
    SimulatedJob job(cell, four_groups(), 1);
    const Observation seen = job.block(law.first());
    law.step(seen);
    EXPECT_EQ(law.last_block().number, 1u);
    EXPECT_EQ(law.last_block().iterations, 8u);
    EXPECT_EQ(law.last_block().mean_ns, seen.mean_ns);
    EXPECT_EQ(law.last_block().cv, seen.cv);
    EXPECT_EQ(law.last_block().setting, seen.ran);
}

}  // namespace
}  // namespace paced::pacing::test
