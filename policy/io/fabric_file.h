// SPDX-License-Identifier: BSD-3-Clause
// A fabric from a file of any format that we know, told by its content and not by its name.
#pragma once

#include <optional>
#include <string>

#include "policy/base/diagnostics.h"
#include "policy/topology/fabric_topology.h"

namespace paced::io {

// Reads it and the files that it includes. nullopt: diagnostics say why, a format that is known and not read by its name.
std::optional<topology::FabricTopology> read_fabric_file(const std::string& path, Diagnostics& diagnostics);

}  // namespace paced::io
