// SPDX-License-Identifier: BSD-3-Clause
// A job under the law, as arithmetic: iteration times drawn for each group of a class, blocks made of them, the law asked after each. What
// a setting does to the times is given; the law is not told. Two kinds of noise: lognormal, and light noise with rare events of 200 ms (a
// retransmission time-out); both may be autocorrelated (AR(1)) and common to the groups.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "policy/pacing/law.h"
#include "policy/pacing/random.h"

namespace paced::pacing::test {

class Draws {
public:
    explicit Draws(std::uint64_t seed) : random_(seed) {}
    double uniform() { return (static_cast<double>(random_.next() >> 11) + 0.5) * 0x1p-53; }
    // One of 65,536 quantiles, each as likely: fast, and mean and variance are what they should be.
    double normal() { return table()[random_.next() >> 48]; }

private:
    static const std::vector<double>& table() {
        static const std::vector<double> values = [] {
            std::vector<double> made(65536);
            double z = 0;
            for (std::size_t i = 0; i < made.size() / 2; ++i) {
                const double p = (static_cast<double>(i) + 0.5) / static_cast<double>(made.size());  // the part outside, from the middle on
                for (int step = 0; step < 4; ++step) z -= (std::erf(z * M_SQRT1_2) / 2 - p) * std::sqrt(2 * M_PI) * std::exp(z * z / 2);
                made[2 * i] = z;
                made[2 * i + 1] = -z;
            }
            return made;
        }();
        return values;
    }
    Random random_;
};

// Most tests are about an arm of several widths, so that slots, which come first, are left out.
inline Tuning without_slots() {
    Tuning tuning;
    tuning.without = 1u << static_cast<std::uint32_t>(Arm::slots);
    return tuning;
}

enum class Noise { lognormal, timeouts };

// Iteration times under one setting.
struct Times {
    double mean_ms = 100, cv = 0.1;
    Noise noise = Noise::lognormal;
    std::uint64_t retransmissions = 0;  // a block
    double service_ms = 0;              // of a call; 0: half the iteration
    double shortest_service_ms = 0;
};

struct Cell {
    Times off;
    std::function<Times(const Setting&)> under = nullptr;  // of settings other than off; none: as off
    double correlation = 0;    // AR(1) of a group's iterations
    bool common = true;        // all groups see the same times; false: each its own
    double waits = 0.1;        // earliness, part of the iteration
    double straggles = 0;      // straggler_ns, part of the iteration
};

class SimulatedJob {
public:
    SimulatedJob(const Cell& cell, const Facts& facts, std::uint64_t seed) : cell_(cell), facts_(facts), draws_(seed), groups_(cell.common ? 1 : facts.communicators), fresh_(std::sqrt(1 - cell.correlation * cell.correlation)) {}

    // A block as the law would be told of it; total_ms() grows by its time.
    Observation block(const Decision& decision) {
        const Times times = decision.setting.arm == Arm::off || !cell_.under ? cell_.off : cell_.under(decision.setting);
        Observation seen;
        seen.ran = decision.setting;
        seen.iterations = decision.iterations - decision.washout;
        seen.valid = true;
        double whole = 0;
        for (std::uint32_t group = 0; group < groups_; ++group) {
            double sum = 0, squares = 0;
            for (std::uint32_t i = 0; i < decision.iterations; ++i) {
                const double t = iteration(times, group);
                whole += t;
                if (i < decision.washout) continue;
                sum += t;
                squares += t * t;
                if (t > longest_) longest_ = t;
            }
            const double n = seen.iterations, mean = sum / n, variance = squares / n - mean * mean;
            seen.mean_ns += mean * 1e6 / groups_;
            seen.log_mean += std::log(mean * 1e6) / groups_;
            seen.cv += (variance > 0 ? std::sqrt(variance) / mean : 0) / groups_;
        }
        total_ms_ += whole / groups_;
        iterations_ += decision.iterations;
        seen.service_ns = times.service_ms > 0 ? times.service_ms * 1e6 : seen.mean_ns / 2;
        seen.shortest_service_ns = times.shortest_service_ms * 1e6;
        seen.longest_service_ns = longest_ * 1e6 - seen.mean_ns / 2;
        seen.earliness_ns = seen.mean_ns * cell_.waits;
        seen.straggler_ns = seen.mean_ns * cell_.straggles;
        seen.retransmissions = times.retransmissions;
        longest_ = 0;
        return seen;
    }

    // Until at least so many iterations have run, or the law does not want to hear of more (then OFF to the end).
    void run(Law& law, std::uint64_t iterations) {
        Decision decision = started_ ? decision_ : law.first();
        started_ = true;
        while (iterations_ < iterations) decision = law.step(block(decision));
        decision_ = decision;
    }

    double total_ms() const { return total_ms_; }
    std::uint64_t iterations() const { return iterations_; }
    Cell& cell() { return cell_; }

private:
    double iteration(const Times& times, std::uint32_t group) {
        double& state = state_[group];
        const double keep = cell_.correlation;
        state = keep * state + fresh_ * draws_.normal();
        if (times.noise == Noise::lognormal) {
            if (times.cv != cv_) {
                cv_ = times.cv;
                variance_ = std::log1p(cv_ * cv_);
                sigma_ = std::sqrt(variance_);
            }
            return times.mean_ms * std::exp(sigma_ * state - variance_ / 2);
        }
        // events of 200 ms with the probability that gives the CV; the rest is light
        constexpr double event_ms = 200, light = 0.03;
        const double ratio = times.mean_ms * times.cv / event_ms, p = ratio < 0.5 ? (1 - std::sqrt(1 - 4 * ratio * ratio)) / 2 : 0.5;
        double base = times.mean_ms - p * event_ms;
        if (base < times.mean_ms / 4) base = times.mean_ms / 4;
        return base * (1 + light * state) + (draws_.uniform() < p ? event_ms : 0);
    }

    Cell cell_;
    Facts facts_;
    Draws draws_;
    std::uint32_t groups_;
    double fresh_, cv_ = -1, variance_ = 0, sigma_ = 0;
    double state_[64] = {};
    double total_ms_ = 0, longest_ = 0;
    std::uint64_t iterations_ = 0;
    bool started_ = false;
    Decision decision_;
};

// Four groups over two leaves on TCP, as on the testbed.
inline Facts four_groups() {
    Facts facts;
    facts.communicators = 4;
    facts.size = 2;
    facts.most_local = 1;
    facts.crosses = true;
    facts.tcp = true;
    facts.window_ns = ~std::uint64_t{0};
    facts.bytes = facts.socket_bytes = 128 << 10;
    return facts;
}

}  // namespace paced::pacing::test
