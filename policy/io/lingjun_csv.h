// SPDX-License-Identifier: BSD-3-Clause
// The host table of the Lingjun data set (2023): "ip,DSW,PSW,ASW", a line for each host with its core group, spine and
// leaf. A spine's name counts within its core group, a leaf's within its spine.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "policy/base/diagnostics.h"
#include "policy/topology/fabric_topology.h"

namespace paced::io {

bool is_lingjun_head(std::string_view line);

// Switches are named "G6", "G6-P10", "G6-P10-S14". nullopt: there is an error among the diagnostics.
std::optional<topology::FabricTopology> parse_lingjun_csv(std::string_view text, const std::string& file, Diagnostics& diagnostics);

}  // namespace paced::io
