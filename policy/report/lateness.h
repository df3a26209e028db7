// SPDX-License-Identifier: BSD-3-Clause
// Second step of the analysis: who was late. Each measured collective (synchronizing, all ranks present) gets one
// verdict, and lateness is counted from the late ones alone.
//
// A collective ends with its last rank: wait of a rank = last arrival - own arrival; service = last completion - last
// arrival (DESIGN section 6). Before a rank is called late, everything else that can make it arrive last is ruled out.
#pragma once

#include <cstdint>
#include <vector>

#include "policy/report/matching.h"

namespace paced::report {

enum class Verdict : std::uint8_t {
    not_measured,
    // Somebody was late, and it is known who.
    late,
    // The last two are nearer than their clocks' error.
    tied,
    // All came within 20 us or 1 % of an iteration: nobody is to blame for that.
    on_time,
    // The last rank owes its place to the collective before, which let it go later than others (buckets back to back
    // are the usual case): it was given at least half of the spread of arrivals there, or another rank would be last
    // without what each was given.
    inherited,
    // Collective::contended teaches nothing about lateness. Unless the spread of arrivals is larger than that of the
    // completions: then no trouble of this size can explain who came last.
    contended,
    // The first of a communicator finds the ranks as they were started.
    first,
};

struct Lateness {
    std::vector<Verdict> verdicts;  // by collective
    // Over the late collectives of the communicators that a participant is in:
    struct Rank {
        std::uint64_t late = 0, last = 0;  // collectives; those that found it last
        double waited_ns = 0, caused_ns = 0;  // waiting of all ranks; the part that was for this one
        double cost_ns = 0;                // sum of last arrival - last but one where it was last
        double earliness_ns = 0;           // sum of last arrival - own arrival, tied and on_time ones included
        std::uint64_t counted = 0;         // of these

        double last_share() const { return late > 0 ? static_cast<double>(last) / static_cast<double>(late) : 0; }
        double lateness_share() const { return waited_ns > 0 ? caused_ns / waited_ns : 0; }
        double earliness_mean_ns() const { return counted > 0 ? earliness_ns / static_cast<double>(counted) : 0; }
    };
    std::vector<Rank> ranks;        // by participant
    std::vector<bool> persistent;   // by participant: a persistent straggler
};

// iteration_ns: 0 where no iterations are known. elapsed_ns: by participant, the time that its kept collectives stand for.
Lateness judge(const Matching& matching, double iteration_ns, const std::vector<double>& elapsed_ns);

}  // namespace paced::report
