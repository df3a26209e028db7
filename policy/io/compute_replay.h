// SPDX-License-Identifier: BSD-3-Clause
// Compute times of a real job, for a simulation to replay. Three forms, told by the first line:
//   a report    our own JSON report (`--paced-fabric-report=full,FILE`): its `compute`, in milliseconds
//   a table     a line for each iteration, a number for each rank: seconds, separated by commas; "#" begins a comment
//   a timeline  ByteDance's what-if samples as CSV, head "pid,process,tid,thread,op,step,...,duration_us": a rank is one compute thread
//               ("PP rank 0, TP rank 0, compute") of one process, its compute in a step the sum of that thread's durations
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "policy/base/diagnostics.h"
#include "policy/simulation/scenario.h"

namespace paced::io {

// nullopt: there is an error among the diagnostics; without a place where the file cannot be read.
std::optional<simulation::Replay> read_compute_replay(const std::string& path, Diagnostics& diagnostics);
std::optional<simulation::Replay> parse_compute_replay(std::string_view text, const std::string& file, Diagnostics& diagnostics);

}  // namespace paced::io
