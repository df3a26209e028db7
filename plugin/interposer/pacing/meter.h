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
    // previous_completion_ns: of the call before the first of the directive; 0: not known.
    void begin(const pacing::Directive& directive, bool late, std::uint64_t previous_completion_ns);
    bool is_open() const { return open_; }
    // True where this was the last call of a block of known length.
    bool add(const MeteredCall& call);
    // Ends the block, which no call is added to any more. One that is cut short of its length is void.
    const pacing::RankBlock& close();

private:
    pacing::RankBlock block_;
    std::uint64_t first_ = 0, end_ = 0;    // sequence numbers: measured from .. to, exclusive
    std::uint64_t boundary_ns_ = 0;        // where the running iteration began; 0: not known
    std::uint32_t period_ = 0, steps_ = 0;
    bool open_ = false, complete_ = false;
};

}  // namespace paced::interposer
