// SPDX-License-Identifier: BSD-3-Clause
#include "policy/report/text_nodes.h"

#include <algorithm>
#include <set>
#include <utility>

#include "policy/base/text.h"
#include "policy/report/ranges.h"
#include "policy/report/text_layout.h"
#include "policy/report/text_parts.h"
#include "policy/topology/relation.h"

namespace paced::report {

namespace {

constexpr std::size_t tables_shown_max = 3;
constexpr std::size_t rows_shown_max = 16;

std::string names_of(const std::vector<Device>& devices) {
    std::vector<std::string> names;
    for (const Device& device : devices) names.push_back(device.name.empty() ? device.pci : device.name);
    return join(names, " ");
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

bool one_model(const NodePlan& plan) {
    return std::all_of(plan.bindings.begin(), plan.bindings.end(),
                       [&](const Binding& binding) { return binding.device.name == plan.bindings.front().device.name; });
}

}  // namespace

TextTable binding_table(const NodePlan& plan, bool models, std::size_t rows_max) {
    const auto any = [&](auto has) { return std::any_of(plan.bindings.begin(), plan.bindings.end(), has); };
    const bool tasks = any([](const Binding& b) { return b.task >= 0; });
    const bool pci = any([](const Binding& b) { return !b.device.pci.empty(); });
    const bool numa = any([](const Binding& b) { return b.numa.has_value(); });
    // a column without any text is left out, so its cells must not hold the dash of one that has some
    const auto cell = [](bool shown, std::string text) { return !shown ? std::string() : text.empty() ? "-" : std::move(text); };

    TextTable table({{"task", true},
                     {"GPU", true},
                     {"PCI"},
                     {"model", false, true},
                     {"parts", true},
                     {"NUMA", true},
                     {"CPUs", false, true},
                     {"NIC", false, true},
                     {"relation"},
                     {"as near", false, true}});
    for (std::size_t i = 0; i < plan.bindings.size() && i < rows_max; ++i) {
        const Binding& binding = plan.bindings[i];
        table.add({cell(tasks, binding.task >= 0 ? std::to_string(binding.task) : ""), std::to_string(binding.gpu), cell(pci, binding.device.pci),
                   models ? binding.device.name : "",
                   binding.parts > 1 ? std::to_string(binding.parts) : "", cell(numa, binding.numa ? std::to_string(*binding.numa) : ""), cell(true, binding.cpus),
                   binding.nics.empty() ? "none" : names_of(binding.nics) + (binding.nic_down ? " (down)" : ""), cell(true, binding.relation), names_of(others_of(binding))});
    }
    return table;
}

std::string relation_legend(const NodePlan& plan) {
    std::set<topology::Relation> relations;
    for (const Binding& binding : plan.bindings)
        if (const auto relation = topology::parse_relation(binding.relation)) relations.insert(*relation);
    std::vector<std::string> words;
    for (topology::Relation relation : relations)
        words.push_back(std::string(to_string(relation)) + " = " + std::string(topology::describe(relation)));
    return join(words, ", ");
}

std::vector<std::string> binding_reasons(const NodePlan& plan) {
    struct Shared {
        std::string text;
        std::vector<int> tasks, gpus;  // of those without a task
    };
    std::vector<Shared> reasons;
    for (const Binding& binding : plan.bindings) {
        if (binding.reasons.empty()) continue;
        const std::string text = join(binding.reasons, "; ");
        auto known = std::find_if(reasons.begin(), reasons.end(), [&](const Shared& one) { return one.text == text; });
        if (known == reasons.end()) known = reasons.insert(reasons.end(), {text, {}, {}});
        if (binding.task >= 0) known->tasks.push_back(binding.task);
        else known->gpus.push_back(binding.gpu);
    }
    std::vector<std::string> lines;
    const auto counted = [](const char* what, const std::vector<int>& numbers) {
        return what + std::string(numbers.size() == 1 ? " " : "s ") + compress_numbers(numbers);
    };
    for (const auto& [text, tasks, gpus] : reasons) {
        std::vector<std::string> who;
        if (!tasks.empty()) who.push_back(counted("task", tasks));
        if (!gpus.empty()) who.push_back(counted("GPU", gpus));
        lines.push_back(join(who, ", ") + ": " + text);
    }
    return lines;
}

std::size_t gpu_count(const NodePlan& plan) {
    std::set<int> gpus;
    for (const Binding& binding : plan.bindings) gpus.insert(binding.gpu);
    return gpus.size();
}

std::string node_title(const std::string& nodes, const NodePlan& plan) {
    std::string text = nodes + ": ";
    if (plan.bindings.empty()) return text + (plan.remark.empty() ? "no GPUs, nothing to bind" : plan.remark);
    text += count_of(static_cast<long long>(gpu_count(plan)), "GPU");
    if (one_model(plan) && !plan.bindings.front().device.name.empty()) text += " (" + plan.bindings.front().device.name + ')';
    text += ", " + count_of(plan.local_tasks, "task");
    if (!plan.remark.empty()) text += "; " + plan.remark;
    return text;
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
        block.add(names.size() == 1 ? "node" : "nodes", node_title(shortened(compress_hosts(names), 40), first));
        if (!first.bindings.empty() && shown++ < tables_shown_max) {
            block.add({}, binding_table(first, !one_model(first), rows_shown_max));
            if (first.bindings.size() > rows_shown_max)
                block.add({}, "and " + count_of(static_cast<long long>(first.bindings.size() - rows_shown_max), "more row"));
            if (level == Level::full) {
                if (const std::string legend = relation_legend(first); !legend.empty()) block.add({}, legend);
                for (const std::string& line : binding_reasons(first)) block.add("reason", line);
            }
        }
        nodes = std::move(rest);
    }
}

}  // namespace paced::report
