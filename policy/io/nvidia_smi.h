// SPDX-License-Identifier: BSD-3-Clause
// NodeTopology from the text of `nvidia-smi topo -m` (or -mp), as the tool prints it or as people paste it: tabs or blanks, with comment
// lines
// (#), terminal escapes, rows and cells that are missing, and other output before and behind.
//
// It tells relations, not places: they become stated_relations, from a GPU's row or else from the NIC's. There are no PCI addresses. A
// GPU's name is its column's; a NIC's is the device of the NIC legend, its column's (NIC0) the alias. Which NUMA node a NIC is on follows
// from GPUs that are as near as that.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "policy/base/diagnostics.h"
#include "policy/topology/node_topology.h"

namespace paced::io {

// file is the name of the text in diagnostics. nullopt, with at least one error: it cannot be used. Warnings may come with an answer.
std::optional<topology::NodeTopology> parse_nvidia_smi(std::string_view text, const std::string& file, Diagnostics& diagnostics);

// Whether some line of it can be the head or a row of such a matrix.
bool looks_like_nvidia_smi(std::string_view text);

}  // namespace paced::io
