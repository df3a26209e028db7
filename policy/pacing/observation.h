// SPDX-License-Identifier: BSD-3-Clause
// What a law is given of its class and its blocks, and what it answers: plain data. Times are nanoseconds.
#pragma once

#include <cstdint>

#include "policy/pacing/setting.h"

namespace paced::pacing {

// What is known of a class beside its blocks.
struct Facts {
    std::uint32_t communicators = 0;   // in the class
    std::uint32_t rivals = 0;          // of them, the most that may meet on one link (bottleneck domain); 0: all
    std::uint32_t size = 0;            // members of each
    std::uint32_t most_local = 0;      // the most members of one communicator on one node
    bool crosses = false;              // the members of a communicator are under different leaves
    bool tcp = false;                  // there are fabric sockets that RATE can act on
    bool pays_for_waiting = false;     // a waiting member takes CPU time from others (more runnable ranks than cores)
    std::uint64_t window_ns = 0;       // of the policy: the longest delay of one call; ~0: the law's own caps alone
    std::uint32_t calls = 1;           // of one iteration (Progress::period); what HOLD may take is divided among them
    std::uint64_t bytes = 0;           // largest payload of one call; 0: not known, RATE is not tried
    std::uint64_t socket_bytes = 0;    // of a call, over the busiest socket of any member (ring: all that a member sends; all-to-all: what one peer gets); 0: not known
    double error_share = 1;            // this class's part of the job's error_percent: error_share_of_class
};

// Parts of the job's error for its classes in the order in which they are found. Over any number of classes they sum to at
// most 1; the first gets most, since it is the one that a job of a single class has.
constexpr double error_share_of_class(std::uint32_t index) {
    double share = 0.7;
    if (index > 0) {
        share = 0.15;
        for (std::uint32_t i = 1; i < index && i < 64; ++i) share /= 2;
    }
    return share;
}

// A finished block of all communicators of the class.
struct Observation {
    Setting ran;
    std::uint32_t iterations = 0;      // of the mean communicator, washout left out
    std::uint64_t at_iteration = 0;    // of the job, at the block's end; 0: not known, the measured ones are counted
    bool valid = false;                // all members took part, none learnt of it late
    double mean_ns = 0;                // of an iteration: mean over communicators
    double log_mean = 0;               // mean over communicators of log(mean iteration, ns): what arms are compared by
    double cv = 0;                     // of iterations within a communicator, mean over communicators
    double service_ns = 0;             // mean over communicators of the mean call's (BlockSummary::least_wait of an off block)
    double longest_service_ns = 0, shortest_service_ns = 0;  // of single calls; the latter of an off block alone, mean over communicators
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

}  // namespace paced::pacing
