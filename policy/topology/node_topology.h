// SPDX-License-Identifier: BSD-3-Clause
// NodeTopology: one node as placement sees it, whatever it was read from. Plain data; the readers in policy/io fill it, in
// this order: cpus first, devices sorted by PCI address (sort_devices). What an input does not tell stays empty.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "policy/topology/cpu_set.h"
#include "policy/topology/index.h"
#include "policy/topology/pci_address.h"
#include "policy/topology/relation.h"

namespace paced::topology {

// A processing unit (hardware thread). Numbers of NUMA nodes and packages are the operating system's; the number of a
// core counts over the whole node, since the system's own repeats in every package.
struct Pu {
    int cpu = 0;
    int core = 0;
    int numa = -1;     // of several memories that are equally near, the one with the smallest number; -1: unknown
    int package = -1;  // -1: unknown
};

struct NumaNode {
    int number = 0;
    CpuSet cpus;  // empty: memory without CPUs (HBM, CXL, a GPU's own memory)
    std::uint64_t memory_bytes = 0;
};

struct Package {
    int number = 0;
    CpuSet cpus;
};

// Where a device hangs. bridges leads from the host bridge down to the device, both ends left out: root port first.
struct PciPath {
    std::string host_bridge;  // any name that tells it from the others ("0000:80"); empty: unknown
    std::vector<PciAddress> bridges;
};

// What a GPU and a NIC have in common.
struct Place {
    std::optional<PciAddress> pci;
    PciPath path;
    CpuSet local_cpus;
    std::optional<int> numa;     // the smallest NUMA node that holds all of local_cpus
    std::optional<int> package;  // likewise
};

struct Gpu {
    Place place;
    std::string name;    // "Tesla T4"; empty: unknown
    std::string vendor;  // "NVIDIA", "AMD" or "Intel"
    // As the maker's tools and *_VISIBLE_DEVICES write it; empty: unknown. NVIDIA and AMD: "GPU-..." (AMD's 16 hexadecimal digits
    // get the "GPU-" of ROCR_VISIBLE_DEVICES, whatever the input says).
    std::string uuid = {};
    // Logical devices that the driver makes of this PCI device: 1, or as many as there are MIG instances or parts of a
    // partitioned AMD device (DPX 2, TPX 3, QPX 4, CPX 6 or 8). Each can be a task's own.
    int partitions = 1;
    std::vector<std::string> partition_uuids = {};  // "MIG-..." of each; empty, or partitions many
};

// rdma: an RDMA device of which the input does not tell whether it is InfiniBand or Ethernet.
enum class NicKind { infiniband, omni_path, slingshot, efa, roce, ethernet, rdma };

// Classes in the order in which placement prefers them.
enum class NicClass { fabric, roce_ethernet, ethernet };

enum class LinkState { up, down, unknown };

struct NicPort {
    int number = 1;
    LinkState state = LinkState::unknown;
    std::uint32_t rate_mbps = 0;  // 0: unknown
};

struct Nic {
    Place place;
    std::string name;   // what libraries call it: mlx5_0, hfi1_0, hsi0, eth0; empty: it has no driver, or the input does not tell
    std::string alias;  // what the input calls it beside that: "NIC0", a column of nvidia-smi; mostly empty
    std::vector<std::string> more_names;  // further RDMA devices of the same PCI device: mlx5_1
    std::vector<std::string> netdevs;     // its network interfaces
    NicKind kind = NicKind::ethernet;
    LinkState state = LinkState::unknown;  // up if any port or interface is
    std::uint32_t rate_mbps = 0;           // of its fastest port; 0: unknown
    std::vector<NicPort> ports;            // of an RDMA device
    std::optional<PciAddress> virtual_function_of;
};

struct NodeTopology {
    std::string origin;   // what it was read from: "this machine", "hwloc XML 2.0 node.xml"
    std::string machine;  // the maker's name of the machine; may be empty
    CpuSet cpus;          // all that are online, also those that this process may not use; as far as the input tells
    std::vector<Pu> pus;
    std::vector<NumaNode> numa_nodes;
    std::vector<Package> packages;  // empty: the input tells CPUs near devices only, there may be others; and no cores, each PU is one
    std::vector<Gpu> gpus;
    std::vector<Nic> nics;
    // What the input states of each GPU (outer) and NIC (inner) where it tells relations instead of paths (nvidia-smi). nullopt: not
    // told of these two. Empty, or of exactly this size; what is told here counts, whatever the places say.
    std::vector<std::vector<std::optional<Relation>>> stated_relations;

    const Gpu& gpu(GpuIndex index) const { return gpus[to_index(index)]; }
    const Nic& nic(NicIndex index) const { return nics[to_index(index)]; }
};

std::string_view to_string(NicKind kind);        // "infiniband"
std::string_view to_string(NicClass nic_class);  // "fabric"
std::string_view to_string(LinkState state);
std::optional<NicKind> parse_nic_kind(std::string_view text);
std::optional<LinkState> parse_link_state(std::string_view text);
NicClass class_of(NicKind kind);
// up if one port is; down if all are; unknown without ports.
LinkState state_of_ports(const std::vector<NicPort>& ports);

// The name to print: "mlx5_0", or the PCI address where there is none.
std::string label(const Nic& nic);

Relation relation_between(const NodeTopology& node, GpuIndex gpu, NicIndex nic);

// Fills numa and package of every PU from the NUMA nodes and packages.
void locate_pus(NodeTopology& node);
// The same for every device, from its local_cpus. A node without packages gets one.
void locate_places(NodeTopology& node);
// By PCI address, those without one behind, in the order in which they came; stated_relations along with them.
void sort_devices(NodeTopology& node);

}  // namespace paced::topology
