// SPDX-License-Identifier: BSD-3-Clause
// What `paced topo` and `paced plan` are given to read. Everything that is wrong has been said on standard error.
#pragma once

#include <optional>
#include <string>

#include "policy/topology/fabric_topology.h"
#include "policy/topology/node_topology.h"

namespace paced::launcher {

struct NodeInput {
    std::optional<topology::NodeTopology> node;  // nullopt: exit_code says what to end with
    int exit_code = 0;
};
NodeInput this_machine();
NodeInput node_from_file(const std::string& path);

struct FabricInput {
    std::optional<topology::FabricTopology> fabric;
    int exit_code = 0;
};
FabricInput fabric_from_file(const std::string& path);

// A file that cannot be read at all: tells so, and true.
bool is_unreadable(const std::string& path);

}  // namespace paced::launcher
