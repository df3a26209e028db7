// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/topo.h"

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "launcher/node_tree.h"
#include "launcher/text_table.h"
#include "policy/base/text.h"
#include "policy/io/hwloc_reader.h"
#include "policy/io/node_file.h"
#include "policy/io/snapshot.h"
#include "policy/placement/node_table.h"

namespace paced::launcher {

namespace {

using namespace paced::topology;
using placement::GpuRow;
using placement::NodeTable;

constexpr int done = 0, input_is_wrong = 1, surroundings_failed = 3;  // exit codes of every command

std::string rate_text(std::uint32_t mbps) {
    if (mbps == 0) return "";
    if (mbps < 1000) return std::to_string(mbps) + " Mb/s";
    const std::uint32_t tenths = mbps % 1000 / 100;
    return std::to_string(mbps / 1000) + (tenths == 0 ? "" : '.' + std::to_string(tenths)) + " Gb/s";
}

std::string head(const NodeTopology& node) {
    int cores = 0;
    for (const Pu& pu : node.pus) cores = std::max(cores, pu.core + 1);
    const auto counted = [](std::size_t count, std::string_view what) { return count_of(static_cast<long long>(count), what); };
    std::vector<std::string> parts;
    // Inputs that tell of no packages tell of no cores either.
    if (!node.packages.empty()) parts.push_back(counted(node.packages.size(), "package"));
    if (!node.numa_nodes.empty()) parts.push_back(counted(node.numa_nodes.size(), "NUMA node"));
    if (!node.packages.empty()) parts.push_back(count_of(cores, "core"));
    if (!node.pus.empty()) parts.push_back(counted(node.pus.size(), "CPU"));
    parts.push_back(counted(node.gpus.size(), "GPU"));
    parts.push_back(counted(node.nics.size(), "NIC"));
    return shortened((node.machine.empty() ? std::string("node") : node.machine) + ", from " + node.origin, line_width) + '\n' +
           join(parts, ", ") + '\n';
}

std::string names_of(const NodeTopology& node, const std::vector<NicIndex>& nics, std::optional<NicIndex> but) {
    std::vector<std::string> names;
    for (NicIndex nic : nics)
        if (nic != but) names.push_back(label(node.nic(nic)));
    return join(names, " ");
}

std::string gpu_table(const NodeTopology& node, const NodeTable& table) {
    TextTable text({{"GPU", true},
                    {"PCI"},
                    {"Name", false, true},
                    {"Parts", true},
                    {"NUMA", true},
                    {"CPUs", false, true},
                    {"NIC"},
                    {"Relation"},
                    {"As near", false, true}});
    for (const GpuRow& row : table.rows) {
        const Gpu& gpu = node.gpu(row.gpu);
        text.add({std::to_string(to_index(row.gpu)), gpu.place.pci ? to_string(*gpu.place.pci) : "",
                  gpu.name.empty() ? gpu.vendor : gpu.name, gpu.partitions > 1 ? std::to_string(gpu.partitions) : "", row.numa ? std::to_string(*row.numa) : "", to_string(row.cpus),
                  row.nic ? label(node.nic(*row.nic)) : "none", row.relation ? std::string(to_string(*row.relation)) : "",
                  names_of(node, row.candidates, row.nic)});
    }
    return text.text();
}

// The words of the relations in the table, nearest first.
std::string legend(const NodeTable& table) {
    std::vector<Relation> relations;
    for (const GpuRow& row : table.rows)
        if (row.relation && std::find(relations.begin(), relations.end(), *row.relation) == relations.end())
            relations.push_back(*row.relation);
    std::sort(relations.begin(), relations.end());
    std::vector<std::string> words;
    for (Relation relation : relations) words.push_back(std::string(to_string(relation)) + " = " + std::string(describe(relation)));
    return words.empty() ? "" : join(words, ", ") + '\n';
}

// Beside that by which libraries call it.
std::vector<std::string> other_names(const Nic& nic) {
    std::vector<std::string> names = nic.more_names;
    if (!nic.alias.empty() && nic.alias != nic.name) names.insert(names.begin(), nic.alias);
    return names;
}

std::string nic_table(const NodeTopology& node) {
    TextTable text({{"NIC"}, {"PCI"}, {"Class"}, {"Kind"}, {"State"}, {"Rate", true}, {"NUMA", true}, {"Also", false, true}, {"Interfaces", false, true}});
    std::vector<const Nic*> nics;
    for (const Nic& nic : node.nics) nics.push_back(&nic);
    std::stable_sort(nics.begin(), nics.end(), [](const Nic* a, const Nic* b) { return class_of(a->kind) < class_of(b->kind); });
    for (const Nic* nic : nics)
        text.add({nic->name.empty() ? "-" : nic->name, nic->place.pci ? to_string(*nic->place.pci) : "",
                  std::string(to_string(class_of(nic->kind))), std::string(to_string(nic->kind)), std::string(to_string(nic->state)),
                  rate_text(nic->rate_mbps), nic->place.numa ? std::to_string(*nic->place.numa) : "", join(other_names(*nic), " "),
                  join(nic->netdevs, " ")});
    return text.text();
}

nlohmann::ordered_json device(const std::optional<PciAddress>& pci, const std::string& name) {
    return {{"pci", pci ? nlohmann::ordered_json(to_string(*pci)) : nlohmann::ordered_json()}, {"name", name}};
}

}  // namespace

std::string topo_text(const NodeTopology& node, bool with_tree) {
    const NodeTable table = placement::node_table(node);
    std::string text = head(node);
    if (with_tree) text += '\n' + node_tree(node);
    text += '\n';
    text += table.rows.empty() ? "This node has no GPUs.\n" : gpu_table(node, table) + legend(table);
    text += '\n';
    text += node.nics.empty() ? "This node has no NICs.\n" : nic_table(node);
    for (const std::string& warning : table.warnings) text += "\nwarning: " + warning + '\n';
    return text;
}

std::string topo_json(const NodeTopology& node) {
    using nlohmann::ordered_json;
    const NodeTable table = placement::node_table(node);
    ordered_json bindings = ordered_json::array();
    const auto nic_device = [&](NicIndex nic) {
        ordered_json object = device(node.nic(nic).place.pci, node.nic(nic).name);
        if (!node.nic(nic).alias.empty()) object["label"] = node.nic(nic).alias;
        return object;
    };
    for (const GpuRow& row : table.rows) {
        ordered_json gpu = device(node.gpu(row.gpu).place.pci, node.gpu(row.gpu).name);
        gpu["index"] = to_index(row.gpu);
        ordered_json candidates = ordered_json::array(), nics = ordered_json::array();
        for (NicIndex nic : row.candidates) candidates.push_back(nic_device(nic));
        if (row.nic) nics.push_back(nic_device(*row.nic));
        bindings.push_back({{"gpu", std::move(gpu)},
                            {"nics", std::move(nics)},
                            {"candidates", std::move(candidates)},
                            {"relation", row.relation ? ordered_json(to_string(*row.relation)) : ordered_json()},
                            {"cpus", to_string(row.cpus)},
                            {"numa", row.numa ? ordered_json(*row.numa) : ordered_json()},
                            {"reasons", row.reasons}});
    }
    const ordered_json whole{
        {"node", ordered_json::parse(io::write_snapshot(node))}, {"bindings", std::move(bindings)}, {"warnings", table.warnings}};
    return whole.dump(2, ' ', false, ordered_json::error_handler_t::replace) + '\n';
}

int run_topo(const TopoOptions& options) {
    std::optional<NodeTopology> node;
    if (options.file.empty()) {
        auto read = io::read_this_machine();
        if (!read) {
            std::fprintf(stderr, "error: %s\n", read.error().message.c_str());
            return surroundings_failed;
        }
        node = std::move(*read);
    } else {
        Diagnostics diagnostics;
        node = io::read_node_file(options.file, diagnostics);
        std::fputs(format(diagnostics).c_str(), stderr);
        if (!node) return input_is_wrong;
    }
    const std::string text = options.json ? topo_json(*node) : topo_text(*node, options.tree);
    if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return done;
    std::perror("error: cannot write");
    return surroundings_failed;
}

}  // namespace paced::launcher
