// SPDX-License-Identifier: BSD-3-Clause
// This process as a rank of our step: engaged or not, and with what. Until MPI_Init returns, or a Gloo context is
// connected, in a process whose environment names a step that is its own, nothing here exists: no file, no thread, no mapping.
#pragma once

#include "plugin/interposer/mpi/library.h"
#include "plugin/interposer/node_segment.h"

namespace paced::interposer {

// Lies on a page that the kernel hands to forked children as zeros (MADV_WIPEONFORK): a child finds itself not engaged,
// with no atfork handler run and no getpid() on the way of a call.
struct Process {
    std::uint32_t engaged;
    std::uint32_t paused;  // by MPI_Pcontrol(0)
    const Library* mpi;    // nullptr: no MPI here, or none yet
    segment::Slot* slot;
    segment::Header* header;
    bool agent;  // speaks for the node
    // Under `pace` alone.
    bool paces = false;
    bool counts_threads = false;       // several threads may be in calls at once: `inside` says how many are
    std::uint32_t inside = 0;
    std::uint64_t delay_limit_ns = 0;  // of one call, whatever a setting says
    std::uint64_t called = 0;          // running sum over all calls (policy/pacing/period.h); threads that mix spoil it, no more
};

extern Process* process_page;  // nullptr until start_process has engaged

// The engaged process, or nullptr: before MPI_Init, in a child, in a process that is not ours.
inline Process* engaged_process() {
    Process* const page = __atomic_load_n(&process_page, __ATOMIC_ACQUIRE);
    return page != nullptr && __atomic_load_n(&page->engaged, __ATOMIC_RELAXED) != 0 ? page : nullptr;
}

// Whether start_process is still to be tried: a host whose MPI_Init we did not see starts at its first collective.
bool is_untried();
// After MPI_Init or MPI_Init_thread has succeeded. Once; every failure leaves the process as if we were not there.
void start_process();
// Before MPI_Init is entered.
void before_start();

// A rank that its launcher numbers.
struct Place {
    int rank, size;
};
// As RANK and WORLD_SIZE say (torchrun and scripts set them for each process), else SLURM_PROCID and SLURM_NTASKS; otherwise instead.
Place place_in_environment(Place instead);
// The same for a process that is a rank through another library than MPI; library is its name in the report. Should MPI
// begin later, it joins what is there. Whether this process is engaged.
bool start_process_without_mpi(Place place, const char* library);
// Its last communicator is gone, or there is one again. Only where there is no MPI.
void rest_process(bool resting);
// exit() was called. Where there is no MPI and the process rests, the node's agent collects, as after_finalize. A process
// that ends amid its communicators ends at once, as one that does not reach MPI_Finalize. Not in a child.
void exit_process();

// MPI_Finalize was called; no collective of the host follows.
void finish_process();
// MPI_Finalize has returned: the node's agent collects. Bounded, see exchange/agent.h.
void after_finalize();

}  // namespace paced::interposer
