// SPDX-License-Identifier: BSD-3-Clause
#include "policy/placement/order/shift_load.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace paced::placement {

namespace {

// A fast Fourier transform over the integers modulo a prime: exact, and the same on every machine.
constexpr std::uint64_t prime = 998244353, primitive_root = 3;  // prime - 1 = 2^23 * 119

std::uint64_t to_power(std::uint64_t base, std::uint64_t exponent) {
    std::uint64_t result = 1;
    for (; exponent != 0; exponent >>= 1, base = base * base % prime)
        if (exponent & 1) result = result * base % prime;
    return result;
}

// In place; the length is a power of two.
void transform(std::vector<std::uint64_t>& values) {
    const std::size_t n = values.size();
    for (std::size_t i = 1, reversed = 0; i < n; ++i) {
        std::size_t bit = n >> 1;
        for (; reversed & bit; bit >>= 1) reversed ^= bit;
        reversed ^= bit;
        if (i < reversed) std::swap(values[i], values[reversed]);
    }
    std::vector<std::uint64_t> roots(n / 2);
    for (std::size_t length = 2; length <= n; length *= 2) {
        const std::uint64_t step = to_power(primitive_root, (prime - 1) / length);
        roots[0] = 1;
        for (std::size_t i = 1; i < length / 2; ++i) roots[i] = roots[i - 1] * step % prime;
        for (std::size_t start = 0; start < n; start += length)
            for (std::size_t i = 0; i < length / 2; ++i) {
                std::uint64_t &low = values[start + i], &high = values[start + i + length / 2];
                const std::uint64_t odd = high * roots[i] % prime;
                high = low >= odd ? low - odd : low + prime - odd;
                low = low + odd >= prime ? low + odd - prime : low + odd;
            }
    }
}

// The smallest number of members that have a member at the same distance ahead, over all distances; positions: sorted.
long long smallest_autocorrelation(const std::vector<std::uint32_t>& positions, std::size_t n) {
    const std::size_t m = positions.size(), length = std::bit_ceil(2 * n);
    std::vector<long long> count(n / 2 + 1, 0);
    if (m * m / 2 <= 2 * length * static_cast<std::size_t>(std::bit_width(length))) {  // count pairs
        for (std::size_t i = 0; i < m; ++i)
            for (std::size_t j = i + 1; j < m; ++j) {
                const std::size_t d = positions[j] - positions[i], distance = std::min(d, n - d);
                count[distance] += 2 * distance == n ? 2 : 1;
            }
    } else {
        std::vector<std::uint64_t> spectrum(length, 0);
        for (std::uint32_t each : positions) spectrum[each] = 1;
        transform(spectrum);
        std::vector<std::uint64_t> pairs(length);
        for (std::size_t i = 0; i < length; ++i) pairs[i] = spectrum[i] * spectrum[(length - i) % length] % prime;
        transform(pairs);  // its own inverse but for the factor and the direction, which does not matter here
        const std::uint64_t factor = to_power(length, prime - 2);
        for (std::size_t d = 1; d <= n / 2; ++d) count[d] = static_cast<long long>((pairs[d] + pairs[n - d]) * factor % prime);
    }
    return n < 2 ? 0 : *std::min_element(count.begin() + 1, count.end());
}

}  // namespace

long long least_shift_load(std::size_t m, std::size_t hosts) {
    if (hosts < 2) return 0;
    return static_cast<long long>((m * (hosts - m) + hosts - 2) / (hosts - 1));
}

long long least_shift_load(const GroupLevel& level, std::size_t hosts) {
    long long least = 0;
    for (std::size_t m : level.size) least = std::max(least, least_shift_load(m, hosts));
    return least;
}

long long worst_shift_load(const GroupLevel& level, const LeafSequence& sequence) {
    const std::size_t n = sequence.size();
    const auto most = [&](Group group) { return std::min(level.size[group], n - level.size[group]); };
    std::vector<Group> groups(level.size.size());
    std::iota(groups.begin(), groups.end(), Group{0});
    std::stable_sort(groups.begin(), groups.end(), [&](Group a, Group b) { return most(a) > most(b); });
    long long worst = 0;
    for (Group group : groups) {
        // Not all groups need be looked at: neither those that cannot be the worst, nor those for which all orders are alike.
        const auto highest = static_cast<long long>(most(group));
        if (highest <= worst) break;
        if (least_shift_load(level.size[group], n) == highest) {
            worst = highest;
            continue;
        }
        std::vector<std::uint32_t> positions;
        for (std::uint32_t i = 0; i < n; ++i)
            if (level.of_leaf[sequence[i]] == group) positions.push_back(i);
        worst = std::max(worst, static_cast<long long>(positions.size()) - smallest_autocorrelation(positions, n));
    }
    return worst;
}

}  // namespace paced::placement
