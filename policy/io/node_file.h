// SPDX-License-Identifier: BSD-3-Clause
// A node's topology from a file of any format that we know, told by its content and not by its name.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "policy/base/diagnostics.h"
#include "policy/topology/node_topology.h"

namespace paced::io {

enum class NodeFormat { hwloc_xml, snapshot, nccl_xml, nvidia_smi, unknown };
NodeFormat recognise_node_format(std::string_view text);

// nullopt: diagnostics say why. Warnings may come with an answer.
std::optional<topology::NodeTopology> read_node_file(const std::string& path, Diagnostics& diagnostics);

}  // namespace paced::io
