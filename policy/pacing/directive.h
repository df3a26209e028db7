// SPDX-License-Identifier: BSD-3-Clause
// How a decision reaches the ranks, and how their progress and blocks get back: plain data in the node's shared segment
// (policy/io/segment.h) and on the wire (plugin/interposer/exchange).
//
// A directive holds from a sequence number of its communicator on. All members get the same directive, and the number lies
// ahead of them, so that they change at the same call although nothing is sent at that call. A member that learns of it too
// late changes at once and says so; its block is void, nothing else happens.
#pragma once

#include <cstdint>

#include "policy/pacing/block.h"
#include "policy/pacing/setting.h"

namespace paced::pacing {

struct Directive {
    std::uint64_t communicator = 0;
    std::uint64_t from_sequence = 0;  // first call of the block
    std::uint32_t epoch = 0;          // counts up from 1 in its communicator; 0: none
    std::uint32_t period = 0;         // calls of one iteration of this communicator
    std::uint32_t skip = 0;           // first iterations that are not measured
    std::uint32_t position = 0;       // slots: of this communicator among those of its domain
    std::uint32_t length = 0;         // iterations measured after these; then the block is finished, and the setting stays
    // The block after it where that is decided already, so that nothing lies between the two: its epoch is the next one. then_length 0: there is
    // none, or it is told later by the same directive with it (extends()).
    std::uint32_t then_skip = 0, then_length = 0;
    std::uint32_t reserved = 0;
    Setting setting, then;
};
static_assert(sizeof(Directive) == 144);

constexpr std::uint32_t last_epoch(const Directive& directive) { return directive.epoch + (directive.then_length > 0 ? 1 : 0); }
constexpr std::uint64_t end_of(const Directive& directive) { return directive.from_sequence + (std::uint64_t{directive.skip} + directive.length) * directive.period; }
// The second block as a directive of its own.
constexpr Directive following(const Directive& first) {
    Directive next = first;
    next.from_sequence = end_of(first);
    next.epoch = first.epoch + 1;
    next.skip = first.then_skip;
    next.length = first.then_length;
    next.setting = first.then;
    next.then_skip = next.then_length = 0;
    next.then = Setting{};
    return next;
}

// The same block again, now with the one after it.
constexpr bool extends(const Directive& later, const Directive& known) {
    return later.epoch == known.epoch && known.epoch != 0 && end_of(later) == end_of(known) && later.from_sequence == known.from_sequence && known.then_length == 0 && later.then_length > 0;
}

// A communicator on a node: its local members share the entry. The first of them makes it at its first call.
struct PacedCommunicator {
    std::uint64_t id;          // 0: free; claimed by compare-and-swap
    std::uint32_t size;
    std::uint32_t local;       // members on this node that have made a call
    // Futex word: calls begun by local members, modulo 2^32, as far as they have told. A member tells while hold_local is in force,
    // and then all it has begun so far, so that other arms pay no locked instruction for this.
    std::uint32_t arrived;
    std::uint32_t version;     // of next: odd while the agent writes it
    Directive next;
    // Permits and barriers (plugin/interposer/pacing/permits.h). granted: the last sequence (low 32 bits, + 1) that was granted
    // to this communicator; futex word. given_up: the epoch under which a local member stopped asking. asking, leaving: bit r: rank r
    // of the communicator has arrived at the current call, has left it.
    std::uint32_t granted;
    std::uint32_t given_up;
    std::uint64_t asking, leaving;
};
static_assert(sizeof(PacedCommunicator) == 192);
inline constexpr std::uint32_t paced_limit = 512;  // communicators of a node

// What one rank shows of one communicator beside segment::Communicator; its writer is the rank.
struct PacedRank {
    std::uint32_t period;      // calls of an iteration, as the rank's own sequence shows it; 0: none found
    std::uint32_t finished;    // epoch of the block in blocks[finished % 2]; stored last
    std::uint64_t signature;   // of one period: operations and sizes, equal on all members; 0: none, or period and bytes are changing
    std::uint64_t bytes;       // largest payload of one call in the period
    std::uint64_t socket_bytes;  // sent for each call over the busiest fabric socket of the process; 0: not known (yet)
    RankBlock blocks[2];
};
static_assert(sizeof(PacedRank) == 224);

// What a node says of a communicator once in an interval.
struct Progress {
    std::uint64_t communicator;
    std::uint64_t calls;       // most of any local member
    std::uint64_t signature;   // 0: none, or the local members disagree
    std::uint64_t bytes;
    std::uint64_t socket_bytes;  // most of any member
    std::uint32_t period;
    std::uint32_t size;
    std::uint32_t local;       // members here
    std::uint32_t members;     // joined so far up the tree
    std::uint32_t most_local;  // largest local of any node
    std::uint32_t leaves;      // how many different leaves, as far as is known here: 1, or 2 for more
    std::uint64_t leaf;        // hash of the leaf's name where leaves is 1; 0: not known
    std::uint64_t leaf_set;    // a bit for each leaf, by its hash; leaves of one bit are taken for one
};
static_assert(sizeof(Progress) == 80);

}  // namespace paced::pacing
