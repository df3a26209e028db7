// SPDX-License-Identifier: BSD-3-Clause
#include "times.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

namespace bsp {
namespace {

// The smallest value that at least this share of all lies at or below.
double quantile(const std::vector<double>& sorted, double share) {
    const auto place = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
    return sorted[std::min(sorted.size() - 1, place > 0 ? place - 1 : 0)];
}

}  // namespace

Times times_of(std::vector<double> iterations_ms) {
    const auto count = static_cast<double>(iterations_ms.size());
    const double mean = std::accumulate(iterations_ms.begin(), iterations_ms.end(), 0.0) / count;
    double squares = 0;
    for (const double time : iterations_ms) squares += (time - mean) * (time - mean);
    const double deviation = iterations_ms.size() > 1 ? std::sqrt(squares / (count - 1)) : 0;
    std::sort(iterations_ms.begin(), iterations_ms.end());
    return {mean, mean > 0 ? deviation / mean : 0, quantile(iterations_ms, .5), quantile(iterations_ms, .95), iterations_ms.back(), 1000 / mean};
}

Times over_groups(const std::vector<Times>& groups) {
    Times all;
    const auto share = 1 / static_cast<double>(groups.size());
    for (const Times& group : groups) {
        all.mean_ms += share * group.mean_ms;
        all.cv += share * group.cv;
        all.p50_ms += share * group.p50_ms;
        all.p95_ms += share * group.p95_ms;
        all.longest_ms = std::max(all.longest_ms, group.longest_ms);
        all.per_second += share * group.per_second;
    }
    return all;
}

void print(const Times& times) {
    std::printf("mean=%.3f ms cv=%.4f p50=%.3f p95=%.3f max=%.3f\n", times.mean_ms, times.cv, times.p50_ms, times.p95_ms, times.longest_ms);
    std::printf("throughput=%.3f iterations/s\n", times.per_second);
}

}  // namespace bsp
