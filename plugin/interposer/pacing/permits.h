// SPDX-License-Identifier: BSD-3-Clause
// The rank's side of permits, under an admit or barrier directive: ask at the arrival, wait for the grant or the deadline,
// give back at the completion. One UDP socket for the process, opened at the first use.
//
// The local members of a communicator speak with one voice: whoever is the last of them to arrive asks for all of them, receives the
// grant and wakes the others by PacedCommunicator::granted; whoever is the last to leave gives back for all. A communicator of
// 8 nodes with 8 ranks each costs the leader 24 datagrams instead of 192.
//
// Everything here fails open. After timeouts_limit waits in a row that only their deadline ended, a rank asks no more under
// that directive, and neither do its neighbours of the communicator on this node.
#pragma once

#include <cstdint>

#include "policy/io/segment.h"

namespace paced::interposer {

struct PermitCall {
    pacing::PacedCommunicator* entry;  // of this node
    pacing::Setting setting;           // of the directive in force: admit or barrier
    std::uint64_t sequence;
    std::uint32_t epoch;               // of the directive
    std::uint32_t rank;                // of this process in the communicator
    mutable std::uint64_t asked = 0;   // permit_request's own: the members that this rank has asked for; 0: a neighbour asks
};

inline constexpr std::uint32_t timeouts_limit = 3;

// Under `pace`, in start_process: copies leader, key and session out of the environment. No file or socket stays open.
void prepare_permits();
// false: there is nobody to ask, or this directive was given up: enter at once, and do not call the others. Every member calls it.
bool permit_request(segment::Header& header, const PermitCall& call);
// Until granted (true) or deadline_ns of CLOCK_MONOTONIC (false: a timeout).
bool wait_for_grant(segment::Header& header, const PermitCall& call, std::uint64_t deadline_ns);
// After the real function, granted or not.
void permit_done(segment::Header& header, const PermitCall& call);

// For tests: as after prepare_permits() in a process whose leader is at this address.
class PermitKey;
void prepare_permits(const char* leader, const PermitKey& key);

}  // namespace paced::interposer
