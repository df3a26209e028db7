// SPDX-License-Identifier: BSD-3-Clause
#include "compute.h"

#include <chrono>
#include <cmath>
#include <ctime>
#include <thread>

namespace bsp {
namespace {

// CPU time that this thread has had.
double cpu_ms() {
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

}  // namespace

Compute::Compute(const Options& options, int rank) : options_(options), random_(options.seed * 1'000'003 + static_cast<std::uint64_t>(rank)) {
    for (const Straggler& straggler : options.stragglers)
        if (straggler.rank == rank) straggler_ms_ += straggler.delay_ms;
}

void Compute::begin_iteration() {
    std::normal_distribution<double> normal;
    const double sigma = options_.jitter;
    iteration_ms_ = options_.compute_ms * std::exp(sigma * normal(random_) - sigma * sigma / 2) + straggler_ms_;
}

void Compute::run(double share) const {
    const double ms = iteration_ms_ * share;
    if (options_.work) {
        const double end = cpu_ms() + ms;
        while (cpu_ms() < end) {}
        return;
    }
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double, std::milli>(ms);
    if (!options_.spin) std::this_thread::sleep_until(end);
    while (std::chrono::steady_clock::now() < end) {}
}

}  // namespace bsp
