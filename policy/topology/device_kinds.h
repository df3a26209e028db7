// SPDX-License-Identifier: BSD-3-Clause
// What a PCI device is to us, from the numbers that it shows on the bus: a GPU, a NIC of some kind, or neither. Readers
// use it so that a GPU counts whether or not a driver or an hwloc plugin saw it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/topology/node_topology.h"

namespace paced::topology {

struct PciNumbers {
    std::uint16_t vendor = 0;
    std::uint16_t device = 0;
    std::uint16_t class_code = 0;  // class and subclass, 0x0302
};

// The maker's name of a GPU ("NVIDIA"); nullopt: it is no GPU. Console VGAs (ASPEED, Matrox, ATI ES1000, ...) and the
// graphics part of an Intel CPU are none. behind_bridge: some PCI bridge is above it.
std::optional<std::string_view> gpu_vendor(const PciNumbers& numbers, bool behind_bridge);

// What is known of a NIC beyond its numbers.
struct NicHints {
    std::vector<std::string> rdma_names = {};  // mlx5_0, hfi1_0
    bool has_netdev = false;
    bool has_infiniband_address = false;                 // an interface with a hardware address of 20 bytes, or of the kind IPoIB
    std::optional<bool> infiniband_link = std::nullopt;  // the link layer, where the kernel tells it: true InfiniBand, false Ethernet
};

// nullopt: it is no NIC.
std::optional<NicKind> nic_kind(const PciNumbers& numbers, const NicHints& hints);

// What the name of an RDMA device or network interface tells: "mlx5_bond_0" RoCE, "rdmap79s0" EFA, "hfi1_0" Omni-Path; "mlx5_0" can be
// either (NicKind::rdma). nullopt: it tells nothing ("eth0", "NIC3").
std::optional<NicKind> kind_of_name(std::string_view name);

}  // namespace paced::topology
