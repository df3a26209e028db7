// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/sysfs_devices.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "policy/base/text.h"
#include "policy/io/link_states.h"
#include "policy/io/sysfs_files.h"
#include "policy/io/sysfs_gpus.h"

namespace paced::io {

namespace {

using namespace paced::topology;
using std::filesystem::path;

// "400 Gb/sec (4X NDR)", "2.5 Gb/sec (1X SDR)"
std::uint32_t parse_rate_mbps(std::string_view text) {
    double gigabits = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), gigabits);
    if (error != std::errc{} || !std::string_view(end, static_cast<std::size_t>(text.data() + text.size() - end)).starts_with(" Gb/sec") ||
        gigabits < 0 || gigabits > 1e6)
        return 0;
    return static_cast<std::uint32_t>(gigabits * 1000);
}

void add_rdma_ports(Nic& nic, const path& device) {
    const auto rdma_names = entries(device / "infiniband");
    if (rdma_names.empty()) return;
    nic.name = rdma_names.front();
    nic.more_names.assign(rdma_names.begin() + 1, rdma_names.end());
    nic.ports.clear();
    std::optional<bool> infiniband;
    for (const std::string& rdma_name : rdma_names) {
        const path ports = device / "infiniband" / rdma_name / "ports";
        for (const std::string& number : entries(ports)) {
            NicPort port;
            port.number = static_cast<int>(parse_integer(number).value_or(1));
            port.state = parse_port_state(read_value(ports / number / "state"));
            port.rate_mbps = parse_rate_mbps(read_value(ports / number / "rate"));
            const std::string layer = read_value(ports / number / "link_layer");
            if (layer == "InfiniBand" || layer == "Ethernet") infiniband = infiniband.value_or(false) || layer == "InfiniBand";
            nic.ports.push_back(port);
        }
    }
    nic.state = state_of_ports(nic.ports);
    for (const NicPort& port : nic.ports) nic.rate_mbps = std::max(nic.rate_mbps, port.rate_mbps);
    // The PCI class of a card that can be both does not tell which it is set to.
    if (infiniband && (nic.kind == NicKind::infiniband || nic.kind == NicKind::roce || nic.kind == NicKind::ethernet))
        nic.kind = *infiniband ? NicKind::infiniband : NicKind::roce;
}

// An interface without RDMA ports: its own state and speed. With them, IP's state says nothing of RDMA's.
void add_netdevs(Nic& nic, const path& root, const path& device) {
    // Not beside the PCI device are the interfaces of virtio cards; hwloc has found those.
    if (auto names = entries(device / "net"); !names.empty()) nic.netdevs = std::move(names);
    if (nic.name.empty() && !nic.netdevs.empty()) nic.name = nic.netdevs.front();
    if (!nic.ports.empty()) return;
    std::vector<NicPort> interfaces;
    for (const std::string& name : nic.netdevs) {
        const path interface = root / "sys/class/net" / name;
        const auto speed = parse_integer(read_value(interface / "speed"));  // -1 or an error where the link is down
        const bool known = speed && *speed > 0 && *speed < 100'000'000;
        interfaces.push_back({1, parse_operstate(read_value(interface / "operstate")), known ? static_cast<std::uint32_t>(*speed) : 0});
    }
    nic.state = state_of_ports(interfaces);
    for (const NicPort& each : interfaces) nic.rate_mbps = std::max(nic.rate_mbps, each.rate_mbps);
}

}  // namespace

void add_sysfs_facts(NodeTopology& node, const std::string& root) {
    const path devices = path(root) / "sys/bus/pci/devices";
    add_gpu_facts(node, root);
    for (Nic& nic : node.nics) {
        if (!nic.place.pci) continue;
        const path device = devices / to_string(*nic.place.pci);
        add_rdma_ports(nic, device);
        add_netdevs(nic, root, device);
        std::error_code error;
        const path parent = std::filesystem::read_symlink(device / "physfn", error);
        if (!error) nic.virtual_function_of = parse_pci_address(parent.filename().string());
    }
}

}  // namespace paced::io
