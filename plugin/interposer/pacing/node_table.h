// SPDX-License-Identifier: BSD-3-Clause
// The node's communicators under pacing (segment::Header::communicators): a hash table that grows by compare-and-swap,
// and the directives in it, which the node's agent writes while the ranks read.
#pragma once

#include "policy/io/segment.h"

namespace paced::interposer {

// The entry of a communicator, found or made, with this process counted as a member. nullptr: the table is full, which
// Header::paced then shows by passing paced_limit; or another of that id and another size is there.
pacing::PacedCommunicator* join_paced(segment::Header& header, std::uint64_t id, std::uint32_t size);

// Copies entry.next. false: it is being written at this moment, or was; the next call will find it.
bool read_directive(const pacing::PacedCommunicator& entry, pacing::Directive& directive, std::uint32_t& version);

}  // namespace paced::interposer
