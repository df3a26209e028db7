// SPDX-License-Identifier: BSD-3-Clause
// The gate: what pacing does around one call of one communicator in one rank, under `pace` alone. The node's agent says what
// (PacedCommunicator::next), and from which call on; the gate delays, measures, and shows what it has measured.
//
//     pass_gate   after the arrival was taken and before the real function: maybe a delay
//     leave_gate  after it
//
// A delay is made where it is legal (see may_delay in gate.cpp), is never longer than the setting's cap and the step's window, and
// ends at an absolute deadline whatever the others do. So nothing that it waits for can stop a job. It changes no
// argument, no order and no result.
//
// While no directive is in force or pending a call pays one comparison here and the search for its period; with a
// setting `off` also the meter.
#pragma once

#include "plugin/interposer/mpi/operations.h"
#include "plugin/interposer/pacing/meter.h"
#include "plugin/interposer/pacing/permits.h"
#include "plugin/interposer/process.h"
#include "plugin/interposer/shared.h"
#include "policy/pacing/period.h"

namespace paced::interposer {

struct Tracked;

constexpr std::uint32_t bit_of(Operation operation) { return 1u << static_cast<std::uint32_t>(operation); }
// End on all members together, and are where a delay is legal.
inline constexpr std::uint32_t synchronizing_operations = bit_of(Operation::barrier) | bit_of(Operation::allreduce) | bit_of(Operation::allgather) | bit_of(Operation::allgatherv)
    | bit_of(Operation::alltoall) | bit_of(Operation::alltoallv) | bit_of(Operation::alltoallw) | bit_of(Operation::reduce_scatter) | bit_of(Operation::reduce_scatter_block);
// Their payload is each rank's own.
inline constexpr std::uint32_t own_bytes_operations = bit_of(Operation::allgatherv) | bit_of(Operation::gatherv) | bit_of(Operation::scatterv) | bit_of(Operation::alltoallv) | bit_of(Operation::alltoallw);

constexpr bool is_in(std::uint32_t set, std::uint32_t operation) { return (set >> operation & 1) != 0; }

// Of one communicator in this process. Fixed memory (gate.cpp); used by one thread at a time, as MPI demands.
struct Paced {
    segment::Header* header = nullptr;
    pacing::PacedCommunicator* node = nullptr;
    pacing::PacedRank* shown = nullptr;
    std::uint32_t rank = 0;           // in the communicator
    std::uint32_t quiet_version = 0;  // of the node's entry, while there is nothing to do before a call; else gate_is_busy
    std::uint32_t version = 0;        // last read
    std::uint32_t told = 0;           // calls counted in node->arrived
    bool has_pending = false;
    bool phase_due = false;
    pacing::Directive pending, current;
    std::uint64_t last_wait_ns = 0;      // of the last synchronizing call
    std::uint64_t shortest_wait_ns = 0;  // in the last finished block; 0: not known
    std::uint64_t last_completion_ns = 0;
    std::uint64_t early_bytes = 0;       // over the busiest fabric socket by the early look at them
    PermitCall permit{};  // of the call that is under way, where one was asked for
    Meter meter;
    pacing::PeriodFinder period;
};
// Odd, as the version of an entry is only while it is being written.
inline constexpr std::uint32_t gate_is_busy = ~0u;

// One call's way through.
struct Passage {
    std::uint64_t entry_ns;  // of the real function
    std::uint64_t held_ns;
    bool timed_out;          // a wait for others that its deadline ended
    bool permit;             // was asked for
};

// When the process starts, under `pace`. window: "auto" or nanoseconds, the longest delay of one call.
void prepare_gate(Process& process, const char* run_folder, const char* window);
// No call follows: gives back what lasts beyond one (rates of sockets).
void close_gate();
// At the communicator's first call, which is over. nullptr: no room, or one rank alone: it is not paced.
Paced* pace_communicator(Process& process, const Tracked& tracked);

// Before it is freed.
void release_communicator(Process& process, Paced& paced);

void wait_at_gate(Process& process, Paced& paced, std::uint32_t operation, std::uint64_t sequence, std::uint64_t arrival_ns, Passage& passage);

// arrival_ns 0: recording is paused, nothing is delayed.
inline void pass_gate(Process& process, Paced& paced, std::uint32_t operation, std::uint64_t sequence, std::uint64_t arrival_ns, Passage& passage) {
    passage = {arrival_ns, 0, false, false};
    if (__builtin_expect(load(paced.node->version) != paced.quiet_version, 0)) wait_at_gate(process, paced, operation, sequence, arrival_ns, passage);
}

void finish_block(Paced& paced);
void show_period(Process& process, Paced& paced, std::uint64_t sequence);
void give_back_permit(Paced& paced);

inline void leave_gate(Process& process, Paced& paced, std::uint32_t operation, std::uint64_t sequence, std::uint64_t bytes, std::uint64_t arrival_ns,
                       std::uint64_t completion_ns, const Passage& passage) {
    if (__builtin_expect(passage.permit, 0)) give_back_permit(paced);
    const bool waits_tell = is_in(synchronizing_operations, operation);
    if (paced.meter.is_open()
        && paced.meter.add({sequence, waits_tell, arrival_ns, passage.entry_ns, completion_ns, passage.held_ns, passage.timed_out}))
        finish_block(paced);
    if (waits_tell && completion_ns != 0) paced.last_wait_ns = completion_ns - arrival_ns;
    paced.last_completion_ns = completion_ns;
    const pacing::PeriodFinder::Ended call{operation, is_in(own_bytes_operations, operation), bytes, load(process.called), load(process.slot->rank.marks)};
    const std::uint64_t after = call.elsewhere + pacing::PeriodFinder::weight_of(paced.node->id, call);
    store(process.called, after);
    if (__builtin_expect(paced.period.add(call, after), 0)) show_period(process, paced, sequence);
}

}  // namespace paced::interposer
