// SPDX-License-Identifier: BSD-3-Clause
// The control law of one class: what its next block runs under, given what its last one showed. A pure step function with
// fixed memory: the same object in the interposer and in the simulator. No allocation, no exception, no libstdc++ at run
// time (libm alone), no clock, no randomness but its own seeded generator.
//
// A class is the set of communicators that behave alike (same size, operations, bytes and bottleneck): the parallel groups of one
// program are probed together, since pacing one of them alone would hand its share of the link to the others.
//
//     probing   pairs of blocks (arm, off) in random order; a confidence sequence over log T_off - log T_arm
//     engaged   the arm, with OFF holdout blocks from which the gain is claimed
//     resting   off, for a back-off that doubles with every failed probe
//     ended     off for good: fault, straggler, or the budget for probes is spent
#pragma once

#include <cstdint>

#include "policy/pacing/block.h"
#include "policy/pacing/setting.h"
#include "policy/pacing/tuning.h"

namespace paced::pacing {

// What is known of a class beside its blocks.
struct Facts {
    std::uint32_t communicators = 0;   // in the class
    std::uint32_t size = 0;            // members of each
    std::uint32_t most_local = 0;      // the most members of one communicator on one node
    bool crosses = false;              // the members of a communicator are under different leaves
    bool tcp = false;                  // there are fabric sockets that RATE can act on
    bool pays_for_waiting = false;     // a waiting member takes CPU time from others (more runnable ranks than cores)
    std::uint64_t window_ns = 0;       // of the policy: the longest delay of one call; ~0: the law's own caps alone
};

// A finished block of all communicators of the class.
struct Observation {
    Setting ran;
    std::uint32_t iterations = 0;      // of the mean communicator, washout left out
    bool valid = false;                // all members took part, none learnt of it late
    double mean_ns = 0;                // of an iteration: mean over communicators
    double log_mean = 0;               // mean over communicators of log(mean iteration, ns): what arms are compared by
    double cv = 0;                     // of iterations within a communicator, mean over communicators
    double service_ns = 0;             // mean over communicators of the mean call's (BlockSummary::least_wait of an off block)
    double longest_service_ns = 0;
    double earliness_ns = 0;           // most - least mean wait, mean over communicators
    double straggler_ns = 0;           // what the others wait at least for the one that is always last; 0: there is none
    double held_ns = 0;                // our delays, sum over members
    std::uint32_t held = 0, timeouts = 0;
    std::uint64_t retransmissions = 0; // TCP segments sent again on the nodes of the class during the block
};

struct Decision {
    Setting setting;
    std::uint32_t iterations = 0;      // of the block, washout included
    std::uint32_t washout = 0;
};

enum class Ended : std::uint8_t { running, engaged, no_gain, loses, no_verdict, straggler, fault, budget, not_applicable, finished };
// "running", "engaged", "no gain", "loses", "no verdict", "persistent straggler", "fault", "budget spent", "not applicable", "job ended"
const char* name_of(Ended ended);

// What was tried, for the report.
struct Trial {
    Setting setting;
    std::uint32_t pairs = 0;
    std::uint32_t blocks = 0;          // of this setting, probes and engaged together
    std::uint64_t first_iteration = 0, decided_iteration = 0;  // counted over the class's blocks
    Ended ended = Ended::running;
    // Gain in percent of throughput, 100 * (T_off / T_arm - 1), with a 95 % interval: of the probe, and (claimed) of the holdout.
    double probe_gain = 0, probe_low = 0, probe_high = 0;
    double gain = 0, gain_low = 0, gain_high = 0;
    std::uint32_t holdout_blocks = 0;
    double mean_ms = 0, cv = 0;        // engaged blocks
    double off_mean_ms = 0, off_cv = 0;  // off blocks beside them
    double held_ms = 0;                // per member and iteration, in this setting's blocks
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
};

class Law {
public:
    Law() = default;
    Law(const Tuning& tuning, const Facts& facts, std::uint64_t seed);

    // The first block, before anything is known.
    Decision first();
    // The next one. An invalid observation is forgotten, and its block repeated; too many of them are a fault.
    Decision step(const Observation& observation);
    // Something unexpected in this class: off, now and for good.
    void fault();
    // Off for good? Then nothing more needs to be exchanged about this class.
    bool is_over() const;
    const Account& account() const;

private:
    // to be filled by the implementation: fixed memory
};

}  // namespace paced::pacing
