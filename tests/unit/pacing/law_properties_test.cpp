// SPDX-License-Identifier: BSD-3-Clause
// Whatever the law is told: no crash, no delay beyond the window, over stays over.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/unit/pacing/simulated_job.h"

namespace paced::pacing::test {
namespace {

double strange(Random& random) {
    switch (random.below(10)) {
        case 0: return 0;
        case 1: return -1;
        case 2: return std::numeric_limits<double>::quiet_NaN();
        case 3: return std::numeric_limits<double>::infinity();
        case 4: return -std::numeric_limits<double>::infinity();
        case 5: return 1e300;
        case 6: return 5e-324;
        case 7: return 1e-3;
        default: return std::exp((static_cast<double>(random.below(40)) - 5)) ;
    }
}

void make_strange(Observation& seen, Random& random) {
    double* const doubles[] = {&seen.mean_ns, &seen.log_mean, &seen.cv, &seen.service_ns, &seen.longest_service_ns, &seen.earliness_ns, &seen.straggler_ns, &seen.held_ns};
    for (double* value : doubles) {
        if (random.below(4) == 0) *value = strange(random);
    }
    if (random.below(8) == 0) seen.iterations = random.below(3) == 0 ? 0 : ~0u;
    if (random.below(8) == 0) seen.held = ~0u;
    if (random.below(8) == 0) seen.timeouts = ~0u;
    if (random.below(8) == 0) seen.retransmissions = ~std::uint64_t{0};
    if (random.below(16) == 0) seen.ran.width ^= 1;
}

Facts some_facts(Random& random) {
    Facts facts;
    facts.communicators = random.below(5) == 0 ? ~0u : random.below(20);
    facts.size = random.below(5) == 0 ? ~0u : random.below(20);
    facts.most_local = random.below(4);
    facts.crosses = random.coin();
    facts.tcp = random.coin();
    facts.pays_for_waiting = random.coin();
    const std::uint64_t windows[] = {0, 1, 500'000, 20'000'000, ~std::uint64_t{0}};
    facts.window_ns = windows[random.below(5)];
    facts.calls = random.below(3);
    facts.bytes = random.below(3) == 0 ? ~std::uint64_t{0} : random.below(1 << 20);
    return facts;
}

const char* const methods[] = {"", "method=fixed arm=admit:1", "method=fixed arm=fixed-delay:1s:1us", "method=fixed arm=barrier", "method=comparison arms=off,hold-local,ours,admit:3,hold-remote,phase:3ms",
                               "method=comparison arms=ours", "most_pairs=250 least_pairs=2 holdout_percent=50 first_backoff_blocks=1 recheck_blocks=8 refine_blocks=4", "baseline_blocks=1 block_iterations=2 washout_iterations=0"};

TEST(LawProperties, AnyObservationsAreSurvived) {
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        Random random(seed);
        const Facts facts = some_facts(random);
        Tuning tuning = without_slots();
        WrongToken wrong;
        const std::string text = methods[random.below(8)];
        ASSERT_TRUE(parse_tuning(text.data(), text.size(), tuning, wrong));
        Law law(tuning, facts, seed);
        Facts drawn = facts;
        drawn.communicators = 1;
        Cell cell;
        cell.off = {random.coin() ? 100.0 : 1.0, 0.3, Noise::lognormal, random.below(20)};
        cell.under = [&random](const Setting&) { return Times{random.below(2) ? 90.0 : 200.0, 0.2, Noise::lognormal, 0}; };
        cell.waits = 0.3;
        SimulatedJob job(cell, drawn, seed);
        const bool wild = random.coin(), breaks = random.below(4) == 0;
        Decision decision = law.first();
        bool over = false;
        for (int i = 0; i < 400; ++i) {
            ASSERT_LE(decision.setting.cap_ns, facts.window_ns);
            ASSERT_LE(decision.setting.delay_ns, facts.window_ns);
            ASSERT_GT(decision.iterations, decision.washout);
            ASSERT_GE(law.is_over(), over);
            over = law.is_over();
            if (over) { ASSERT_EQ(decision.setting, Setting()); }
            Decision small = decision;
            if (small.iterations > 200) small.iterations = 200;
            Observation seen = job.block(small);
            if (wild || random.below(20) == 0) make_strange(seen, random);
            seen.valid = random.below(10) != 0;
            decision = law.step(seen);
            if (breaks && i == 200) {
                law.fault();
                decision = law.step(seen);
                ASSERT_TRUE(law.is_over());
            }
            const Account& account = law.account();
            ASSERT_LE(account.count, trial_limit);
            ASSERT_TRUE(std::isfinite(account.total_ms) && std::isfinite(account.probe_cost_ms));
            for (std::uint32_t t = 0; t < account.count; ++t) {
                const Trial& trial = account.trials[t];
                for (const double value : {trial.probe_gain, trial.probe_low, trial.probe_high, trial.gain, trial.gain_low, trial.gain_high, trial.mean_ms, trial.cv, trial.off_mean_ms, trial.off_cv, trial.held_ms})
                    ASSERT_TRUE(std::isfinite(value)) << "seed " << seed << ": " << name_of(trial.setting.arm) << ' ' << trial.probe_gain << ' ' << trial.probe_low << ' ' << trial.probe_high << ' ' << trial.gain << ' ' << trial.gain_low << ' ' << trial.gain_high << ' ' << trial.mean_ms << ' ' << trial.cv << ' ' << trial.off_mean_ms << ' ' << trial.off_cv << ' ' << trial.held_ms;
            }
        }
        law.finish();
    }
}

TEST(LawProperties, ADefaultLawIsHarmless) {
    Law law;
    EXPECT_EQ(law.first().setting, Setting());
    EXPECT_TRUE(law.is_over());
    EXPECT_EQ(law.step(Observation()).setting, Setting());
}

}  // namespace
}  // namespace paced::pacing::test
