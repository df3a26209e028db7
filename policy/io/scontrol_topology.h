// SPDX-License-Identifier: BSD-3-Clause
// What `scontrol show topology` prints, from 22.05 to 25.11: a line for each switch or block. Lines may have been wrapped
// where the text was pasted.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "policy/base/diagnostics.h"
#include "policy/topology/fabric_topology.h"

namespace paced::io {

// Slurm names for an upper switch all hosts below it; only those that are on none of its children are taken to be on the
// switch itself. Aggregated blocks are how Slurm groups blocks, and are passed over. nullopt: there is an error among the
// diagnostics.
std::optional<topology::FabricTopology> parse_scontrol_topology(std::string_view text, const std::string& file, Diagnostics& diagnostics);

}  // namespace paced::io
