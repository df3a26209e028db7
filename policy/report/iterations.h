// SPDX-License-Identifier: BSD-3-Clause
// The program's iterations, found in one rank's sequence of collectives without any help of the program: training
// repeats the same (communicator, operation, bytes) step after step.
//
// The period is the smallest number of collectives after which the sequence repeats itself, explaining at least 95 %
// of the stretch between its first and last repetition; what comes before (set-up, warm-up of another shape) and
// after (results, tear-down) does not count, and a few strangers in between (an evaluation, a checkpoint's barrier)
// do no harm. Where one size repeats (equal buckets), the compute time between collectives decides how many of them
// make one iteration: the multiple whose rhythm explains at least half of its variance.
//
// Iteration time: from the completion of an iteration's last collective to that of the next one; the longest compute
// lies between iterations. So the first iteration after a start or a stranger has no beginning and is not timed.
// First iterations far slower than the rest (connections being made) are counted apart, as start-up.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "policy/report/report.h"

namespace paced::report {

// One collective of the rank, in the order of time.
struct Event {
    std::uint64_t symbol = 0;  // equal for equal (communicator, operation, bytes)
    std::uint64_t arrival_ns = 0, completion_ns = 0;
    bool follows = true;  // the one before it in the list came right before it: nothing between was left out
};

// rank and, where nothing is found, remark are for the caller to refine.
Iterations find_iterations(std::span<const Event> events);

}  // namespace paced::report
