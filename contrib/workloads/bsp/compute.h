// SPDX-License-Identifier: BSD-3-Clause
// The compute of one rank: how long it takes in each iteration, and in which way that time passes.
#pragma once

#include <random>

#include "options.h"

namespace bsp {

class Compute {
public:
    Compute(const Options& options, int rank);

    // Draws this iteration's compute: the jitter's factor, and what a straggler has on top.
    void begin_iteration();
    // That share of it passes.
    void run(double share) const;

private:
    const Options& options_;
    double straggler_ms_ = 0;
    std::mt19937_64 random_;
    double iteration_ms_ = 0;
};

}  // namespace bsp
