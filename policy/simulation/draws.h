// SPDX-License-Identifier: BSD-3-Clause
// Random numbers of the simulator. Two kinds: a sequence, and numbers that are a function of (seed, what, when), which do not depend on
// the order in which they are asked for: the same rank takes the same time in the same iteration under every case, so that cases
// are compared in pairs.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "policy/pacing/random.h"

namespace paced::simulation {

// SplitMix64's finalizer.
constexpr std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}
constexpr std::uint64_t mixed(std::uint64_t seed, std::uint64_t what) { return mixed(mixed(seed + 0x9e3779b97f4a7c15u) + what * 0x9e3779b97f4a7c15u); }
constexpr std::uint64_t mixed(std::uint64_t seed, std::uint64_t what, std::uint64_t when) { return mixed(mixed(seed, what) + when * 0x9e3779b97f4a7c15u); }

// 0 to 1, neither of them reached.
inline double uniform_of(std::uint64_t bits) { return (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53; }

// A number of the standard normal distribution, by its quantile: 0 < p < 1. Acklam's rational approximation, relative error 1.2e-9.
double normal_quantile(double p);

class Draws {
public:
    explicit Draws(std::uint64_t seed) : random_(seed) {}
    std::uint64_t bits() { return random_.next(); }
    double uniform() { return uniform_of(random_.next()); }
    double exponential(double mean) { return -mean * std::log(uniform()); }
    double normal() { return normal_quantile(uniform()); }
    std::uint32_t below(std::uint32_t limit) { return random_.below(limit); }

private:
    pacing::Random random_;
};

// exp(sigma z - sigma^2 / 2), mean 1: one of 65,536 quantiles, each as likely.
class Lognormal {
public:
    explicit Lognormal(double sigma);
    // From the upper 16 bits.
    float operator()(std::uint64_t bits) const { return values_[bits >> 48]; }

private:
    std::vector<float> values_;
};

}  // namespace paced::simulation
