// SPDX-License-Identifier: BSD-3-Clause
// This rank's view of the node's shared segment: the header, and its own slot. Ranks race to make the file; whoever
// loses uses the winner's, and nobody waits for anybody.
#pragma once

#include "policy/io/segment.h"

namespace paced::interposer {

struct NodeSegment {
    segment::Header* header = nullptr;
    segment::Slot* slot = nullptr;
    std::uint32_t index = 0;  // of the slot
    // No rank with an earlier slot is alive: the first of its program on this node, hence the node's agent. A step may run
    // several MPI programs after one another in one segment.
    bool first = false;
};

// Opens or makes FOLDER/segment and claims a slot in it. On failure header may be set, slot is not, and reason says
// why in words for the user.
NodeSegment join_segment(const char* folder, const char* node, char (&reason)[256]);

}  // namespace paced::interposer
