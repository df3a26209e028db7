// SPDX-License-Identifier: BSD-3-Clause
// The state of links as the kernel tells it now. A snapshot of the node is as old as its last boot; this costs one small
// file for each port.
#pragma once

#include <string>
#include <string_view>

#include "policy/topology/node_topology.h"

namespace paced::io {

// "4: ACTIVE", as in /sys/class/infiniband/NAME/ports/1/state
topology::LinkState parse_port_state(std::string_view text);
// "up", as in /sys/class/net/NAME/operstate
topology::LinkState parse_operstate(std::string_view text);

// Reads the states of NICs of the best class anew: of RDMA ports, else of interfaces. What cannot be read stays as it was.
// root holds sys: "", or a made-up folder in tests.
void refresh_link_states(topology::NodeTopology& node, const std::string& root = {});

}  // namespace paced::io
