// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/node_tree.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "policy/base/text.h"
#include "policy/report/text_table.h"

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

// What is drawn above a device of an input that tells relations instead of paths: the nearest devices around it, keyed by the first of
// them.
struct Neighbours {
    std::vector<std::pair<std::string, std::string>> branches;  // key and text, outermost first
};

// GPUs and NICs (behind the GPUs) that reach one another by relations of at most this one: for each the number of its group. Alone: its
// own.
std::vector<std::size_t> groups_within(const NodeTopology& node, Relation most) {
    std::vector<std::size_t> group(node.gpus.size() + node.nics.size());
    std::iota(group.begin(), group.end(), std::size_t{0});
    for (std::size_t gpu = 0; gpu < node.stated_relations.size(); ++gpu) {
        for (std::size_t nic = 0; nic < node.nics.size(); ++nic) {
            const auto& relation = node.stated_relations[gpu][nic];
            const std::size_t from = group[node.gpus.size() + nic], to = group[gpu];
            if (!relation || *relation > most || from == to) continue;
            std::replace(group.begin(), group.end(), std::max(from, to), std::min(from, to));
        }
    }
    return group;
}

std::vector<Neighbours> neighbours(const NodeTopology& node) {
    std::vector<Neighbours> all(node.gpus.size() + node.nics.size());
    std::vector<std::size_t> inner(all.size());
    std::iota(inner.begin(), inner.end(), std::size_t{0});
    for (Relation relation : {Relation::pix, Relation::pxb}) {
        const auto outer = groups_within(node, relation);
        for (std::size_t i = 0; i < all.size(); ++i) {
            const auto members = std::count(outer.begin(), outer.end(), outer[i]);
            // nothing new around it, or nothing at all
            if (members < 2 || members == std::count(inner.begin(), inner.end(), inner[i])) continue;
            const std::string key = std::string(to_string(relation)) + ' ' + std::to_string(outer[i]);
            all[i].branches.insert(all[i].branches.begin(), {key, std::string(describe(relation))});
        }
        inner = outer;
    }
    return all;
}

void add_device(Branch& tree, const Place& place, const Neighbours& around, std::string text) {
    Branch* at = &tree;
    if (place.package) at = &at->child("package " + std::to_string(*place.package), "");
    if (place.numa) at = &at->child("NUMA " + std::to_string(*place.numa), "");
    // NCCL's files have one host bridge in each NUMA node, and leave root ports out.
    const bool from_nccl = place.path.host_bridge.starts_with("cpu ");
    if (!place.path.host_bridge.empty() && !(from_nccl && place.numa))
        at = &at->child("host " + place.path.host_bridge, "host bridge " + place.path.host_bridge);
    for (const PciAddress& bridge : place.path.bridges) {
        const bool root_port = bridge == place.path.bridges.front() && !from_nccl;
        at = &at->child("bridge " + to_string(bridge), (root_port ? "root port " : "switch ") + to_string(bridge));
        at->is_bridge = true;
    }
    for (const auto& [key, branch] : around.branches) at = &at->child(key, branch);
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
    const bool tells_nothing = gpu.name.empty() || gpu.name == "GPU" + std::to_string(index);
    text += "  " + (tells_nothing ? gpu.vendor : gpu.name);
    return gpu.partitions > 1 ? text + ", " + std::to_string(gpu.partitions) + " parts" : text;
}

std::string describe_nic(const Nic& nic) {
    std::string text = "NIC " + label(nic);
    if (!nic.alias.empty() && nic.alias != nic.name) text += " (" + nic.alias + ')';
    for (const std::string& name : nic.more_names) text += ", " + name;
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
        // where no packages are told, CPUs may not be either
        const std::string cpus = !numa.cpus.empty() ? "  CPUs " + to_string(numa.cpus) : node.packages.empty() ? "" : "  no CPUs";
        const std::string text = name + cpus + memory_text(numa.memory_bytes);
        const auto package = std::find_if(node.packages.begin(), node.packages.end(),
                                          [&](const Package& each) { return !numa.cpus.empty() && numa.cpus.is_subset_of(each.cpus); });
        Branch& above = package == node.packages.end() ? tree : tree.child("package " + std::to_string(package->number), "");
        above.child(name, text);
    }
    struct Device {
        const Place* place;
        const Neighbours* around;
        std::string text;
    };
    const auto around = neighbours(node);
    std::vector<Device> devices;
    for (std::size_t i = 0; i < node.gpus.size(); ++i) devices.push_back({&node.gpus[i].place, &around[i], describe_gpu(node, i)});
    for (std::size_t i = 0; i < node.nics.size(); ++i)
        devices.push_back({&node.nics[i].place, &around[node.gpus.size() + i], describe_nic(node.nics[i])});
    std::stable_sort(devices.begin(), devices.end(), [](const Device& a, const Device& b) { return a.place->pci < b.place->pci; });
    for (Device& device : devices) add_device(tree, *device.place, *device.around, std::move(device.text));
    leave_out_ports(tree);
    std::string text;
    draw(tree, "", text);
    return text;
}

}  // namespace paced::launcher
