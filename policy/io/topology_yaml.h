// SPDX-License-Identifier: BSD-3-Clause
// Slurm's topology.yaml (25.05 and later): several named topologies, of which tree and block are read.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "policy/base/diagnostics.h"
#include "policy/topology/fabric_topology.h"

namespace paced::io {

// name: of the topology to take; empty: the cluster's default, or the first that is a tree or blocks where that is none
// of these. origin says which and why. The whole file must be right, as for Slurm. flat, ring and torus3d are refused
// with the reason where nothing else is left. nullopt: there is an error among the diagnostics.
std::optional<topology::FabricTopology> parse_topology_yaml(std::string_view text, const std::string& file, std::string_view name,
                                                            Diagnostics& diagnostics);

}  // namespace paced::io
