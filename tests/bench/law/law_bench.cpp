// SPDX-License-Identifier: BSD-3-Clause
// The law on simulated cells, one row each: how many of the jobs engage within 500 iterations, when, what the whole run of 2,000
// iterations gains with learning included, what is claimed, and how often the claim's interval holds the truth.
//     bench_law [JOBS]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/unit/pacing/simulated_job.h"

namespace {

using namespace paced::pacing;
using paced::pacing::test::Cell;
using paced::pacing::test::Noise;
using paced::pacing::test::SimulatedJob;
using paced::pacing::test::Times;

Times faster(const Times& off, double gain_percent, double cv) {
    Times times = off;
    times.mean_ms = off.mean_ms / (1 + gain_percent / 100);
    times.cv = cv;
    times.retransmissions = 0;
    return times;
}

// slots and admit gain (the best width `gain`, others half of it), rate gains less or loses
Cell cliff(double mean_ms, double cv, double gain, Noise noise, bool common, double best_cv = 0.2) {
    Cell cell;
    cell.off = {mean_ms, cv, noise, 40};
    cell.common = common;
    cell.under = [off = cell.off, gain, best_cv](const Setting& setting) {
        if (setting.arm == Arm::slots || (setting.arm == Arm::admit && setting.width == 1)) return faster(off, gain, best_cv);
        if (setting.arm == Arm::admit && setting.width == 2) return faster(off, gain / 2, (off.cv + best_cv) / 2);
        if (setting.arm == Arm::rate) return faster(off, -20, best_cv);
        return faster(off, 0, off.cv);
    };
    return cell;
}

Cell flat(double mean_ms, double cv, double loss, Noise noise, std::uint64_t retransmissions) {
    Cell cell;
    cell.off = {mean_ms, cv, noise, retransmissions};
    cell.under = [off = cell.off, loss](const Setting&) { return faster(off, loss, off.cv); };
    return cell;
}

void row(const std::string& name, const Cell& cell, double truth, std::uint32_t jobs) {
    std::vector<double> engaged, gains, claims;
    std::uint32_t held = 0, claimed = 0, at_end = 0;
    double pairs = 0;
    for (std::uint32_t job = 0; job < jobs; ++job) {
        Law law(Tuning(), test::four_groups(), job + 1);
        SimulatedJob run(cell, test::four_groups(), 1000 + job);
        std::uint64_t first = 0;
        for (std::uint64_t to = 20; to <= 2000; to += 20) {
            run.run(law, to);
            if (first == 0 && law.account().state == Ended::engaged) first = law.account().iterations;
        }
        if (first > 0) engaged.push_back(static_cast<double>(first));
        at_end += law.account().state == Ended::engaged;
        gains.push_back(100 * (static_cast<double>(run.iterations()) * cell.off.mean_ms / run.total_ms() - 1));
        for (std::uint32_t i = 0; i < law.account().count; ++i) {
            const Trial& trial = law.account().trials[i];
            pairs += trial.pairs;
            if (trial.holdout_blocks < 4 || !(trial.setting == law.account().engaged)) continue;
            claims.push_back(trial.gain);
            const double mean = cell.under(trial.setting).mean_ms, gain = 100 * (cell.off.mean_ms / mean - 1);
            ++claimed;
            held += trial.gain_low <= gain && gain <= trial.gain_high;
        }
    }
    const auto within = std::count_if(engaged.begin(), engaged.end(), [](double at) { return at <= 500; });
    std::sort(engaged.begin(), engaged.end());
    std::sort(gains.begin(), gains.end());
    const auto mean = [](const std::vector<double>& values) {
        double sum = 0;
        for (const double value : values) sum += value;
        return values.empty() ? 0.0 : sum / static_cast<double>(values.size());
    };
    std::printf("%-46s %6.1f %8.1f %8.0f %8.1f %8.1f %9.2f %9.2f %8.1f %8.1f\n", name.c_str(), truth, 100.0 * static_cast<double>(within) / jobs,
                engaged.empty() ? 0.0 : engaged[engaged.size() / 2], 100.0 * at_end / jobs, pairs / jobs, mean(gains), gains[gains.size() / 20], mean(claims), claimed > 0 ? 100.0 * held / claimed : 0.0);
}

}  // namespace

int main(int argc, char** argv) {
    const std::uint32_t jobs = argc > 1 ? static_cast<std::uint32_t>(std::atoi(argv[1])) : 200;
    std::printf("%-46s %6s %8s %8s %8s %8s %9s %9s %8s %8s\n", "cell", "true %", "<=500 %", "median", "at end %", "pairs", "run %", "run p5 %", "claim %", "cover %");
    for (const bool common : {true, false}) {
        for (const Noise noise : {Noise::lognormal, Noise::timeouts}) {
            for (const double cv : {0.5, 0.7, 0.9}) {
                for (const double gain : {15.0, 25.0, 40.0, 60.0}) {
                    char name[80];
                    std::snprintf(name, sizeof name, "cliff %s CV %.1f, %s", noise == Noise::lognormal ? "lognormal" : "time-outs", cv, common ? "groups alike" : "each its own");
                    row(name, cliff(80, cv, gain, noise, common), gain, jobs);
                }
            }
        }
    }
    row("quiet, no signature, CV .02", flat(50, 0.02, -5, Noise::lognormal, 0), -5, jobs);
    row("quiet, no signature, CV .1", flat(50, 0.1, -5, Noise::lognormal, 0), -5, jobs);
    for (const double cv : {0.02, 0.1, 0.3, 0.6}) {
        for (const double loss : {0.0, -2.0, -5.0, -20.0, -50.0}) {
            char name[80];
            std::snprintf(name, sizeof name, "retransmits, arms cost, lognormal CV %.2f", cv);
            row(name, flat(80, cv, loss, Noise::lognormal, 20), loss, jobs);
        }
    }
    row("retransmits, arms cost, time-outs CV .6", flat(80, 0.6, -5, Noise::timeouts, 20), -5, jobs);
    row("retransmits, small gain, CV .05", flat(80, 0.05, 2, Noise::lognormal, 20), 2, jobs);
    row("retransmits, small gain, CV .3", flat(80, 0.3, 2, Noise::lognormal, 20), 2, jobs);
}
