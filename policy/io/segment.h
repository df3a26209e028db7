// SPDX-License-Identifier: BSD-3-Clause
// The node's shared segment, and the dump of a node: what the interposer writes and segment_reader reads. Plain
// data of fixed width, no libstdc++ needed, so that both sides include this one file.
//
//     segment:  Header | paced communicators | Slot 0 | ... | Slot 255   sparse; a rank allocates its slot when it claims it
//     dump:     DumpHeader | ClockPoint... | plan text, padded to 8 | per rank: DumpRank, Communicator..., DumpBlock...
//
// Who writes: Header::claimed and notices by atomic operations from any rank; a slot by its rank alone. Readers never
// lock: they copy, check every number, and live with a record that is half a microsecond old.
//
// Sampling. A rank has room for 64 blocks of 256 consecutive calls. A communicator keeps block b if b % stride == 0;
// stride is 1 at first, and when the room is exhausted the communicator that owns most blocks doubles its stride and
// frees what it no longer keeps. Only sequence numbers decide, so the blocks that all ranks of a communicator hold are
// exactly the multiples of the largest stride among them, with no message between ranks. Counters stay exact.
#pragma once

#include <cstddef>
#include <cstdint>

#include "policy/pacing/directive.h"

namespace paced::segment {

inline constexpr std::uint64_t segment_magic = 0x31474553'44434150;  // "PACDSEG1" in memory
inline constexpr std::uint64_t dump_magic = 0x31504d44'44434150;     // "PACDDMP1"
inline constexpr std::uint32_t version = 1;

inline constexpr std::uint32_t slot_limit = 256;  // ranks of one node
inline constexpr std::uint32_t communicator_limit = 64;
inline constexpr std::uint32_t block_limit = 64;
inline constexpr std::uint32_t block_records = 256;
inline constexpr std::uint32_t operation_limit = 17;  // report::Operation, in its order
inline constexpr std::uint32_t counter_limit = 64;
inline constexpr std::uint32_t name_size = 64;

// Calls that are counted but not recorded, by the function's name without "MPI_": the index is the position here.
// The last two are no functions: any blocking collective on an intercommunicator, and on a Gloo context that has no id.
#define PACED_COUNTED_FUNCTIONS(X)                                                                                      \
    X(Ibarrier) X(Ibcast) X(Ireduce) X(Iallreduce) X(Iallgather) X(Iallgatherv) X(Igather) X(Igatherv) X(Iscatter)      \
    X(Iscatterv) X(Ialltoall) X(Ialltoallv) X(Ialltoallw) X(Ireduce_scatter) X(Ireduce_scatter_block) X(Iscan)          \
    X(Iexscan) X(Barrier_init) X(Bcast_init) X(Reduce_init) X(Allreduce_init) X(Allgather_init) X(Allgatherv_init)      \
    X(Gather_init) X(Gatherv_init) X(Scatter_init) X(Scatterv_init) X(Alltoall_init) X(Alltoallv_init)                  \
    X(Alltoallw_init) X(Reduce_scatter_init) X(Reduce_scatter_block_init) X(Scan_init) X(Exscan_init)                   \
    X(Neighbor_allgather) X(Neighbor_allgatherv) X(Neighbor_alltoall) X(Neighbor_alltoallv) X(Neighbor_alltoallw)       \
    X(Ineighbor_allgather) X(Ineighbor_allgatherv) X(Ineighbor_alltoall) X(Ineighbor_alltoallv)                         \
    X(Ineighbor_alltoallw) X(Neighbor_allgather_init) X(Neighbor_allgatherv_init) X(Neighbor_alltoall_init)             \
    X(Neighbor_alltoallv_init) X(Neighbor_alltoallw_init) X(intercommunicator) X(unknown_context)

enum class Counter : std::uint32_t {
#define PACED_COUNTER(name) name,
    PACED_COUNTED_FUNCTIONS(PACED_COUNTER)
#undef PACED_COUNTER
};
inline constexpr std::uint32_t counter_count = static_cast<std::uint32_t>(Counter::unknown_context) + 1;
static_assert(counter_count <= counter_limit);

// One collective as one rank saw it. arrival_ns is written before the call and is what makes a record valid;
// completion_ns 0: still inside. bytes are known after the call (see the recorder for why) and 0 until then.
struct Record {
    std::uint64_t arrival_ns;
    std::uint64_t completion_ns;
    std::uint64_t bytes;
    std::uint32_t sequence_low;  // low half of the sequence number: a reader's check that the record is its block's
    std::uint8_t operation;
    std::uint8_t held[3];  // how long pacing delayed this call (held_ns); bytes, little-endian; written before completion_ns
};
static_assert(sizeof(Record) == 32);

// In units of 100 ns, so that 24 bits hold the longest delay that the gate makes (1 s), and 1.68 s at most.
inline constexpr std::uint64_t held_unit_ns = 100;
constexpr std::uint64_t held_ns(const Record& record) {
    return held_unit_ns * (record.held[0] | std::uint64_t{record.held[1]} << 8 | std::uint64_t{record.held[2]} << 16);
}
constexpr void set_held(Record& record, std::uint64_t ns) {
    const std::uint64_t rounded = ns / held_unit_ns + (ns % held_unit_ns >= held_unit_ns / 2 ? 1 : 0);
    const std::uint64_t units = rounded < 0xff'ffff ? rounded : 0xff'ffff;
    for (int i = 0; i < 3; ++i) record.held[i] = static_cast<std::uint8_t>(units >> (8 * i));
}

struct Communicator {
    std::uint64_t id;  // 0: entry not in use; written last
    std::uint32_t size;
    std::uint32_t rank;
    std::uint64_t calls;  // begun; also the sequence number of the next call
    std::uint64_t bytes;  // of finished calls
    std::uint64_t last_arrival_ns;
    std::uint64_t last_completion_ns;
    std::uint32_t stride;  // 0: no records kept (a communicator of one rank)
    std::uint32_t reserved;
    std::uint64_t calls_by_operation[operation_limit];
};
static_assert(sizeof(Communicator) == 192);

// Who owns a block, in one word so that it changes at once: 0 free, else (communicator + 1) << 40 | block number.
constexpr std::uint64_t owner_of(std::uint32_t communicator, std::uint64_t block) {
    return (std::uint64_t{communicator} + 1) << 40 | (block & 0xff'ffff'ffff);
}
constexpr std::uint32_t communicator_of(std::uint64_t owner) { return static_cast<std::uint32_t>(owner >> 40) - 1; }
constexpr std::uint64_t block_of(std::uint64_t owner) { return owner & 0xff'ffff'ffff; }

enum class State : std::uint32_t { empty, claimed, running, finished };

struct Rank {
    State state;
    std::int32_t world_rank;
    std::int32_t world_size;
    std::uint32_t pid;
    std::uint64_t started_ns;   // MPI_Init returned
    std::uint64_t finished_ns;  // MPI_Finalize called; 0: never
    std::uint64_t dropped;      // calls on communicators beyond communicator_limit
    std::uint64_t unpaid;       // calls made while MPI_Pcontrol(0) held: counted without reading a clock
    std::uint64_t marks;        // calls of MPI_Pcontrol with a level above 1
    std::uint32_t communicators;
    std::uint32_t fabric_sockets;  // TCP sockets of the process that RATE could act on; under `pace` alone
    char library[name_size];
    std::uint64_t cpus[16];  // affinity at MPI_Init, for the node's agent to keep clear of
    std::uint64_t not_recorded[counter_limit];
};
static_assert(sizeof(Rank) == 768);

struct Slot {
    Rank rank;
    std::uint64_t owners[block_limit];
    std::uint8_t reserved[4096 - sizeof(Rank) - block_limit * 8];
    Communicator communicators[communicator_limit];
    Record blocks[block_limit][block_records];
    pacing::PacedRank paced[communicator_limit];  // written under `pace` alone
    std::uint8_t unused[16384 - communicator_limit * sizeof(pacing::PacedRank)];
};
static_assert(sizeof(Slot) == 4096 + 12288 + 524288 + 16384 && sizeof(Slot) % 4096 == 0);

struct Header {
    std::uint64_t magic;
    std::uint32_t version;
    std::uint32_t header_bytes;
    std::uint32_t slot_bytes;
    std::uint32_t slots;
    std::uint64_t total_bytes;
    std::uint64_t created_ns;
    char node[name_size];
    std::uint32_t claimed;  // slots handed out; may pass slot_limit: those ranks found no room
    std::uint32_t notices;  // lines already printed on this node, one bit a kind
    std::uint32_t paced;    // entries of `communicators` ever claimed
    std::uint32_t permits_port;  // UDP port of the node that grants; 0: not known, no permits
    std::uint8_t reserved[4096 - 120];
    pacing::PacedCommunicator communicators[pacing::paced_limit];
};
static_assert(sizeof(Header) == 4096 + 69632);
inline constexpr std::uint64_t total_bytes = sizeof(Header) + std::uint64_t{slot_limit} * sizeof(Slot);

// offset_ns: leader's clock minus this node's at local_ns, within +- error_ns.
struct ClockPoint {
    std::uint64_t local_ns;
    std::int64_t offset_ns;
    std::int64_t error_ns;
};
inline constexpr std::uint32_t clock_limit = 1024;
inline constexpr std::uint32_t plan_limit = 1u << 20;

struct DumpHeader {
    std::uint64_t magic;
    std::uint32_t version;
    std::uint32_t header_bytes;
    std::uint64_t total_bytes;
    std::uint32_t clock_points;
    std::uint32_t plan_bytes;
    std::uint32_t ranks;
    std::uint32_t coarsened;  // only blocks that are multiples of 2^coarsened were sent
    char node[name_size];
};
static_assert(sizeof(DumpHeader) == 104);

struct DumpRank {
    Rank rank;
    std::uint32_t communicators;
    std::uint32_t blocks;
};
static_assert(sizeof(DumpRank) == 776);

struct DumpBlock {
    std::uint64_t owner;
    Record records[block_records];
};

constexpr std::uint64_t padded(std::uint64_t bytes) { return (bytes + 7) & ~std::uint64_t{7}; }

}  // namespace paced::segment
