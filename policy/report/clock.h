// SPDX-License-Identifier: BSD-3-Clause
// Brings a node's CLOCK_MONOTONIC to the leader's, with an error bound that is carried along.
#pragma once

#include <cstdint>
#include <vector>

#include "policy/report/trace.h"

namespace paced::report {

struct LeaderTime {
    std::int64_t ns = 0;
    std::int64_t error_ns = 0;  // the true value lies within +- error_ns
};

class Clock {
public:
    // The leader's own: no offset, no error.
    Clock() = default;
    // Another node's. Without samples nothing is known of it: known() is false.
    explicit Clock(std::vector<ClockSample> samples);

    bool known() const { return known_; }
    // Between two samples the offset is interpolated linearly (both clocks are disciplined; their rates differ by
    // parts per million and change slowly) and the larger error holds. Before the first and after the last sample
    // the nearest offset holds, and the error grows with the distance at the highest drift seen between servers,
    // 30 us/s (Geng et al., Huygens, NSDI 2018).
    LeaderTime to_leader(std::uint64_t local_ns) const;

private:
    std::vector<ClockSample> samples_;
    bool own_ = true;
    bool known_ = true;
};

}  // namespace paced::report
