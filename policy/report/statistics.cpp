// SPDX-License-Identifier: BSD-3-Clause
#include "policy/report/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace paced::report {

double percentile(std::vector<double>& values, double share) {
    if (values.empty()) return 0;
    const double rank = std::ceil(share * static_cast<double>(values.size()));
    const auto index = static_cast<std::ptrdiff_t>(std::clamp(rank, 1.0, static_cast<double>(values.size()))) - 1;
    std::nth_element(values.begin(), values.begin() + index, values.end());
    return values[static_cast<std::size_t>(index)];
}

double mean_of(std::span<const double> values) {
    if (values.empty()) return 0;
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double coefficient_of_variation(std::span<const double> values) {
    if (values.size() < 2) return 0;
    const double mean = mean_of(values);
    if (mean == 0) return 0;
    double squares = 0;
    for (double value : values) squares += (value - mean) * (value - mean);
    return std::sqrt(squares / static_cast<double>(values.size() - 1)) / mean;
}

Distribution distribution_of(std::vector<double> values_ms) {
    Distribution result;
    if (values_ms.empty()) return result;
    // Sorted first, so that the sum does not depend on the order in which ranks were read.
    std::sort(values_ms.begin(), values_ms.end());
    result.count = values_ms.size();
    result.sum_ms = std::accumulate(values_ms.begin(), values_ms.end(), 0.0);
    result.mean_ms = result.sum_ms / static_cast<double>(values_ms.size());
    result.p50_ms = percentile(values_ms, .50);
    result.p95_ms = percentile(values_ms, .95);
    result.p99_ms = percentile(values_ms, .99);
    result.max_ms = *std::max_element(values_ms.begin(), values_ms.end());
    return result;
}

}  // namespace paced::report
