// SPDX-License-Identifier: BSD-3-Clause
// First step of the analysis: the ranks' records, put together by (communicator, sequence) into collectives, with
// all times on the leader's clock.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "policy/report/clock.h"
#include "policy/report/trace.h"

namespace paced::report {

// A rank that recorded, in the order (world rank, node), which does not depend on the order of the input.
struct Participant {
    const RankTrace* trace = nullptr;
    std::string node;
    int node_index = 0;  // into the clocks
};

// One rank's part in one collective.
struct Part {
    const CollectiveRecord* record = nullptr;
    std::uint32_t participant = 0;
    std::uint32_t collective = 0;
    std::int64_t arrival_ns = 0, completion_ns = 0;  // leader's clock
    std::int64_t error_ns = 0;                       // bound of the clock; 0 for the leader's node
    std::int64_t held_ns = 0;     // of the time between these, our delay before the library was entered
    std::int64_t carried_ns = 0;  // how much later than the first this rank left its collective before this one
    std::int32_t before = -1;     // that collective, or -1
};

struct Collective {
    std::uint32_t communicator = 0;  // into Matching::communicators
    std::uint64_t sequence = 0;
    Operation operation = Operation::barrier;
    std::uint64_t bytes = 0;            // the largest of the ranks
    std::uint32_t begin = 0, count = 0; // of its parts
    bool complete = false;    // every member is here and has left it, and all say the same operation
    bool clock_free = false;  // the clocks are no help: parts are aligned by their completion
    bool contended = false;   // completions spread as trouble with the fabric spreads them (matching.cpp)
    std::int64_t first_arrival_ns = 0, last_arrival_ns = 0, first_completion_ns = 0, last_completion_ns = 0;
    std::int64_t before_last_ns = 0;  // arrival of the last but one
    std::int64_t last_entry_ns = 0;   // when the last one was let in: its arrival, and what pacing delayed it
    std::uint32_t last = 0;           // participant that arrived last
    bool tied = false;                // the clocks cannot tell who was last
    std::int64_t error_ns = 0;        // bound between the clocks of two of its nodes

    std::int64_t service_ns() const { return last_completion_ns > last_entry_ns ? last_completion_ns - last_entry_ns : 0; }
    bool measured() const { return complete && is_synchronizing(operation) && count > 1; }
};

struct MatchedCommunicator {
    std::uint64_t id = 0;
    std::uint32_t size = 0;
    std::vector<std::uint32_t> participants;
    std::vector<const CommunicatorTrace*> traces;  // of each
    std::uint64_t first_sequence = 0, last_sequence = 0, collectives = 0;  // that were kept by all who made them

    // Collectives made for each one kept, over the stretch that the kept ones span.
    double made_per_kept() const {
        return collectives > 0 ? static_cast<double>(last_sequence - first_sequence + 1) / static_cast<double>(collectives) : 1;
    }
};

struct Matching {
    std::vector<Participant> participants;
    std::vector<Clock> clocks;  // by node
    std::vector<MatchedCommunicator> communicators;  // by id
    std::vector<Collective> collectives;             // by communicator and sequence
    std::vector<Part> parts;                         // by collective, then participant
    std::vector<std::vector<std::uint32_t>> by_participant;  // parts of each in the order of its own clock
    std::int64_t clock_error_ns = 0;                 // largest bound met between two nodes
    std::vector<std::string> warnings;
};

// Keeps pointers into trace.
Matching match(const Trace& trace);

}  // namespace paced::report
