// SPDX-License-Identifier: BSD-3-Clause
// A node's segment in the compact form that travels (segment.h, "dump"). The segment is read with pread(2), never through
// a mapping: reading a hole of a full /dev/shm through one is SIGBUS.
#pragma once

#include "plugin/interposer/exchange/clock.h"
#include "plugin/interposer/exchange/wire.h"
#include "policy/io/segment.h"

namespace paced::interposer {

// What leaves: bytes in order. false: stop.
using Sink = bool (*)(void* context, const void* data, std::size_t size);

class Dump {
public:
    // segment: the open file. scratch: room for one slot.
    Dump(int segment, segment::Slot* scratch) : file_(segment), slot_(scratch) {}

    // Ranks that have a slot and have not said that they are finished.
    int unfinished() const;
    // Bytes of the dump for each coarsening. What the ranks record meanwhile may change them a little.
    Offer measure(const ClockPoints& clock, std::size_t plan_bytes) const;
    bool write(const char* node, const ClockPoints& clock, const char* plan, std::size_t plan_bytes, int coarsening, Sink sink, void* context) const;
    // CPUs that local ranks may run on, as one set.
    void cpus_of_ranks(std::uint64_t (&cpus)[16]) const;

private:
    template <class Visit>
    void for_each_slot(std::size_t bytes, Visit visit) const;

    int file_;
    segment::Slot* slot_;
};

}  // namespace paced::interposer
