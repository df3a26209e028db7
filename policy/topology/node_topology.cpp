// SPDX-License-Identifier: BSD-3-Clause
#include "policy/topology/node_topology.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace paced::topology {

namespace {

constexpr std::array<std::string_view, 7> kind_names{"infiniband", "omni-path", "slingshot", "efa", "roce", "ethernet", "rdma"};
constexpr std::array<std::string_view, 3> class_names{"fabric", "roce-ethernet", "ethernet"};
constexpr std::array<std::string_view, 3> state_names{"up", "down", "unknown"};

template <class Enum, std::size_t N>
std::optional<Enum> find_name(const std::array<std::string_view, N>& names, std::string_view text) {
    const auto found = std::find(names.begin(), names.end(), text);
    if (found == names.end()) return std::nullopt;
    return static_cast<Enum>(found - names.begin());
}

// The relation of two devices under one host bridge, from the bridges that they do not share.
Relation relation_below(const PciPath& a, const PciPath& b) {
    std::size_t shared = 0;
    while (shared < std::min(a.bridges.size(), b.bridges.size()) && a.bridges[shared] == b.bridges[shared]) ++shared;
    if (shared == 0) return Relation::phb;
    // The last shared bridge is the upstream port of a switch (or the root port of one slot): with at most one
    // downstream port on each side the way leads through this one switch.
    return std::max(a.bridges.size(), b.bridges.size()) - shared <= 1 ? Relation::pix : Relation::pxb;
}

// The smallest of parts that holds all of cpus; nullopt where none does, or cpus is empty.
template <class Part>
std::optional<int> holder_of(const std::vector<Part>& parts, const CpuSet& cpus) {
    if (cpus.empty()) return std::nullopt;
    const Part* best = nullptr;
    for (const Part& part : parts)
        if (cpus.is_subset_of(part.cpus) && (best == nullptr || part.cpus.count() < best->cpus.count())) best = &part;
    return best == nullptr ? std::nullopt : std::optional<int>(best->number);
}

// The same for single CPUs, many of them: a function from CPU to the number of the smallest part that holds it, or -1.
template <class Part>
auto holder_of_each_cpu(const std::vector<Part>& parts) {
    // The smallest is written last, and of equals the first named.
    std::vector<const Part*> order;
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) order.push_back(&*part);
    std::stable_sort(order.begin(), order.end(), [](const Part* a, const Part* b) { return a->cpus.count() > b->cpus.count(); });
    std::vector<int> holders;
    for (const Part* part : order) {
        for (int cpu = part->cpus.first(); cpu >= 0; cpu = part->cpus.next(cpu)) {
            if (static_cast<std::size_t>(cpu) >= holders.size()) holders.resize(static_cast<std::size_t>(cpu) + 1, -1);
            holders[static_cast<std::size_t>(cpu)] = part->number;
        }
    }
    return [holders = std::move(holders)](int cpu) {
        return static_cast<std::size_t>(cpu) < holders.size() ? holders[static_cast<std::size_t>(cpu)] : -1;
    };
}

// Sorts, and says where each came from.
template <class Device>
std::vector<std::size_t> sort_by_address(std::vector<Device>& devices) {
    std::vector<std::size_t> order(devices.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        const auto& left = devices[a].place.pci;
        const auto& right = devices[b].place.pci;
        return left && (!right || *left < *right);
    });
    std::vector<Device> sorted;
    sorted.reserve(devices.size());
    for (std::size_t from : order) sorted.push_back(std::move(devices[from]));
    devices = std::move(sorted);
    return order;
}

}  // namespace

std::string_view to_string(NicKind kind) {
    return kind_names[static_cast<std::size_t>(kind)];
}
std::string_view to_string(NicClass nic_class) {
    return class_names[static_cast<std::size_t>(nic_class)];
}
std::string_view to_string(LinkState state) {
    return state_names[static_cast<std::size_t>(state)];
}
std::optional<NicKind> parse_nic_kind(std::string_view text) {
    return find_name<NicKind>(kind_names, text);
}
std::optional<LinkState> parse_link_state(std::string_view text) {
    return find_name<LinkState>(state_names, text);
}

NicClass class_of(NicKind kind) {
    if (kind == NicKind::ethernet) return NicClass::ethernet;
    return kind == NicKind::roce ? NicClass::roce_ethernet : NicClass::fabric;  // rdma too: better than to pass it over
}

LinkState state_of_ports(const std::vector<NicPort>& ports) {
    const auto has = [&](LinkState state) {
        return std::any_of(ports.begin(), ports.end(), [=](const NicPort& port) { return port.state == state; });
    };
    if (has(LinkState::up)) return LinkState::up;
    return ports.empty() || has(LinkState::unknown) ? LinkState::unknown : LinkState::down;
}

std::string label(const Nic& nic) {
    if (!nic.name.empty()) return nic.name;
    return nic.place.pci ? to_string(*nic.place.pci) : "?";
}

Relation relation_between(const NodeTopology& node, GpuIndex gpu_index, NicIndex nic_index) {
    if (!node.stated_relations.empty())
        if (const auto& stated = node.stated_relations[to_index(gpu_index)][to_index(nic_index)]) return *stated;
    const Place& gpu = node.gpu(gpu_index).place;
    const Place& nic = node.nic(nic_index).place;
    if (!gpu.path.host_bridge.empty() && gpu.path.host_bridge == nic.path.host_bridge) return relation_below(gpu.path, nic.path);
    if (gpu.numa && gpu.numa == nic.numa) return Relation::node;
    if (gpu.package && gpu.package == nic.package) return Relation::pkg;
    return Relation::sys;
}

void locate_pus(NodeTopology& node) {
    const auto numa_of = holder_of_each_cpu(node.numa_nodes);
    const auto package_of = holder_of_each_cpu(node.packages);
    for (Pu& pu : node.pus) {
        pu.numa = numa_of(pu.cpu);
        pu.package = package_of(pu.cpu);
    }
}

void locate_places(NodeTopology& node) {
    if (node.packages.empty()) node.packages.push_back({0, node.cpus});
    locate_pus(node);
    const auto locate = [&](Place& place) {
        place.numa = holder_of(node.numa_nodes, place.local_cpus);
        place.package = holder_of(node.packages, place.local_cpus);
    };
    for (Gpu& gpu : node.gpus) locate(gpu.place);
    for (Nic& nic : node.nics) locate(nic.place);
}

void sort_devices(NodeTopology& node) {
    const auto gpus = sort_by_address(node.gpus);
    const auto nics = sort_by_address(node.nics);
    if (node.stated_relations.empty()) return;
    const auto before = std::move(node.stated_relations);
    node.stated_relations.clear();
    for (std::size_t gpu : gpus) {
        auto& row = node.stated_relations.emplace_back();
        for (std::size_t nic : nics) row.push_back(before[gpu][nic]);
    }
}

}  // namespace paced::topology
