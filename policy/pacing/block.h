// SPDX-License-Identifier: BSD-3-Clause
// One block: consecutive calls of one communicator under one setting, as plain data. A rank measures it
// (RankBlock), its node joins those of its ranks, the tree of nodes joins the nodes' (BlockSummary: joining is associative and
// does not depend on the order), and the law learns from it. Times are nanoseconds of durations within one rank, so
// that no clock of another node is needed.
//
// For a synchronizing collective all members end together, so the shortest wait among the members is the service (what the
// last arriver saw), and wait - service is how early a member was (research: max-plus view of bulk-synchronous programs).
#pragma once

#include <cstdint>

#include "policy/pacing/setting.h"

namespace paced::pacing {

// The calls between from_sequence + skipped (washout) and the block's end, as one member saw them.
struct RankBlock {
    std::uint32_t epoch = 0;           // of the directive that this block was run under; 0: none yet
    std::uint32_t iterations = 0;      // whole iterations measured
    std::uint32_t calls = 0;           // measured
    std::uint32_t late = 0;            // 1: the directive came after its from_sequence; the block is void
    std::uint64_t iterations_ns = 0;   // sum of their durations, completion to completion
    double iterations_ns2 = 0;         // sum of squares
    std::uint64_t longest_ns = 0;      // iteration
    std::uint64_t wait_ns = 0;         // sum of completion - natural arrival, holds included
    std::uint64_t shortest_wait_ns = 0, longest_wait_ns = 0;
    std::uint64_t service_ns = 0;      // sum of completion - entry of the real function, after any hold
    std::uint64_t longest_service_ns = 0;
    std::uint64_t held_ns = 0;         // sum of our delays
    std::uint32_t held = 0;            // calls that were delayed
    std::uint32_t timeouts = 0;        // delays that only their deadline ended (admit, barrier, hold_local)
};
static_assert(sizeof(RankBlock) == 96);

// The same block over `members` members. Iteration times are those of the communicator's rank 0 (it alone counts them; all members'
// are alike); the rest is over all.
struct BlockSummary {
    std::uint64_t communicator = 0;
    std::uint32_t epoch = 0;
    std::uint32_t size = 0;            // of the communicator
    std::uint32_t members = 0;         // whose blocks are in here
    std::uint32_t iterations = 0;
    std::uint32_t calls = 0;           // of one member
    std::uint32_t late = 0, held = 0, timeouts = 0;  // sums
    std::uint64_t iterations_ns = 0;
    double iterations_ns2 = 0;
    std::uint64_t longest_ns = 0;
    std::uint64_t least_wait_ns = 0;   // smallest over members of their mean wait
    std::uint64_t most_wait_ns = 0;    // largest of the same
    std::uint64_t wait_ns = 0;         // sum over members of their mean wait
    // A member whose longest wait is below the shortest of all others was last at every call: a straggler.
    std::uint64_t least_longest_wait_ns = 0;
    std::uint64_t shortest_wait_ns = 0, second_shortest_wait_ns = 0;  // the two smallest over members
    std::uint32_t late_member = 0, shortest_member = 0;               // whose the first two are, as ranks of the communicator
    std::uint64_t least_service_ns = 0;        // smallest over members of their mean service
    std::uint64_t longest_service_ns = 0;
    std::uint64_t held_ns = 0;         // sum over members
};
static_assert(sizeof(BlockSummary) == 144);

// One member's block as a summary.
BlockSummary summary_of(const RankBlock& block, std::uint64_t communicator, std::uint32_t size, std::uint32_t member);
// Both must be of the same communicator and epoch.
void join(BlockSummary& into, const BlockSummary& other);

}  // namespace paced::pacing
