// SPDX-License-Identifier: BSD-3-Clause
// What the law must not need, planted for the check to find: allocation, exceptions, a clock, a static constructor.
#include <ctime>
#include <vector>

std::vector<int> made_at_start(3);

long needs_a_runtime(int value) {
    if (value < 0) throw value;
    made_at_start.push_back(value);
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}
