// SPDX-License-Identifier: BSD-3-Clause
// What is sent and what was received: small whole numbers, so that every sum of them is exact in any order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bsp {

// FNV-1a over values that are whole numbers.
class Checksum {
public:
    // Ranks that receive the same must not cancel one another: each begins with its number.
    explicit Checksum(int rank) : value_(0xcbf29ce484222325 ^ static_cast<std::uint64_t>(rank)) {}

    template <typename Number>
    void add(const std::vector<Number>& values) {
        for (const Number value : values) value_ = (value_ ^ static_cast<std::uint64_t>(value)) * 0x100000001b3;
    }
    std::uint64_t value() const { return value_; }

private:
    std::uint64_t value_;
};

inline void fill(std::vector<float>& bucket, int rank, int iteration, int number) {
    for (std::size_t i = 0; i < bucket.size(); ++i)
        bucket[i] = static_cast<float>((static_cast<std::size_t>(rank * 31 + iteration * 7 + number + 1) + i) % 251);
}

}  // namespace bsp
