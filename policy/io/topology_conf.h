// SPDX-License-Identifier: BSD-3-Clause
// Slurm's topology.conf: switches (topology/tree) and blocks (topology/block).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "policy/base/diagnostics.h"
#include "policy/topology/fabric_topology.h"

namespace paced::io {

// Reads it and the files that it includes. nullopt: there is an error among the diagnostics; warnings alone leave it
// usable. A file without a switch gives a fabric that knows no host.
std::optional<topology::FabricTopology> read_topology_conf(const std::string& path, Diagnostics& diagnostics);

// The same for a text; file names it in diagnostics, and includes are looked for beside it. A fabric of blocks has one
// leaf a block and nothing above.
std::optional<topology::FabricTopology> parse_topology_conf(std::string_view text, const std::string& file, Diagnostics& diagnostics);

}  // namespace paced::io
