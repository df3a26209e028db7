// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/hwloc_walk.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "policy/base/text.h"
#include "policy/io/sysfs_gpus.h"
#include "policy/topology/device_kinds.h"

namespace paced::io {

namespace {

using namespace paced::topology;
using PciDevice = hwloc_obj_attr_u::hwloc_pcidev_attr_s;

CpuSet to_cpu_set(hwloc_const_bitmap_t bitmap) {
    CpuSet cpus;
    if (bitmap == nullptr) return cpus;
    for (int cpu = hwloc_bitmap_first(bitmap); cpu >= 0 && cpu < CpuSet::limit; cpu = hwloc_bitmap_next(bitmap, cpu)) cpus.add(cpu);
    return cpus;
}

std::string info(hwloc_obj_t object, const char* name) {
    const char* value = hwloc_obj_get_info_by_name(object, name);
    return value == nullptr ? std::string() : std::string(trim(value));
}

template <class Visit>
void for_each(hwloc_topology_t topology, hwloc_obj_type_t type, Visit visit) {
    for (hwloc_obj_t object = nullptr; (object = hwloc_get_next_obj_by_type(topology, type, object)) != nullptr;) visit(object);
}

template <class Visit>
void for_each_os_device(hwloc_obj_t device, Visit visit) {
    for (hwloc_obj_t child = device->io_first_child; child != nullptr; child = child->next_sibling)
        if (child->type == HWLOC_OBJ_OS_DEVICE) visit(child);
}

void walk_cpus(hwloc_topology_t topology, NodeTopology& node) {
    node.cpus = to_cpu_set(hwloc_topology_get_topology_cpuset(topology));
    int cores = 0;
    std::vector<int> core_of(static_cast<std::size_t>(std::max(0, hwloc_bitmap_last(hwloc_topology_get_topology_cpuset(topology)) + 1)),
                             -1);
    for_each(topology, HWLOC_OBJ_CORE, [&](hwloc_obj_t core) {
        for (int cpu : to_cpu_set(core->cpuset).members()) core_of[static_cast<std::size_t>(cpu)] = cores;
        ++cores;
    });
    for_each(topology, HWLOC_OBJ_PU, [&](hwloc_obj_t pu) {
        const int cpu = static_cast<int>(pu->os_index);
        const int core = core_of[static_cast<std::size_t>(cpu)];
        node.pus.push_back({.cpu = cpu, .core = core >= 0 ? core : cores++});  // no cores recorded: each PU is one
    });
    std::sort(node.pus.begin(), node.pus.end(), [](const Pu& a, const Pu& b) { return a.cpu < b.cpu; });
    for_each(topology, HWLOC_OBJ_NUMANODE, [&](hwloc_obj_t numa) {
        node.numa_nodes.push_back({static_cast<int>(numa->os_index), to_cpu_set(numa->cpuset), numa->attr->numanode.local_memory});
    });
    for_each(topology, HWLOC_OBJ_PACKAGE, [&](hwloc_obj_t package) {
        // hwloc says -1 where the system gives no number
        const int number =
            package->os_index == HWLOC_UNKNOWN_INDEX ? static_cast<int>(node.packages.size()) : static_cast<int>(package->os_index);
        node.packages.push_back({number, to_cpu_set(package->cpuset)});
    });
    const auto by_number = [](const auto& a, const auto& b) { return a.number < b.number; };
    std::sort(node.numa_nodes.begin(), node.numa_nodes.end(), by_number);
    std::sort(node.packages.begin(), node.packages.end(), by_number);
}

PciAddress address_of(const PciDevice& pci) {
    return {pci.domain, pci.bus, pci.dev, pci.func};
}

Place place_of(hwloc_topology_t topology, hwloc_obj_t device) {
    Place place;
    place.pci = address_of(device->attr->pcidev);
    for (hwloc_obj_t above = device->parent; above != nullptr && above->type == HWLOC_OBJ_BRIDGE; above = above->parent) {
        const auto& bridge = above->attr->bridge;
        if (bridge.upstream_type == HWLOC_OBJ_BRIDGE_PCI) {
            place.path.bridges.push_back(address_of(bridge.upstream.pci));
        } else {
            char name[24];
            std::snprintf(name, sizeof name, "%04x:%02x", bridge.downstream.pci.domain, bridge.downstream.pci.secondary_bus);
            place.path.host_bridge = name;
        }
    }
    std::reverse(place.path.bridges.begin(), place.path.bridges.end());
    place.local_cpus = to_cpu_set(hwloc_get_non_io_ancestor_obj(topology, device)->cpuset);
    return place;
}

PciNumbers numbers_of(const PciDevice& pci) {
    return {.vendor = pci.vendor_id, .device = pci.device_id, .class_code = pci.class_id};
}

// "GP100GL [Tesla P100 PCIe 16GB]" is known to people as what stands in brackets.
std::string marketing_name(const std::string& name) {
    const auto open = name.rfind('[');
    if (open == std::string::npos || name.back() != ']') return name;
    return name.substr(open + 1, name.size() - open - 2);
}

std::string gpu_name(hwloc_obj_t device) {
    std::string name;
    for_each_os_device(device, [&](hwloc_obj_t os_device) {
        if (name.empty()) name = info(os_device, "GPUModel");
    });
    if (name.empty()) name = info(device, "PCIDevice");
    return marketing_name(name);
}

// hwloc shows the parts of a device as OS devices on it, or inside one another.
template <class Visit>
void for_each_os_device_below(hwloc_obj_t object, Visit visit) {
    for_each_os_device(object, [&](hwloc_obj_t os_device) {
        visit(os_device);
        for_each_os_device_below(os_device, visit);
    });
}

Gpu gpu_of(hwloc_obj_t device, std::string_view vendor, Place place) {
    Gpu gpu{std::move(place), gpu_name(device), std::string(vendor)};
    std::vector<std::string> amd, mig;  // of AMD's parts, one or more; of MIG devices
    int amd_parts = 0;
    for_each_os_device_below(device, [&](hwloc_obj_t os_device) {
        const std::string_view name = os_device->name == nullptr ? "" : os_device->name;
        if (name.starts_with("rsmi")) {
            ++amd_parts;
            if (std::string uuid = amd_uuid(info(os_device, "AMDUUID")); !uuid.empty()) amd.push_back(std::move(uuid));
        }
        if (std::string uuid = info(os_device, "NVIDIAUUID"); uuid.starts_with("MIG-")) {
            mig.push_back(std::move(uuid));
        } else if (gpu.uuid.empty()) {
            gpu.uuid = std::move(uuid);
        }
        if (gpu.uuid.empty()) gpu.uuid = info(os_device, "LevelZeroUUID");
    });
    if (!amd.empty()) gpu.uuid = amd.front();
    gpu.partitions = std::max({1, amd_parts, static_cast<int>(mig.size())});
    if (gpu.partitions == static_cast<int>(mig.size())) gpu.partition_uuids = std::move(mig);
    if (amd_parts > 1 && amd.size() == static_cast<std::size_t>(amd_parts)) gpu.partition_uuids = std::move(amd);
    return gpu;
}

// An InfiniBand hardware address has 20 bytes, as text 59 characters.
bool has_infiniband_address(hwloc_obj_t netdev) {
    return info(netdev, "Address").size() == 59;
}

// "Port1State=4" and so on; 4 is ACTIVE. Down, initialising and armed links carry nothing.
std::vector<NicPort> ports_of(hwloc_obj_t rdma_device) {
    std::vector<NicPort> ports;
    for (unsigned i = 0; i < rdma_device->infos_count; ++i) {
        const std::string_view name = rdma_device->infos[i].name;
        if (!name.starts_with("Port") || !name.ends_with("State")) continue;
        const auto number = parse_integer(name.substr(4, name.size() - 4 - 5));
        const auto state = parse_integer(rdma_device->infos[i].value);
        if (number && state) ports.push_back({static_cast<int>(*number), *state == 4 ? LinkState::up : LinkState::down, 0});
    }
    return ports;
}

std::optional<Nic> nic_of(hwloc_obj_t device) {
    NicHints hints;
    Nic nic;
    for_each_os_device(device, [&](hwloc_obj_t os_device) {
        if (os_device->name == nullptr) return;
        if (os_device->attr->osdev.type == HWLOC_OBJ_OSDEV_NETWORK) {
            nic.netdevs.emplace_back(os_device->name);
            hints.has_infiniband_address |= has_infiniband_address(os_device);
        } else if (os_device->attr->osdev.type == HWLOC_OBJ_OSDEV_OPENFABRICS) {
            hints.rdma_names.emplace_back(os_device->name);
            const auto ports = ports_of(os_device);
            nic.ports.insert(nic.ports.end(), ports.begin(), ports.end());
        }
    });
    hints.has_netdev = !nic.netdevs.empty();
    const auto kind = nic_kind(numbers_of(device->attr->pcidev), hints);
    if (!kind) return std::nullopt;
    nic.kind = *kind;
    if (!hints.rdma_names.empty()) {
        nic.name = hints.rdma_names.front();
        nic.more_names.assign(hints.rdma_names.begin() + 1, hints.rdma_names.end());
    } else if (!nic.netdevs.empty()) {
        nic.name = nic.netdevs.front();
    }
    nic.state = state_of_ports(nic.ports);
    return nic;
}

void walk_devices(hwloc_topology_t topology, NodeTopology& node) {
    for (hwloc_obj_t device = nullptr; (device = hwloc_get_next_pcidev(topology, device)) != nullptr;) {
        Place place = place_of(topology, device);
        if (const auto vendor = gpu_vendor(numbers_of(device->attr->pcidev), !place.path.bridges.empty())) {
            node.gpus.push_back(gpu_of(device, *vendor, std::move(place)));
        } else if (auto nic = nic_of(device)) {
            nic->place = std::move(place);
            node.nics.push_back(std::move(*nic));
        }
    }
}

std::string machine_name(hwloc_topology_t topology) {
    const hwloc_obj_t root = hwloc_get_root_obj(topology);
    for (const char* name : {"DMIProductName", "PlatformModel"})
        if (std::string text = info(root, name); !text.empty()) return text;
    return {};
}

}  // namespace

NodeTopology walk_hwloc(hwloc_topology_t topology) {
    NodeTopology node;
    node.machine = machine_name(topology);
    walk_cpus(topology, node);
    walk_devices(topology, node);
    sort_devices(node);
    locate_places(node);
    return node;
}

}  // namespace paced::io
