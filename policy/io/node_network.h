// SPDX-License-Identifier: BSD-3-Clause
// What this machine's networks are at this moment, as far as it decides which variables a task gets.
#pragma once

#include <string>

#include "policy/placement/library_variables.h"

namespace paced::io {

// One call to the kernel for the interfaces, and one small file for each InfiniBand port that is not down. root as in link_states.h.
placement::NodeNetwork read_node_network(const topology::NodeTopology& node, const std::string& root = {});

}  // namespace paced::io
