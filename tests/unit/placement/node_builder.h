// SPDX-License-Identifier: BSD-3-Clause
// Nodes made by hand, for the tests of placement.
#pragma once

#include <string>
#include <string_view>

#include "policy/topology/node_topology.h"

namespace paced::placement {

// A node of two packages with 8 CPUs each. Devices hang on root ports of host bridges "a" (package 0) and "b" (package 1).
class NodeBuilder {
public:
    NodeBuilder() {
        node_.cpus = topology::CpuSet::range(0, 15);
        for (int cpu = 0; cpu < 16; ++cpu) node_.pus.push_back({.cpu = cpu, .core = cpu});
        node_.numa_nodes = {{0, topology::CpuSet::range(0, 7), 0}, {1, topology::CpuSet::range(8, 15), 0}};
        node_.packages = {{0, topology::CpuSet::range(0, 7)}, {1, topology::CpuSet::range(8, 15)}};
    }
    // slot: host bridge and root port, "a1"; devices of one slot share the port
    NodeBuilder& gpu(const char* pci, std::string_view slot) {
        node_.gpus.push_back({place(pci, slot), "", "NVIDIA"});
        return *this;
    }
    NodeBuilder& nic(const char* pci, std::string_view slot, std::string name, topology::NicKind kind = topology::NicKind::infiniband,
                 topology::LinkState state = topology::LinkState::up) {
        topology::Nic& nic = node_.nics.emplace_back();
        nic.place = place(pci, slot);
        nic.name = std::move(name);
        nic.kind = kind;
        nic.state = state;
        return *this;
    }
    topology::NodeTopology& node() { return node_; }
    topology::NodeTopology build() {
        topology::sort_devices(node_);
        topology::locate_places(node_);
        return node_;
    }

private:
    static topology::Place place(const char* pci, std::string_view slot) {
        topology::Place place;
        place.pci = topology::parse_pci_address(pci);
        place.path.host_bridge = slot.substr(0, 1);
        place.path.bridges = {*topology::parse_pci_address("0000:00:0" + std::string(slot.substr(1)) + ".0")};
        place.local_cpus = slot[0] == 'a' ? topology::CpuSet::range(0, 7) : topology::CpuSet::range(8, 15);
        return place;
    }
    topology::NodeTopology node_;
};

}  // namespace paced::placement
