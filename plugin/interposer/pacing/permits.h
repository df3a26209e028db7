// SPDX-License-Identifier: BSD-3-Clause
// Permits, as the gate asks for them (admit, barrier). Nothing here blocks but wait_for_grant, which its deadline ends.
#pragma once

#include "policy/io/segment.h"

namespace paced::interposer {

struct PermitCall {
    pacing::PacedCommunicator* entry;  // of this node
    pacing::Setting setting;           // in force: admit or barrier
    std::uint64_t sequence;
    std::uint32_t epoch;               // of the directive
    std::uint32_t rank;                // of this process in the communicator
};

// Copies what it needs out of the environment; before the first call, under `pace` alone.
void prepare_permits();
// Every member calls this at its arrival. false: nobody to ask, or given up: it enters at once, without wait and done.
bool permit_request(segment::Header& header, const PermitCall& call);
// false: ended by its deadline (CLOCK_MONOTONIC, ns).
bool wait_for_grant(segment::Header& header, const PermitCall& call, std::uint64_t deadline_ns);
// After the real function, granted or not, if permit_request said true.
void permit_done(segment::Header& header, const PermitCall& call);

}  // namespace paced::interposer
