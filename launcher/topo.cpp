// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/topo.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "launcher/inputs.h"
#include "launcher/node_tree.h"
#include "launcher/output.h"
#include "policy/base/text.h"
#include "policy/io/snapshot.h"
#include "policy/placement/binding.h"
#include "policy/report/plan_views.h"
#include "policy/report/text_nodes.h"

namespace paced::launcher {

namespace {

using namespace paced::topology;
using report::line_width;
using report::shortened;
using report::TextTable;

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

// A row for each GPU. It is the node that is shown, so whose task it would be is left out.
report::NodePlan gpu_rows(const NodeTopology& node) {
    report::NodePlan plan = report::node_view(node, placement::bind_tasks(node));
    for (report::Binding& binding : plan.bindings) binding.task = -1;
    return plan;
}

// Beside that by which libraries call it.
std::vector<std::string> other_names(const Nic& nic) {
    std::vector<std::string> names = nic.more_names;
    if (!nic.alias.empty() && nic.alias != nic.name) names.insert(names.begin(), nic.alias);
    return names;
}

std::string nic_table(const NodeTopology& node) {
    TextTable text({{"NIC"}, {"PCI"}, {"class"}, {"kind"}, {"state"}, {"rate", true}, {"NUMA", true}, {"also", false, true}, {"interfaces", false, true}});
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

}  // namespace

std::string topo_text(const NodeTopology& node, bool with_tree) {
    const report::NodePlan plan = gpu_rows(node);
    std::string text = head(node);
    if (with_tree) text += '\n' + node_tree(node);
    text += '\n';
    if (plan.bindings.empty()) {
        text += "This node has no GPUs.\n";
    } else {
        text += report::binding_table(plan, true, plan.bindings.size()).text();
        if (const std::string legend = report::relation_legend(plan); !legend.empty()) text += legend + '\n';
    }
    text += '\n';
    text += node.nics.empty() ? "This node has no NICs.\n" : nic_table(node);
    for (const std::string& warning : plan.notes) text += "\nwarning: " + warning + '\n';
    return text;
}

std::string topo_json(const NodeTopology& node) {
    using nlohmann::ordered_json;
    const report::NodePlan plan = gpu_rows(node);
    ordered_json bindings = ordered_json::array();
    for (const report::Binding& binding : plan.bindings) bindings.push_back(ordered_json::parse(to_json(binding)));
    const ordered_json whole{{"node", ordered_json::parse(io::write_snapshot(node))}, {"bindings", std::move(bindings)}, {"warnings", plan.notes}};
    return whole.dump(2, ' ', false, ordered_json::error_handler_t::replace) + '\n';
}

int run_topo(const TopoOptions& options) {
    NodeInput input = options.file.empty() ? this_machine() : node_from_file(options.file);
    if (!input.node) return input.exit_code;
    return options.json ? print_result(topo_json(*input.node)) : print_text(topo_text(*input.node, options.tree));
}

}  // namespace paced::launcher
