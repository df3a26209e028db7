// SPDX-License-Identifier: BSD-3-Clause
// Measures one block of one communicator in one rank (policy/pacing/block.h). No clock of its own; used by the
// communicator's thread alone.
#pragma once

#include "policy/pacing/directive.h"

namespace paced::interposer {

// What one call was to the rank; completion_ns 0: no clock was read (MPI_Pcontrol(0)).
struct MeteredCall {
    std::uint64_t sequence;
    bool synchronizing;        // its wait says something; others count as steps of the iteration alone
    std::uint64_t arrival_ns;  // natural
    std::uint64_t entry_ns;    // of the real function
    std::uint64_t completion_ns;
    std::uint64_t held_ns;     // our part of entry_ns - arrival_ns
    bool timed_out;
};

class Meter {
public:
    // sequence: of the call that is about to begin; after the directive's first, the block is late. previous_completion_ns: of the
    // call before it; 0: not known.
    void begin(const pacing::Directive& directive, std::uint64_t sequence, std::uint64_t previous_completion_ns);
    bool is_open() const { return open_; }
    // True where this was the last call of a block of known length.
    bool add(const MeteredCall& call);
    // Ends the block, which no call is added to any more. One that is cut short of its length is void.
    const pacing::RankBlock& close();

private:
    static void raise(std::uint64_t& most, std::uint64_t value) {
        if (value > most) most = value;
    }

    pacing::RankBlock block_;
    std::uint64_t first_ = 0, end_ = 0;    // sequence numbers: measured from .. to, exclusive
    std::uint64_t next_ = 0;
    std::uint64_t boundary_ns_ = 0;        // where the running iteration began; 0: not known
    std::uint32_t period_ = 0, steps_ = 0;
    bool open_ = false, complete_ = false;
};

inline bool Meter::add(const MeteredCall& call) {
    if (!open_) return false;
    // Calls that several threads made at once were not seen.
    if (call.sequence != next_) block_.late = 1;
    next_ = call.sequence + 1;
    if (call.sequence < first_) {
        boundary_ns_ = call.completion_ns;
        return false;
    }
    if (call.synchronizing && call.completion_ns != 0) {
        const std::uint64_t wait = call.completion_ns - call.arrival_ns, service = call.completion_ns - call.entry_ns;
        ++block_.calls;
        block_.wait_ns += wait;
        if (wait < block_.shortest_wait_ns) block_.shortest_wait_ns = wait;
        raise(block_.longest_wait_ns, wait);
        block_.service_ns += service;
        raise(block_.longest_service_ns, service);
        block_.held_ns += call.held_ns;
        block_.held += call.held_ns != 0 ? 1 : 0;
        block_.timeouts += call.timed_out ? 1 : 0;
    }
    if (period_ != 0 && ++steps_ == period_) {
        if (boundary_ns_ != 0 && call.completion_ns != 0) {
            const std::uint64_t took = call.completion_ns - boundary_ns_;
            ++block_.iterations;
            block_.iterations_ns += took;
            block_.iterations_ns2 += static_cast<double>(took) * static_cast<double>(took);
            raise(block_.longest_ns, took);
        }
        boundary_ns_ = call.completion_ns;
        steps_ = 0;
    }
    complete_ = complete_ || call.sequence + 1 >= end_;
    return call.sequence + 1 >= end_;
}

}  // namespace paced::interposer
