// SPDX-License-Identifier: BSD-3-Clause
#include "policy/placement/library_variables.h"

#include <algorithm>
#include <array>
#include <set>

#include "policy/base/text.h"

namespace paced::placement {

namespace {

using namespace paced::topology;

constexpr std::string_view ucx = "UCX_NET_DEVICES", nvshmem = "NVSHMEM_HCA_LIST", mpich = "MPIR_CVAR_CH4_OFI_PREF_NIC", gloo = "GLOO_SOCKET_IFNAME";

constexpr std::array<LibraryVariable, 8> table{{
    {ucx, "UCX", Scope::per_rank, true, "the ports of the task's NICs that are up, and every interface that carries TCP: mlx5_0:1,eth0"},
    {nvshmem, "NVSHMEM", Scope::per_rank, true, "the ports of the task's NICs that are up: mlx5_0:1"},
    {mpich, "MPICH", Scope::per_rank, true, "the place of the task's NIC among the node's, by name: 0"},
    {gloo, "Gloo", Scope::per_rank, true, "the task's interface, where it is the only one of the node that carries TCP: eth0"},
    {"NCCL_IB_HCA", "NCCL", Scope::policy_only, false, "a list that differs within a node breaks the ring search, between nodes it hangs"},
    {"NCCL_SOCKET_IFNAME", "NCCL", Scope::policy_only, false, "as for NCCL_IB_HCA"},
    {"MPICH_OFI_NIC_POLICY", "Cray MPICH", Scope::per_node, false, "the library chooses by itself; the site's default is known to its users"},
    {"I_MPI_MULTIRAIL", "Intel MPI", Scope::per_node, false, "the library chooses by itself, near to the pinned cores"},
}};

// A device that is opened through verbs, by its own name.
bool is_verbs_device(const Nic& nic) {
    const bool kind = nic.kind == NicKind::infiniband || nic.kind == NicKind::roce || nic.kind == NicKind::rdma || nic.kind == NicKind::omni_path;
    return kind && !nic.name.empty() && std::find(nic.netdevs.begin(), nic.netdevs.end(), nic.name) == nic.netdevs.end();
}

// "mlx5_0:1": of a device with several ports those that are up, else those of which nothing is known; the fastest of them.
std::vector<std::string> ports_of(const Nic& nic) {
    if (nic.ports.empty()) return {nic.name + ":1"};
    for (LinkState state : {LinkState::up, LinkState::unknown}) {
        std::uint32_t fastest = 0;
        for (const NicPort& port : nic.ports)
            if (port.state == state) fastest = std::max(fastest, port.rate_mbps);
        std::vector<std::string> ports;
        for (const NicPort& port : nic.ports)
            if (port.state == state && (port.rate_mbps == 0 || port.rate_mbps == fastest)) ports.push_back(nic.name + ':' + std::to_string(port.number));
        if (!ports.empty()) return ports;
    }
    return {};
}

class Writer {
public:
    Writer(const NodeTopology& node, const NodeBinding& binding, const NodeNetwork& network) : node_(node), binding_(binding), network_(network) {}

    NodeVariables write() {
        look_for_separate_networks();
        if (verbs_ && !network_.tcp_interfaces) reason(std::string(ucx) + " is not set: which interfaces carry TCP is not known, and without them a node that has TCP alone would be cut off");
        for (const TaskBinding& task : binding_.tasks) {
            Assignments& its = found_.of_tasks.emplace_back();
            const std::vector<std::string> ports = verbs_ports(task);
            if (!ports.empty() && !separate_) {
                if (network_.tcp_interfaces) its.emplace_back(ucx, with_tcp(ports));
                if (node_.gpu(task.gpu).vendor == "NVIDIA") its.emplace_back(nvshmem, join(ports, ","));
            }
            if (const auto place = place_among_nics(task)) its.emplace_back(mpich, std::to_string(*place));
            if (const auto interface = only_interface(task)) its.emplace_back(gloo, *interface);
        }
        return std::move(found_);
    }

private:
    void reason(std::string text) { found_.reasons.push_back(std::move(text)); }

    static std::span<const NicIndex> usable_nics(const TaskBinding& task) { return task.nic_down ? std::span<const NicIndex>() : task.nics; }

    std::string network(NicIndex nic) const { return to_index(nic) < network_.network_of.size() ? network_.network_of[to_index(nic)] : std::string(); }

    // Of two ranks that are bound to NICs in networks of their own, neither may reach the other.
    void look_for_separate_networks() {
        std::set<std::string> networks;
        for (const TaskBinding& task : binding_.tasks)
            for (NicIndex nic : usable_nics(task))
                if (is_verbs_device(node_.nic(nic))) {
                    verbs_ = true;
                    if (!network(nic).empty()) networks.insert(network(nic));
                }
        separate_ = networks.size() > 1;
        if (separate_)
            reason(std::string(ucx) + " and " + std::string(nvshmem) + " are not set: the NICs are in " + std::to_string(networks.size()) +
                   " networks, and ranks bound to different ones might not reach each other");
    }

    std::vector<std::string> verbs_ports(const TaskBinding& task) const {
        std::vector<std::string> ports;
        for (NicIndex nic : usable_nics(task))
            if (is_verbs_device(node_.nic(nic)))
                for (std::string& port : ports_of(node_.nic(nic))) ports.push_back(std::move(port));
        return ports;
    }

    std::string with_tcp(std::vector<std::string> devices) const {
        devices.insert(devices.end(), network_.tcp_interfaces->begin(), network_.tcp_interfaces->end());
        return join(devices, ",");
    }

    // MPICH sorts the NICs of its provider by name, letter by letter, and leaves out those that are down. Where devices of
    // several kinds are there it is not known which the provider lists. A number that is too high it ignores.
    std::optional<std::size_t> place_among_nics(const TaskBinding& task) const {
        if (usable_nics(task).empty() || class_of(node_.nic(task.nics.front()).kind) == NicClass::ethernet) return std::nullopt;
        const Nic& mine = node_.nic(task.nics.front());
        std::size_t place = 0, others = 0;
        for (const Nic& nic : node_.nics) {
            if (nic.kind == NicKind::ethernet) continue;
            if (nic.kind != mine.kind || nic.name.empty() || nic.virtual_function_of) return std::nullopt;
            if (nic.state == LinkState::down) continue;
            if (nic.name < mine.name) ++place;
            if (nic.name != mine.name) ++others;
        }
        if (others == 0) return std::nullopt;  // nothing to choose
        return place;
    }

    std::optional<std::string> only_interface(const TaskBinding& task) const {
        if (usable_nics(task).size() != 1 || !network_.tcp_interfaces || network_.tcp_interfaces->size() != 1) return std::nullopt;
        const Nic& nic = node_.nic(task.nics.front());
        const bool sensible = (nic.kind == NicKind::ethernet || nic.kind == NicKind::roce) && nic.state == LinkState::up && nic.netdevs.size() == 1;
        if (!sensible || nic.netdevs.front() != network_.tcp_interfaces->front()) return std::nullopt;
        return nic.netdevs.front();
    }

    const NodeTopology& node_;
    const NodeBinding& binding_;
    const NodeNetwork& network_;
    bool verbs_ = false, separate_ = false;
    NodeVariables found_;
};

}  // namespace

std::span<const LibraryVariable> library_variables() { return table; }

NodeVariables variables_for(const NodeTopology& node, const NodeBinding& binding, const NodeNetwork& network) {
    return Writer(node, binding, network).write();
}

}  // namespace paced::placement
