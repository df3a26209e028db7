// SPDX-License-Identifier: BSD-3-Clause
// Simulation models of NVIDIA topograph: a tree of switches, and blocks of nodes, each on a leaf.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "policy/base/diagnostics.h"
#include "policy/topology/fabric_topology.h"

namespace paced::io {

// Both shapes that models have had: switches by name with `switches:` and `nodes:` below them and a list of blocks that
// name their switch; and lists of switches and of capacity blocks that the switches name. What is said of accelerators is
// not a switch and is passed over. nullopt: there is an error among the diagnostics.
std::optional<topology::FabricTopology> parse_topograph_model(std::string_view text, const std::string& file, Diagnostics& diagnostics);

}  // namespace paced::io
