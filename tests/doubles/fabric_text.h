// SPDX-License-Identifier: BSD-3-Clause
// A fabric as one line for comparisons: "root(mid(leaf1:n[1-2] leaf2:n3))".
#pragma once

#include <string>
#include <vector>

#include "policy/base/text.h"
#include "policy/topology/fabric_topology.h"
#include "policy/topology/host_list.h"

namespace paced::test {

inline std::string text_of(const topology::FabricTopology& fabric, topology::SwitchIndex index) {
    const auto& each = fabric.at(index);
    std::string text = each.name;
    if (!each.hosts.empty()) text += ':' + topology::compress_hosts(each.hosts);
    if (each.children.empty()) return text;
    std::vector<std::string> children;
    for (auto child : each.children) children.push_back(text_of(fabric, child));
    return text + '(' + join(children, " ") + ')';
}

inline std::string text_of(const topology::FabricTopology& fabric) {
    std::vector<std::string> roots;
    for (auto root : fabric.roots()) roots.push_back(text_of(fabric, root));
    return join(roots, " ");
}

}  // namespace paced::test
