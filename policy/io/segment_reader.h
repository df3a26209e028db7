// SPDX-License-Identifier: BSD-3-Clause
// Reads what the interposer left: the live or finished segment of this node, and the dumps of the other nodes. Runs
// in the helper, in `paced`, as the user. Nothing in such a file is trusted: it lies in a folder that the job can
// write, and a torn, cut or forged one must give an error or a shorter trace, never a crash.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "policy/base/result.h"
#include "policy/report/trace.h"

namespace paced::io {

// One node from the bytes of a segment or a dump, told apart by their first word. Total: any bytes may come.
Result<report::NodeTrace> parse_node(std::span<const std::byte> bytes);

// The same from a file. Of a segment only the slots in use are read.
Result<report::NodeTrace> read_node(const std::string& path);

// A step's run folder: its own segment first, then each node-*.dump by name, plan.json as the own node's plan. What
// is missing or broken becomes a warning; an error only where no node at all could be read.
Result<report::Trace> read_run_folder(const std::string& path);

}  // namespace paced::io
