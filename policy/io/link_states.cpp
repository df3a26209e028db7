// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/link_states.h"

#include <optional>

#include "policy/base/text.h"
#include "policy/io/text_file.h"
#include "policy/placement/binding/near_nics.h"

namespace paced::io {

namespace {

using namespace paced::topology;

std::optional<std::string> first_line(const std::string& path) {
    const auto text = read_text_file(path, 1 << 12);
    if (!text) return std::nullopt;
    return std::string(trim(*text));
}

}  // namespace

LinkState parse_port_state(std::string_view text) {
    const auto number = parse_integer(text.substr(0, text.find(':')));
    if (!number) return LinkState::unknown;
    return *number == 4 ? LinkState::up : LinkState::down;
}

LinkState parse_operstate(std::string_view text) {
    if (text == "up") return LinkState::up;
    if (text == "down" || text == "lowerlayerdown" || text == "notpresent" || text == "dormant") return LinkState::down;
    return LinkState::unknown;
}

void refresh_link_states(NodeTopology& node, const std::string& root) {
    for (NicIndex index : placement::nics_of_best_class(node)) {
        Nic& nic = node.nics[to_index(index)];
        if (!nic.more_names.empty()) continue;  // its ports are those of several devices
        if (!nic.ports.empty()) {
            for (NicPort& port : nic.ports)
                if (const auto state = first_line(root + "/sys/class/infiniband/" + nic.name + "/ports/" + std::to_string(port.number) + "/state"))
                    port.state = parse_port_state(*state);
            nic.state = state_of_ports(nic.ports);
            continue;
        }
        std::vector<NicPort> interfaces;
        for (const std::string& name : nic.netdevs)
            if (const auto state = first_line(root + "/sys/class/net/" + name + "/operstate")) interfaces.push_back({1, parse_operstate(*state), 0});
        if (!interfaces.empty()) nic.state = state_of_ports(interfaces);
    }
}

}  // namespace paced::io
