// SPDX-License-Identifier: BSD-3-Clause
// The conductor, at the leader: from what the nodes say to what they are told. It forms classes out of communicators,
// runs one law for each, turns a law's decision into directives with sequence numbers that lie far enough ahead, and joins
// the blocks that come back into observations. Pure: the time is given, nothing is sent here. Fixed memory.
#pragma once

#include <cstdint>

#include "policy/pacing/directive.h"
#include "policy/pacing/law.h"

namespace paced::pacing {

inline constexpr std::uint32_t conducted_limit = 256;  // communicators; more are left alone
inline constexpr std::uint32_t class_limit = 8;

// One finished block of a class, for the report and for benchmarks.
struct BlockLine {
    std::uint64_t ended_ns = 0;        // on the leader's clock
    std::uint64_t signature = 0;       // of the class
    std::uint64_t bytes = 0;
    std::uint32_t round = 0;           // comparison: all settings of the list once, in random order, are a round
    std::uint32_t iterations = 0;      // measured, washout left out
    std::uint32_t communicators = 0;
    std::uint32_t valid = 0;           // 0 or 1
    Setting ran;
    double mean_ns = 0, log_mean = 0, cv = 0;  // as in Observation
    double service_ns = 0, held_ns = 0;
    std::uint64_t retransmissions = 0;
};
static_assert(sizeof(BlockLine) == 136);

class Conductor {
public:
    Conductor(const Tuning& tuning, std::uint64_t window_ns, std::uint64_t seed);

    // What all nodes together say of a communicator (Progress and BlockSummary joined over them), at now_ns.
    void progress(const Progress& progress, std::uint64_t now_ns);
    void block(const BlockSummary& block);
    // Since the job began, over all nodes.
    void retransmissions(std::uint64_t segments);
    void surroundings(bool tcp, bool pays_for_waiting);
    // Nodes were lost, or a message made no sense: everything off.
    void fault();

    // Directives that are new since the last call; at most limit.
    std::uint32_t directives(std::uint64_t now_ns, Directive* to, std::uint32_t limit);

    // Blocks that have ended since the last call, oldest first; at most limit. Those that nobody fetches are forgotten.
    std::uint32_t lines(BlockLine* to, std::uint32_t limit);

    // For the report.
    struct ClassAccount {
        std::uint64_t signature;
        std::uint64_t bytes;
        Facts facts;
        Account account;
    };
    std::uint32_t classes() const;
    const ClassAccount& account(std::uint32_t index) const;
};

}  // namespace paced::pacing
