// SPDX-License-Identifier: BSD-3-Clause
// A communicator of the simulated job, and the call that it is at. Of its members' arrivals only the number and the last are kept here;
// each rank's own stand in arrays by rank, since a rank is at one call at a time.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "policy/simulation/plan.h"

namespace paced::simulation {

struct Communicator {
    static constexpr double none = -1;

    Members members;
    std::uint32_t kind = 0;            // of communication (job.h)
    std::uint32_t first_plan = 0;
    std::uint32_t nodes = 1, most_local = 1;
    std::uint32_t beyond = 0;          // nodes that are not under the leaf of the first
    std::uint32_t leaf = 0;            // of the first
    std::uint64_t leaf_set = 0;        // of all, as pacing::Progress has it
    double socket_bytes = 0;           // likewise
    std::uint32_t component = 0;       // of communicators that share ranks: an independent part of the job
    std::int32_t paced = -1;           // index among those that pacing knows; -1: it is left alone

    std::uint64_t sequence = 0;        // calls ended
    std::uint32_t arrived = 0;         // members, at the running one
    double last_arrival = none;
    double entered = none;             // when the last one was let in
    double ended = 0;                  // of the last call
    double floor = 0;                  // the phase lasts at least until then
    double met = 1;                    // part of its flows that begin together
    double limit_bytes_s = std::numeric_limits<double>::infinity();  // of a flow, by RATE
    std::uint32_t phase = 0;
    bool held = false;                 // entries differ from arrivals
    bool waits = false;                // all have arrived, the permit has not
};

// By rank, seconds: at the running call.
struct Entries {
    std::vector<double> arrival;       // natural
    std::vector<double> entry;         // written where the communicator is `held`
};

}  // namespace paced::simulation
