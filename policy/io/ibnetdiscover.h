// SPDX-License-Identifier: BSD-3-Clause
// What ibnetdiscover prints: the form with a block for each node and a line for each of its ports, and the form of -p
// with a line for each port. Switches and channel adapters are known by GUID, hosts by the first word of their adapters'
// descriptions; several adapters or ports of one host are its rails. Aggregation nodes of SHARP and ports that are down
// are no part of it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "policy/base/diagnostics.h"
#include "policy/topology/switch_graph.h"

namespace paced::io {

// nullopt: there is an error among the diagnostics. topology::fabric_of makes a FabricTopology of it.
std::optional<topology::SwitchGraph> parse_ibnetdiscover(std::string_view text, const std::string& file, Diagnostics& diagnostics);
std::optional<topology::SwitchGraph> parse_ibnetdiscover_ports(std::string_view text, const std::string& file, Diagnostics& diagnostics);

}  // namespace paced::io
