// SPDX-License-Identifier: BSD-3-Clause
// The one line that a rank may print, on standard error: "paced-fabric: ...". At most one a process.
#pragma once

#include "policy/io/segment.h"

namespace paced::interposer {

// Kinds of lines, so that a node says each once (bits of segment::Header::notices).
enum class Notice : std::uint32_t { no_room = 1, no_segment = 2, library = 4, exchange = 8, fork_protection = 16 };

// Prints unless another rank of the node has said the same. node: the node's segment, or nullptr where there is none;
// then only the process that its launcher calls the first of the node speaks. Never blocks, never raises SIGPIPE.
void report_line(segment::Header* node, Notice kind, const char* text);

}  // namespace paced::interposer
