// SPDX-License-Identifier: BSD-3-Clause
// What a set of iterations cost, as one rank timed them.
#pragma once

#include <vector>

namespace bsp {

struct Times {
    double mean_ms = 0, cv = 0, p50_ms = 0, p95_ms = 0, longest_ms = 0;
    double per_second = 0;  // iterations
};

Times times_of(std::vector<double> iterations_ms);
// Of independent groups: the mean of each figure over the groups; the longest is the longest of all.
Times over_groups(const std::vector<Times>& groups);
// "mean=… ms cv=… p50=… p95=… max=…" and "throughput=… iterations/s".
void print(const Times& times);

}  // namespace bsp
