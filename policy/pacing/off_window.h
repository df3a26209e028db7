// SPDX-License-Identifier: BSD-3-Clause
// What the last OFF blocks of a class looked like: how long, how noisy, and whether anything in them says that there is something to
// gain. Fixed memory.
#pragma once

#include <cstdint>

#include "policy/pacing/foreign_period.h"
#include "policy/pacing/observation.h"
#include "policy/pacing/tuning.h"

namespace paced::pacing {

// Which kinds of loss the blocks show.
struct Signature {
    bool congested = false;        // segments are sent again, or single calls take many times the usual
    bool retransmits = false;
    bool waits = false;            // members are early by a part of the iteration that is worth something, and it costs others
    double foreign_blocks = 0;     // period in blocks of somebody else's traffic; 0: none seen
};

class OffWindow {
public:
    void add(const Observation& block);

    std::uint32_t count() const { return count_; }  // since the beginning, at most 2^32 - 1
    // Of the last `recent`; all ns, 0 before the first.
    double mean_ns() const { return mean_of(&Kept::mean_ns); }
    double service_ns() const { return mean_of(&Kept::service_ns); }
    double least_service_ns() const;
    double longest_service_ns() const;  // median over blocks of their longest call
    double shortest_service_ns() const; // the quickest call that was seen
    double log_mean() const { return mean_of(&Kept::log_mean); }
    double cv() const;                  // of their iterations, between the blocks and within them
    // Scatter of one block's log mean, from between the blocks and from within them, for a block of so many iterations.
    double deviation(std::uint32_t iterations) const;
    // Worse than any of the last 32 OFF blocks, by more than the percentage and by more than so many deviations?
    bool is_severe(const Observation& block, const Tuning& tuning) const;

    Signature signature(const Facts& facts, const Tuning& tuning) const;
    // A member that is last in more than straggler_share of blocks and costs more than straggler_percent.
    bool has_straggler(const Tuning& tuning) const;
    // Some of the blocks do show one: it is worth some more blocks to be sure.
    bool suspects_straggler(const Tuning& tuning) const;

    static constexpr std::uint32_t recent = 8;
    static constexpr std::uint32_t straggler_blocks = 5;  // before one is named

private:
    struct Kept {
        double mean_ns, log_mean, cv, service_ns, longest_service_ns, shortest_service_ns, earliness_ns, straggler_ns, iterations, retransmissions;
    };
    std::uint32_t kept() const { return count_ < recent ? count_ : recent; }
    double mean_of(double Kept::*field) const;
    std::uint32_t stragglers(const Tuning& tuning) const;

    Kept kept_[recent] = {};
    static constexpr std::uint32_t remembered = 32;
    double logs_[remembered] = {};
    std::uint32_t count_ = 0;
    ForeignPeriod foreign_;
};

}  // namespace paced::pacing
