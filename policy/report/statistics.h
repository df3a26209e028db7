// SPDX-License-Identifier: BSD-3-Clause
// The few statistics of the report, each with its one definition.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace paced::report {

// The smallest value that at least share (0..1] of all values do not exceed (nearest rank: always a value that was
// measured). Reorders values. 0 for none.
double percentile(std::vector<double>& values, double share);

double mean_of(std::span<const double> values);
// Sample standard deviation (n - 1) over the mean; 0 for fewer than two values.
double coefficient_of_variation(std::span<const double> values);

struct Distribution {
    std::size_t count = 0;
    double sum_ms = 0, mean_ms = 0, p50_ms = 0, p95_ms = 0, p99_ms = 0, max_ms = 0;

    friend bool operator==(const Distribution&, const Distribution&) = default;
};

Distribution distribution_of(std::vector<double> values_ms);

}  // namespace paced::report
