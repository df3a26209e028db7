// SPDX-License-Identifier: BSD-3-Clause
// The snapshot: a NodeTopology as JSON. paced-fabric-probe writes it, once per boot; the plugin's helper reads it in every
// step, so reading is quick (tests/bench/topology has the figure). A reader of another version makes a new one.
#pragma once

#include <string>
#include <string_view>

#include "policy/base/result.h"
#include "policy/topology/node_topology.h"

namespace paced::io {

inline constexpr char snapshot_schema[] = "paced-fabric-node/1";

// One object, one device a line, ending in a newline.
std::string write_snapshot(const topology::NodeTopology& node);

// The error says what is wrong in one line: not JSON, another schema, a key missing or of the wrong type or range.
Result<topology::NodeTopology> read_snapshot(std::string_view text);

}  // namespace paced::io
