// SPDX-License-Identifier: BSD-3-Clause
// Numbers that look like chance and are the same on every machine and in every run. The standard library's distributions
// differ from one library to the next.
#pragma once

#include <cstddef>
#include <cstdint>

namespace paced::placement {

// SplitMix64 (G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
class FixedRandom {
public:
    explicit FixedRandom(std::uint64_t seed = 1) : state_(seed) {}

    std::uint64_t next() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }
    // 0 to count - 1; count under 2^32. Not quite even for large counts, which does not matter here.
    std::size_t below(std::size_t count) { return static_cast<std::size_t>(((next() >> 32) * count) >> 32); }

private:
    std::uint64_t state_;
};

}  // namespace paced::placement
