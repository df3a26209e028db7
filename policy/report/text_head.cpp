// SPDX-License-Identifier: BSD-3-Clause
// The head of the job log: what was decided, and from what.
#include <algorithm>
#include <utility>

#include "policy/base/text.h"
#include "policy/report/ranges.h"
#include "policy/report/text.h"
#include "policy/report/text_layout.h"

namespace paced::report {

namespace {

constexpr std::size_t leaves_shown_max = 8;
constexpr std::size_t tables_shown_max = 3;
constexpr std::size_t rows_shown_max = 16;

std::string head_of(const JobInfo& job, const PolicyValues& policy) {
    std::string head = "paced-fabric: ";
    if (!job.id.empty()) head += "job " + job.id + (job.step.empty() ? "" : "." + job.step) + ", ";
    head += count_of(job.tasks, "task");
    if (!job.hosts.empty())
        head += " on " + count_of(static_cast<long long>(job.hosts.size()), "node") + ' ' + shortened(compress_hosts(job.hosts), 40);
    head += ": " + policy.mode.value;
    if (!policy.mode.source.empty()) head += " (" + policy.mode.source + ')';
    return head;
}

void add_policy(Block& block, const PolicyValues& policy, Level level) {
    std::vector<std::string> parts;
    const auto add = [&](const char* name, const Setting& setting) {
        if (setting.value.empty()) return;
        if (level != Level::full && setting.source == "built-in") return;
        parts.push_back(std::string(name) + ' ' + setting.value + " (" + setting.source + ')');
    };
    if (!policy.named_policy.empty()) parts.push_back("named policy " + policy.named_policy);
    add("order", policy.order);
    add("bind", policy.bind);
    add("window", policy.window);
    add("report", policy.report);
    if (!parts.empty()) block.add("policy", join(parts, ", "));
    for (const std::string& note : policy.notes) block.add("note", note);
    if (policy.mode.value == "pace" && policy.mode_run == "observe")
        block.add("note", "pace observes for now: collectives are recorded; nothing is delayed, bound or reordered");
    const auto wanted = [](const Setting& setting) { return setting.source != "built-in" && !setting.value.empty() && setting.value != "none"; };
    if (policy.mode.value == "observe" && (wanted(policy.bind) || wanted(policy.order)))
        block.add("note", "binding and rank order are shown, not applied: this version observes");
}

void add_fabric(Block& block, const FabricView& fabric) {
    if (fabric.source.empty() && fabric.problem.empty()) return;
    if (fabric.leaves.empty()) {
        block.add("fabric", fabric.problem.empty() ? fabric.source + " names none of these nodes" : fabric.problem);
        return;
    }
    std::string text = count_of(static_cast<long long>(fabric.leaves.size()), "leaf", "leaves") + ", from " + fabric.source + ": ";
    for (std::size_t i = 0; i < fabric.leaves.size() && i < leaves_shown_max; ++i)
        text += (i > 0 ? "; " : "") + fabric.leaves[i].name + ' ' + shortened(compress_hosts(fabric.leaves[i].hosts), 60);
    if (fabric.leaves.size() > leaves_shown_max)
        text += "; and " + std::to_string(fabric.leaves.size() - leaves_shown_max) + " more";
    block.add("fabric", text);
    if (!fabric.problem.empty()) block.add({}, fabric.problem);
    if (!fabric.unknown.empty())
        block.add({}, "no leaf is known for " + shortened(compress_hosts(fabric.unknown), 60));
    if (fabric.leaves.size() > 1) {
        std::string ring = "a ring over the ranks changes leaves " + count_of(fabric.crossings, "time");
        if (fabric.crossings <= fabric.crossings_least) ring += ", the fewest possible";
        else ring += "; the best order of these nodes needs " + std::to_string(fabric.crossings_least);
        block.add({}, ring);
    }
}

std::string names_of(const std::vector<Device>& devices) {
    std::string text;
    for (const Device& device : devices) text += (text.empty() ? "" : ",") + (device.name.empty() ? device.pci : device.name);
    return text.empty() ? "-" : text;
}

// The candidates that were not taken.
std::vector<Device> others_of(const Binding& binding) {
    std::vector<Device> others;
    for (const Device& candidate : binding.candidates)
        if (std::find(binding.nics.begin(), binding.nics.end(), candidate) == binding.nics.end()) others.push_back(candidate);
    return others;
}

bool same_table(const NodePlan& a, const NodePlan& b) {
    return a.remark == b.remark && a.local_tasks == b.local_tasks && a.bindings == b.bindings;
}

// "n1: 8 GPUs (NVIDIA A100-SXM4-80GB), 8 tasks"
std::string title_of(const std::string& nodes, const NodePlan& plan) {
    std::string text = nodes + ": ";
    if (plan.bindings.empty()) return text + (plan.remark.empty() ? "no GPUs, nothing to bind" : plan.remark);
    text += count_of(static_cast<long long>(plan.bindings.size()), "GPU");
    const std::string& model = plan.bindings.front().device.name;
    const bool one_model = std::all_of(plan.bindings.begin(), plan.bindings.end(),
                                       [&](const Binding& binding) { return binding.device.name == model; });
    if (one_model && !model.empty()) text += " (" + model + ')';
    text += ", " + count_of(plan.local_tasks, "task");
    if (!plan.remark.empty()) text += "; " + plan.remark;
    return text;
}

Table table_of(const NodePlan& plan) {
    const auto any = [&](auto has) { return std::any_of(plan.bindings.begin(), plan.bindings.end(), has); };
    const bool pci = any([](const Binding& b) { return !b.device.pci.empty(); });
    const bool numa = any([](const Binding& b) { return b.numa.has_value(); });
    const bool choice = any([](const Binding& b) { return b.candidates.size() > b.nics.size(); });
    const bool tasks = any([](const Binding& b) { return b.task >= 0; });
    const std::string& model = plan.bindings.front().device.name;
    const bool models = any([&](const Binding& b) { return b.device.name != model; });

    Table table;
    if (tasks) table.columns.push_back({"task", true});
    table.columns.push_back({"GPU", true});
    if (models) table.columns.push_back({"model"});
    if (pci) table.columns.push_back({"PCI"});
    if (numa) table.columns.push_back({"NUMA", true});
    table.columns.push_back({"cores"});
    table.columns.push_back({"NIC"});
    table.columns.push_back({"path"});
    if (choice) table.columns.push_back({"equally near"});
    for (std::size_t i = 0; i < plan.bindings.size() && i < rows_shown_max; ++i) {
        const Binding& binding = plan.bindings[i];
        std::vector<std::string> row;
        if (tasks) row.push_back(binding.task >= 0 ? std::to_string(binding.task) : "-");
        row.push_back(std::to_string(binding.gpu));
        if (models) row.push_back(shortened(binding.device.name, 20));
        if (pci) row.push_back(binding.device.pci);
        if (numa) row.push_back(binding.numa ? std::to_string(*binding.numa) : "-");
        row.push_back(binding.cpus.empty() ? "-" : shortened(binding.cpus, 24));
        row.push_back(shortened(names_of(binding.nics), 16));
        row.push_back(binding.relation.empty() ? "-" : binding.relation);
        if (choice) row.push_back(shortened(names_of(others_of(binding)), 20));
        table.rows.push_back(std::move(row));
    }
    return table;
}

// GPUs with the same reasons share a line.
void add_reasons(Block& block, const NodePlan& plan) {
    std::vector<std::pair<std::string, std::vector<int>>> reasons;
    for (const Binding& binding : plan.bindings) {
        if (binding.reasons.empty()) continue;
        const std::string text = join(binding.reasons, "; ");
        const auto known = std::find_if(reasons.begin(), reasons.end(), [&](const auto& one) { return one.first == text; });
        if (known != reasons.end()) known->second.push_back(binding.gpu);
        else reasons.push_back({text, {binding.gpu}});
    }
    for (const auto& [text, gpus] : reasons)
        block.add("reason", (gpus.size() == 1 ? "GPU " : "GPUs ") + compress_numbers(gpus) + ": " + text);
}

void add_nodes(Block& block, std::vector<const NodePlan*> nodes, Level level) {
    std::size_t shown = 0;
    while (!nodes.empty()) {
        const NodePlan& first = *nodes.front();
        std::vector<std::string> names;
        std::vector<const NodePlan*> rest;
        for (const NodePlan* node : nodes) {
            if (same_table(first, *node)) names.push_back(node->node);
            else rest.push_back(node);
        }
        std::string who = shortened(compress_hosts(names), 40);
        block.add(names.size() == 1 ? "node" : "nodes", title_of(who, first));
        if (!first.bindings.empty() && shown++ < tables_shown_max) {
            block.add({}, table_of(first));
            if (first.bindings.size() > rows_shown_max)
                block.add({}, "and " + count_of(static_cast<long long>(first.bindings.size() - rows_shown_max), "more GPU"));
            if (level == Level::full) add_reasons(block, first);
        }
        nodes = std::move(rest);
    }
}

void add_notes(Block& block, const std::vector<std::string>& kept, const std::vector<std::string>& notes) {
    for (const std::string& line : kept) block.add("kept", line);
    for (const std::string& line : notes) block.add("note", line);
}

}  // namespace

std::vector<std::string> head_lines(const JobPlan& plan, Level level) {
    if (level == Level::none) return {};
    Block block(head_of(plan.job, plan.policy));
    add_policy(block, plan.policy, level);
    add_fabric(block, plan.fabric);
    add_nodes(block, {&plan.node}, level);
    add_notes(block, plan.kept, plan.notes);
    for (const std::string& note : plan.node.notes) block.add("note", note);
    return block.take();
}

std::string node_line(const NodePlan& node) {
    std::string line = "paced-fabric: " + title_of(node.node, node);
    for (const std::string& note : node.notes) line += "; " + note;
    return line;
}

std::vector<std::string> head_lines(const Report& report, Level level) {
    if (level == Level::none) return {};
    Block block(head_of(report.job, report.policy));
    add_policy(block, report.policy, level);
    add_fabric(block, report.plan.fabric);
    std::vector<const NodePlan*> nodes;
    for (const NodePlan& node : report.plan.nodes) nodes.push_back(&node);
    add_nodes(block, std::move(nodes), level);
    add_notes(block, report.plan.kept, report.plan.notes);
    for (const NodePlan& node : report.plan.nodes)
        for (const std::string& note : node.notes) block.add("note", node.node + ": " + note);
    return block.take();
}

}  // namespace paced::report
