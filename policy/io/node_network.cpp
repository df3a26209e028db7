// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/node_network.h"

#include <algorithm>
#include <map>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include "policy/base/text.h"
#include "policy/io/text_file.h"

namespace paced::io {

namespace {

using namespace paced::topology;

// Interface -> its IPv4 network, "10.1.0.0/255.255.0.0"; of several addresses the first. nullopt: the kernel does not say.
std::optional<std::map<std::string, std::string>> ip_networks() {
    ifaddrs* list = nullptr;
    if (getifaddrs(&list) != 0) return std::nullopt;
    std::map<std::string, std::string> networks;
    for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
        constexpr unsigned running = IFF_UP | IFF_RUNNING;
        if (each->ifa_addr == nullptr || each->ifa_netmask == nullptr || each->ifa_addr->sa_family != AF_INET) continue;
        if ((each->ifa_flags & (running | IFF_LOOPBACK)) != running) continue;
        const in_addr mask = reinterpret_cast<const sockaddr_in*>(each->ifa_netmask)->sin_addr;
        in_addr network = reinterpret_cast<const sockaddr_in*>(each->ifa_addr)->sin_addr;
        network.s_addr &= mask.s_addr;
        char network_text[INET_ADDRSTRLEN] = {}, mask_text[INET_ADDRSTRLEN] = {};
        inet_ntop(AF_INET, &network, network_text, sizeof network_text);
        inet_ntop(AF_INET, &mask, mask_text, sizeof mask_text);
        networks.try_emplace(each->ifa_name, std::string(network_text) + '/' + mask_text);
    }
    freeifaddrs(list);
    return networks;
}

// The prefix of the port's subnet: the first half of its first address, "fe80:0000:0000:0000".
std::string infiniband_network(const Nic& nic, const std::string& root) {
    for (const NicPort& port : nic.ports) {
        if (port.state == LinkState::down) continue;
        const auto gid = read_text_file(root + "/sys/class/infiniband/" + nic.name + "/ports/" + std::to_string(port.number) + "/gids/0", 1 << 12);
        if (gid && gid->size() > 20) return gid->substr(0, 19);
    }
    return {};
}

}  // namespace

placement::NodeNetwork read_node_network(const NodeTopology& node, const std::string& root) {
    placement::NodeNetwork found;
    const auto networks = ip_networks();
    if (networks) {
        found.tcp_interfaces.emplace();
        for (const auto& [name, network] : *networks) found.tcp_interfaces->push_back(name);
    }
    for (const Nic& nic : node.nics) {
        std::string& network = found.network_of.emplace_back();
        if (nic.kind == NicKind::infiniband || nic.kind == NicKind::omni_path) {
            network = infiniband_network(nic, root);
        } else if (nic.kind == NicKind::roce && networks) {
            for (const std::string& name : nic.netdevs)
                if (const auto its = networks->find(name); its != networks->end() && network.empty()) network = its->second;
        }
    }
    return found;
}

}  // namespace paced::io
