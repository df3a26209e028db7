// SPDX-License-Identifier: BSD-3-Clause
// How the agent hands directives to the ranks of its node: PacedCommunicator::next under `version`, which is odd while it writes. The
// agent is the only writer; ranks copy and look at the version again.
#pragma once

#include "policy/io/segment.h"

namespace paced::interposer {

class PacedSegment {
public:
    explicit PacedSegment(segment::Header& header) : header_(header) {}

    // What an earlier program of the step left is not this one's.
    void clear_directives();
    // Where ranks ask for permits, at the leader's address.
    void set_permits_port(std::uint16_t port);
    // false: no rank of this node has made an entry for the communicator yet.
    bool write(const pacing::Directive& directive);
    // Off, now: a directive "from the past" under an epoch of its own, so that the blocks under way are void.
    void all_off();
    // Whether any arm but off stands in the segment.
    bool is_pacing() const;
    // The program has ended: another one in the same step finds no entry of this one.
    void forget();

private:
    void write_next(pacing::PacedCommunicator& entry, const pacing::Directive& directive);

    segment::Header& header_;
};

}  // namespace paced::interposer
