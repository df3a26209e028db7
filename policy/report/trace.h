// SPDX-License-Identifier: BSD-3-Clause
// Trace: what the ranks of one step recorded, node by node, as plain data. policy/io/segment_reader makes it from
// the shared segment and the dumps of the other nodes; analysis.h turns it into a Report.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/pacing/conductor.h"

namespace paced::report {

enum class Operation : std::uint8_t {
    barrier, bcast, reduce, allreduce, allgather, allgatherv, gather, gatherv, scatter, scatterv,
    alltoall, alltoallv, alltoallw, reduce_scatter, reduce_scatter_block, scan, exscan,
};
inline constexpr std::size_t operation_count = 17;

// "allreduce"; the spelling of reports.
std::string_view name_of(Operation operation);
// Ends on no rank before the last has arrived: barrier, allreduce, allgather(v), alltoall(v,w), reduce_scatter(_block).
// Lateness is worked out from these alone.
bool is_synchronizing(Operation operation);

// One collective as one rank saw it. Times are the node's CLOCK_MONOTONIC, nanoseconds.
struct CollectiveRecord {
    std::uint64_t sequence = 0;       // counts from 0 in its communicator; the same on all its ranks
    std::uint64_t arrival_ns = 0;     // before the library was entered, and before any hold
    std::uint64_t completion_ns = 0;  // 0: still inside when the segment was read
    std::uint64_t bytes = 0;          // this rank's payload (README of the interposer says how each operation counts)
    Operation operation = Operation::barrier;
    std::uint64_t held_ns = 0;        // our delay: the library was entered at arrival_ns + held_ns
};

// What one rank knows of one communicator. Counters are exact; records are the kept blocks (a deterministic sample
// by sequence number that is the same on all ranks), sorted by sequence.
struct CommunicatorTrace {
    std::uint64_t id = 0;  // the same on all members
    std::uint32_t size = 0;
    std::uint32_t rank = 0;  // of this process in the communicator
    std::uint64_t calls = 0;
    std::uint64_t bytes = 0;
    std::map<Operation, std::uint64_t> calls_by_operation;
    std::vector<CollectiveRecord> records;
};

struct RankTrace {
    int rank = -1;  // in MPI_COMM_WORLD
    int world_size = 0;
    std::string library;                                // "Open MPI 4.1.4"
    std::uint64_t started_ns = 0, finished_ns = 0;      // MPI_Init returned, MPI_Finalize called; 0: never
    std::vector<CommunicatorTrace> communicators;
    std::map<std::string, std::uint64_t> not_recorded;  // calls made but not recorded, by function
    std::uint64_t dropped = 0;                          // calls on communicators beyond the segment's limit
    std::uint64_t recording_calls = 0;                  // calls that paid for the recorder
};

// offset_ns: leader's clock minus this node's, at local_ns; the true value lies within +- error_ns.
struct ClockSample {
    std::uint64_t local_ns = 0;
    std::int64_t offset_ns = 0;
    std::int64_t error_ns = 0;
};

struct NodeTrace {
    std::string node;
    std::vector<RankTrace> ranks;
    std::vector<ClockSample> clock;  // empty on the leader
    std::string plan;                // the node's plan.json, verbatim; may be empty
};

// What the leader has left about pacing (policy/io/pacing_file.h), with every number checked.
struct PacingTrace {
    struct Fault {
        std::uint64_t at_ns = 0;  // since the leader began
        std::string text;
    };
    bool finished = false;        // written at the end of the job; false: some seconds before the step was killed
    std::uint64_t elapsed_ns = 0;
    std::uint32_t nodes = 0, most_nodes = 0;  // of the step; that took part at one time
    std::uint64_t messages = 0, bytes = 0;    // of the exchange about pacing, over all nodes
    std::uint64_t retransmissions = 0;        // TCP segments sent again on all nodes
    std::vector<pacing::Conductor::ClassAccount> classes;
    std::vector<Fault> faults;    // the first ones
    std::uint32_t all_faults = 0;
    std::vector<pacing::BlockLine> blocks;    // the first ones, in the order in which they ran
    std::uint64_t all_blocks = 0;
};

struct Trace {
    std::vector<NodeTrace> nodes;       // the leader first
    std::optional<PacingTrace> pacing;  // nothing: not under `pace`, or nothing was left
    std::vector<std::string> warnings;  // what could not be read, one line each
};

}  // namespace paced::report
