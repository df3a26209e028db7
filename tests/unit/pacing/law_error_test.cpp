// SPDX-License-Identifier: BSD-3-Clause
// The promises of the law over many jobs, by simulation: no false engagement beyond error_percent, no harm where there is nothing to
// gain, and engagement in time where there is.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/unit/pacing/simulated_job.h"

namespace paced::pacing::test {
namespace {

struct Kind {
    const char* name;
    Noise noise;
    double cv, correlation;
};

std::ostream& operator<<(std::ostream& to, const Kind& kind) { return to << kind.name; }

// All arms can act and all look promising: congestion, and waiting that costs others.
Facts everything() {
    Facts facts = four_groups();
    facts.most_local = 2;
    facts.pays_for_waiting = true;
    return facts;
}

bool was_engaged(const Account& account) {
    for (std::uint32_t i = 0; i < account.count; ++i) {
        if (account.trials[i].ended == Ended::engaged || account.trials[i].holdout_blocks > 0) return true;
    }
    return account.engaged.arm != Arm::off;
}

class NoEffect : public testing::TestWithParam<Kind> {};

TEST_P(NoEffect, EngagesFalselyInAtMostFivePercentOfJobs) {
    constexpr std::uint32_t jobs = 2000;
    Cell cell;
    cell.off = {80, GetParam().cv, GetParam().noise, 40};
    cell.correlation = GetParam().correlation;
    std::uint32_t engaged = 0, probed = 0;
    for (std::uint32_t job = 0; job < jobs; ++job) {
        Law law(Tuning(), everything(), job + 1);
        SimulatedJob run(cell, everything(), 5000 + job);
        run.run(law, 5000);
        // a trial may be overwritten by a later one of its setting only if it was never engaged
        engaged += was_engaged(law.account());
        std::uint32_t pairs = 0;
        for (std::uint32_t i = 0; i < law.account().count; ++i) pairs += law.account().trials[i].pairs;
        probed += pairs >= 8;
    }
    RecordProperty("engaged", static_cast<int>(engaged));
    EXPECT_LE(engaged, jobs * 5 / 100);
    EXPECT_GT(probed, jobs * 9 / 10) << "jobs that probe nothing prove nothing";
}

INSTANTIATE_TEST_SUITE_P(Noise, NoEffect,
                         testing::Values(Kind{"light", Noise::lognormal, 0.05, 0}, Kind{"tenth", Noise::lognormal, 0.1, 0.3}, Kind{"heavy", Noise::lognormal, 0.6, 0.3},
                                         Kind{"rare_timeouts", Noise::timeouts, 0.1, 0.3}, Kind{"timeouts", Noise::timeouts, 0.3, 0}),
                         [](const testing::TestParamInfo<Kind>& kind) { return std::string(kind.param.name); });

// The test above can fail: an effect is seen in every job.
TEST(NoEffect, TheCountWouldNoticeEngagement) {
    Cell cell;
    cell.off = {80, 0.1, Noise::lognormal, 40};
    cell.under = [](const Setting&) { return Times{75, 0.1, Noise::lognormal, 40}; };
    std::uint32_t engaged = 0;
    for (std::uint32_t job = 0; job < 20; ++job) {
        Law law(Tuning(), everything(), job);
        SimulatedJob run(cell, everything(), job);
        run.run(law, 2000);
        engaged += was_engaged(law.account());
    }
    EXPECT_EQ(engaged, 20u);
}

struct Outcome {
    double change_percent = 0;                 // of throughput over all jobs, learning included
    std::uint32_t engaged_in_time = 0;         // within 500 iterations
};

Outcome whole_runs(const Cell& cell, const Facts& facts, std::uint32_t jobs) {
    Outcome result;
    double time = 0, off = 0;
    for (std::uint32_t job = 0; job < jobs; ++job) {
        Law law(Tuning(), facts, job + 1);
        SimulatedJob run(cell, facts, 9000 + job);
        run.run(law, 500);
        result.engaged_in_time += was_engaged(law.account());
        run.run(law, 2000);
        time += run.total_ms();
        off += static_cast<double>(run.iterations()) * cell.off.mean_ms;
    }
    result.change_percent = 100 * (off / time - 1);
    return result;
}

TEST(NoHarm, ArmsThatCostAreLeftBeforeTheyCostHalfAPercent) {
    // the noise is low, so that the change is the law's and not the draw's
    for (const double cost : {2.0, 5.0, 20.0, 100.0}) {
        Cell cell;
        cell.off = {80, 0.05, Noise::lognormal, 40};
        cell.under = [cost](const Setting&) { return Times{80 * (1 + cost / 100), 0.05, Noise::lognormal, 40}; };
        const Outcome run = whole_runs(cell, everything(), 100);
        EXPECT_GT(run.change_percent, -0.5) << "arms cost " << cost << " %";
        EXPECT_EQ(run.engaged_in_time, 0u);
    }
}

TEST(NoHarm, WithoutASignatureNothingIsTried) {
    Cell cell;
    cell.off = {50, 0.05, Noise::lognormal, 0};
    cell.under = [](const Setting&) { return Times{500, 0.05, Noise::lognormal, 0}; };
    const Outcome run = whole_runs(cell, four_groups(), 50);
    EXPECT_NEAR(run.change_percent, 0, 0.1);
}

TEST(Cliff, EngagesWithinFiveHundredIterations) {
    // what a group's retransmission time-outs cost, each group its own
    for (const double gain : {25.0, 40.0, 60.0}) {
        for (const double cv : {0.5, 0.7}) {
            Cell cell;
            cell.off = {80, cv, Noise::timeouts, 40};
            cell.common = false;
            cell.under = [gain](const Setting& setting) {
                const double part = setting.arm == Arm::slots || (setting.arm == Arm::admit && setting.width == 1) ? gain : setting.arm == Arm::admit ? gain / 2 : -20;
                return Times{80 / (1 + part / 100), 0.2, Noise::timeouts, 0};
            };
            const Outcome run = whole_runs(cell, four_groups(), 100);
            EXPECT_GE(run.engaged_in_time, 95u) << "gain " << gain << " CV " << cv;
            EXPECT_GT(run.change_percent, 0.6 * gain) << "gain " << gain << " CV " << cv;
        }
    }
}

}  // namespace
}  // namespace paced::pacing::test
