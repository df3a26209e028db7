// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/node_tree.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "policy/report/text_table.h"
#include "policy/base/text.h"

namespace paced::launcher {

namespace {

using namespace paced::topology;

struct Branch {
    std::string key;   // tells it from its siblings
    std::string text;  // what is drawn
    bool is_bridge = false;
    std::vector<Branch> children;

    Branch& child(const std::string& child_key, const std::string& child_text) {
        const auto found = std::find_if(children.begin(), children.end(), [&](const Branch& each) { return each.key == child_key; });
        if (found != children.end()) return *found;
        return children.emplace_back(Branch{child_key, child_text, false, {}});
    }
};

std::string memory_text(std::uint64_t bytes) {
    return bytes == 0 ? "" : ", " + std::to_string((bytes + (1u << 29)) >> 30) + " GiB";
}

void add_device(Branch& tree, const Place& place, std::string text) {
    Branch* at = &tree;
    if (place.package) at = &at->child("package " + std::to_string(*place.package), "");
    if (place.numa) at = &at->child("NUMA " + std::to_string(*place.numa), "");
    if (!place.path.host_bridge.empty()) at = &at->child("host " + place.path.host_bridge, "host bridge " + place.path.host_bridge);
    for (const PciAddress& bridge : place.path.bridges) {
        const bool root_port = bridge == place.path.bridges.front();
        at = &at->child("bridge " + to_string(bridge), (root_port ? "root port " : "switch ") + to_string(bridge));
        at->is_bridge = true;
    }
    at->children.push_back({"", std::move(text), false, {}});
}

// A bridge with a single way below it is a root port or a port of a switch: it decides nothing.
void leave_out_ports(Branch& branch) {
    for (Branch& child : branch.children) leave_out_ports(child);
    for (Branch& child : branch.children) {
        while (child.is_bridge && child.children.size() == 1) {
            Branch only = std::move(child.children.front());
            child = std::move(only);
        }
    }
}

void draw(const Branch& branch, const std::string& indent, std::string& text) {
    for (const Branch& child : branch.children) {
        const bool last = &child == &branch.children.back();
        text += report::shortened(indent + (last ? "└─ " : "├─ ") + child.text, report::line_width) + '\n';
        draw(child, indent + (last ? "   " : "│  "), text);
    }
}

std::string describe_gpu(const NodeTopology& node, std::size_t index) {
    const Gpu& gpu = node.gpus[index];
    std::string text = "GPU " + std::to_string(index);
    if (gpu.place.pci) text += "  " + to_string(*gpu.place.pci);
    return text + "  " + (gpu.name.empty() ? gpu.vendor : gpu.name);
}

std::string describe_nic(const Nic& nic) {
    std::string text = "NIC " + label(nic);
    if (nic.place.pci && !nic.name.empty()) text += "  " + to_string(*nic.place.pci);
    return text + "  " + std::string(to_string(nic.kind)) +
           (nic.state == LinkState::unknown ? "" : ", " + std::string(to_string(nic.state)));
}

}  // namespace

std::string node_tree(const NodeTopology& node) {
    Branch tree;
    for (const Package& package : node.packages)
        tree.child("package " + std::to_string(package.number),
                   "package " + std::to_string(package.number) + "  CPUs " + to_string(package.cpus));
    for (const NumaNode& numa : node.numa_nodes) {
        const std::string name = "NUMA " + std::to_string(numa.number);
        const std::string text =
            name + "  " + (numa.cpus.empty() ? "no CPUs" : "CPUs " + to_string(numa.cpus)) + memory_text(numa.memory_bytes);
        const auto package = std::find_if(node.packages.begin(), node.packages.end(),
                                          [&](const Package& each) { return !numa.cpus.empty() && numa.cpus.is_subset_of(each.cpus); });
        Branch& above = package == node.packages.end() ? tree : tree.child("package " + std::to_string(package->number), "");
        above.child(name, text);
    }
    std::vector<std::pair<const Place*, std::string>> devices;
    for (std::size_t i = 0; i < node.gpus.size(); ++i) devices.emplace_back(&node.gpus[i].place, describe_gpu(node, i));
    for (const Nic& nic : node.nics) devices.emplace_back(&nic.place, describe_nic(nic));
    std::stable_sort(devices.begin(), devices.end(), [](const auto& a, const auto& b) { return a.first->pci < b.first->pci; });
    for (auto& [place, text] : devices) add_device(tree, *place, std::move(text));
    leave_out_ports(tree);
    std::string text;
    draw(tree, "", text);
    return text;
}

}  // namespace paced::launcher
