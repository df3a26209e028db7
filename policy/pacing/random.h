// SPDX-License-Identifier: BSD-3-Clause
// The law's seeded generator: SplitMix64 (Steele, Lea, Flood 2014, "Fast splittable pseudorandom number generators").
#pragma once

#include <cstdint>

namespace paced::pacing {

class Random {
public:
    Random() = default;
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }
    bool coin() { return (next() >> 63) != 0; }
    // 0 ... limit - 1; limit at least 1. The bias is below limit / 2^32.
    std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(((next() >> 32) * limit) >> 32); }

private:
    std::uint64_t state_ = 0;
};

}  // namespace paced::pacing
