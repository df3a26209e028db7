// SPDX-License-Identifier: BSD-3-Clause
// `paced topo [FILE] [--json]`: a node's topology, and which NIC is nearest to each GPU.
#pragma once

#include <string>

#include "policy/topology/node_topology.h"

namespace paced::launcher {

struct TopoOptions {
    std::string file;  // empty: this machine
    bool json = false;
    bool tree = true;
};

// Prints to standard output, diagnostics to standard error; returns the exit code of the program.
int run_topo(const TopoOptions& options);

// What it prints.
std::string topo_text(const topology::NodeTopology& node, bool with_tree);
std::string topo_json(const topology::NodeTopology& node);

}  // namespace paced::launcher
