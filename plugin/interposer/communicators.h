// SPDX-License-Identifier: BSD-3-Clause
// From the host's communicator handles to what we know of them. Found without a lock on every call; entered and taken
// out (rarely) under one. Handles are reused by MPI libraries, so Comm_free and Comm_disconnect must purge.
//
// A communicator's id is the same on all its members and needs no message: a hash of its parent's id, of its members'
// world ranks in order, and of how many communicators with these members the process had made of that parent before.
// Making a communicator is collective over its parent, hence ordered; the first *use* of two twins by two threads is not.
// One made by a function that we do not wrap gets parent 0 at its first use.
#pragma once

#include "plugin/interposer/mpi/library.h"
#include "policy/io/segment.h"

namespace paced::interposer {

struct Paced;

// Fixed memory of the process. Used by one thread at a time, as MPI demands of a communicator's collectives, but where
// `threads` says otherwise (recorder.cpp tells how).
struct Tracked {
    enum class Kind : std::uint32_t {
        free,
        known,              // has an id, no call yet, no entry in the slot
        recorded,
        intercommunicator,  // counted only
        no_room,            // counted as dropped
    };
    Kind kind;
    std::uint32_t size, rank;
    std::uint32_t index;  // in the slot
    std::uint64_t id;
    segment::Communicator* shared;
    // The block that is being filled: nullptr where it is not kept. Another communicator's thread may take it away at any
    // time, which owner (in the segment) then shows.
    segment::Record* records;
    const std::uint64_t* owner;
    std::uint64_t tag;  // owner_of(index, the block that records is for); 0: none
    bool threads;           // several threads may be inside at once
    std::uint32_t inside;   // how many are, where threads
    Paced* paced;           // pacing/gate.h; nullptr: not paced, as always under `observe`
};

// The key under which a handle is kept. Open MPI's Fortran integers are numbers of their own.
inline word key_of_handle(word handle) { return handle; }
inline word key_of_fortran(const Library& mpi, int value) {
    return mpi.family == Family::mpich ? static_cast<std::uint32_t>(value) : word{1} << 63 | static_cast<std::uint32_t>(value);
}

// nullptr: not seen before, or no room in the table.
Tracked* find_tracked(word key);

// handle's entry, made if need be: as a child of parent (its id), 0 for none. nullptr: no room, or the library refused.
// Only for handles that the library has just accepted, since it is asked about them.
Tracked* track(const Library& mpi, word handle, std::uint64_t parent);
// A communicator of another library than MPI, whose adapter knows its id, in place of what was kept under key. It may be
// used by several threads at once. nullptr: no room.
Tracked* enter_communicator(word key, std::uint64_t id, std::uint32_t size, std::uint32_t rank);
// A second key for the same communicator.
void track_alias(word key, Tracked* tracked);
// Forgets it under all its keys.
void forget(word key);
// Gives it an entry in the slot at its first collective.
void assign_entry(Tracked& tracked, segment::Slot& slot);

}  // namespace paced::interposer
