// SPDX-License-Identifier: BSD-3-Clause
// SwitchGraph: a fabric as cables make it. It is no tree: a leaf has many spines, a host several leaves (its rails).
// fabric_of() makes a FabricTopology of it whose switches stand for sets of real ones and tell how far apart hosts are.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "policy/base/diagnostics.h"
#include "policy/topology/fabric_topology.h"

namespace paced::topology {

struct SwitchGraph {
    using Index = std::uint32_t;  // in switches

    struct RealSwitch {
        std::string name;  // need not be unique
        std::string id;    // is: a GUID. It stands beside the name where two switches share that
    };
    struct Host {
        std::string name;           // unique
        std::vector<Index> leaves;  // the switches that its ports reach, in any order, one entry a link
    };

    std::vector<RealSwitch> switches;
    std::vector<Host> hosts;
    std::vector<std::pair<Index, Index>> links;  // between switches, in any order and direction, parallel ones too
};

// For each switch its steps from the hosts: 0 is a leaf, 1 a spine, 2 a core; -1: no host can be reached from it. A
// switch with a few hosts (a fabric manager, say) is no leaf where it joins parts of the fabric that others do not join.
std::vector<int> heights(const SwitchGraph& graph);

// Level 0: hosts that hang on the same set of leaves. A host with fewer rails than most, all of them among those of one
// set of the usual size, belongs to it.
// Level k: hosts whose leaves are joined by switches up to height k, likewise rail by rail, so that a host on two parts
// of the fabric does not make one of them. Levels that join nothing are left out, and so are switches that join no hosts.
// Names: "leaf1" or "leaf1 (8 rails)", "spine1" or "spine1 (16 switches)", each after the first by name. A warning counts
// the hosts with fewer rails than most, and those without any. file: what diagnostics name.
FabricTopology fabric_of(const SwitchGraph& graph, const std::string& file, Diagnostics& diagnostics);

}  // namespace paced::topology
