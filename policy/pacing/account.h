// SPDX-License-Identifier: BSD-3-Clause
// What a law has done and found out, for the report: plain data with fixed memory.
#pragma once

#include <cstdint>

#include "policy/pacing/setting.h"

namespace paced::pacing {

enum class Ended : std::uint8_t { running, engaged, no_gain, loses, no_verdict, straggler, fault, budget, not_applicable, finished, moved_on, replaced, not_better };
// "running", "engaged", "no gain", "loses", "no verdict", "persistent straggler", "fault", "budget spent", "not applicable", "job ended",
// "another loop began", "replaced" (by a setting that was better still), "not better" (than the engaged one)
const char* name_of(Ended ended);

// What was tried, for the report.
struct Trial {
    Setting setting;
    std::uint32_t pairs = 0;
    std::uint32_t blocks = 0;          // of this setting, probes and engaged together
    std::uint64_t first_iteration = 0, decided_iteration = 0;  // counted over the class's blocks
    std::uint64_t engaged_iteration = 0;  // 0: it never was
    Ended ended = Ended::running;
    // Gain in percent of throughput, 100 * (T_off / T_arm - 1), with a 95 % interval: of the probe, and (claimed) of the holdout.
    double probe_gain = 0, probe_low = 0, probe_high = 0;
    double gain = 0, gain_low = 0, gain_high = 0;
    std::uint32_t holdout_blocks = 0;
    double mean_ms = 0, cv = 0;        // engaged blocks
    double off_mean_ms = 0, off_cv = 0;  // off blocks beside them
    double held_ms = 0;                // per member and iteration, in this setting's blocks
    std::uint64_t held_calls = 0, timeouts = 0;  // calls of members that were delayed there, and delays that only their deadline ended
    bool ours = false;                 // method comparison: the arm that the law has chosen
};
inline constexpr std::uint32_t trial_limit = 24;

struct Account {
    Trial trials[trial_limit];
    std::uint32_t count = 0;           // trials beyond the limit replace the last
    std::uint64_t blocks = 0, void_blocks = 0, iterations = 0;
    double probe_cost_ms = 0;          // what probe blocks took longer than the off blocks paired with them, per member; may be negative
    double total_ms = 0;
    Ended state = Ended::running;      // now
    Setting engaged;                   // off: none
    std::uint32_t resumed = 0;         // how often its loop was taken up again after another one
};

// One finished block, for a benchmark's own statistics.
struct BlockLog {
    std::uint64_t number = 0;          // counts the class's blocks from 1, void ones too
    Setting setting;
    std::uint32_t iterations = 0;      // measured
    bool valid = false;
    double mean_ns = 0, cv = 0;
    std::uint32_t round = 0;           // comparison: from 1; 0: the law is still looking for its own arm
    bool ours = false;                 // comparison: the block of the law's own arm
};

}  // namespace paced::pacing
