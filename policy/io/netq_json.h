// SPDX-License-Identifier: BSD-3-Clause
// What NVIDIA NetQ says of a fabric. Its topology graph has nodes (switches, and hosts that they see) and the links
// between them. Its list of compute nodes has no switch in it, but the NVLink domain of each node: those become blocks.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "policy/base/diagnostics.h"
#include "policy/topology/fabric_topology.h"

namespace paced::io {

// nullopt: there is an error among the diagnostics; JSON that is neither of the two is one.
std::optional<topology::FabricTopology> parse_netq_json(std::string_view text, const std::string& file, Diagnostics& diagnostics);

}  // namespace paced::io
