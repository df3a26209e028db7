// SPDX-License-Identifier: BSD-3-Clause
// Reads what the leader left about pacing: the files `pacing` and `pacing-blocks` of a run folder (pacing_file.h). Runs in the
// helper and in `paced`, as the user. Nothing in them is trusted, as with the segment (segment_reader.h).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "policy/base/result.h"
#include "policy/report/trace.h"

namespace paced::io {

// The file `pacing`. An account in which a number makes no sense spoils the whole file. Total: any bytes may come.
Result<report::PacingTrace> parse_pacing(std::span<const std::byte> bytes);

// Adds the blocks of `pacing-blocks`. A last line that is cut off is left out silently, lines that make no sense are left out, and
// the error says how many. Total.
std::optional<Error> parse_pacing_blocks(std::span<const std::byte> bytes, report::PacingTrace& to);

// Both files of a run folder, into trace.pacing. What is not there is nothing; what is broken becomes a warning.
void read_pacing(const std::string& folder, report::Trace& trace);

}  // namespace paced::io
