// SPDX-License-Identifier: BSD-3-Clause
// `paced plan` for people: for each part two lines that say it all, then the table, then the reasons.
#include <algorithm>
#include <map>

#include "launcher/plan.h"
#include "policy/base/text.h"
#include "policy/report/ranges.h"
#include "policy/report/text_nodes.h"
#include "policy/report/text_order.h"
#include "policy/topology/relation.h"

namespace paced::launcher {

namespace {

using report::line_width;
using report::TextTable;

constexpr std::size_t rows_max = 64;       // of a table
constexpr std::size_t reasons_max = 32;

void add_line(std::string& text, const std::string& line) {
    const char* indent = "";
    for (const std::string& part : report::wrapped(line, line_width - 2)) {
        (text += indent).append(part) += '\n';
        indent = "  ";
    }
}

void add_reasons(std::string& text, const std::vector<std::string>& reasons) {
    if (reasons.empty()) return;
    text += "\nWhy:\n";
    for (std::size_t i = 0; i < reasons.size() && i < reasons_max; ++i) {
        const char* indent = "  ";
        for (const std::string& part : report::wrapped(reasons[i], line_width - 4)) {
            (text += indent).append(part) += '\n';
            indent = "    ";
        }
    }
    if (reasons.size() > reasons_max) text += "  and " + std::to_string(reasons.size() - reasons_max) + " more, which --json shows\n";
}

std::string tasks_text(const std::vector<int>& tasks) { return (tasks.size() == 1 ? "task " : "tasks ") + report::compress_numbers(tasks); }

// How near the NICs are, and how many tasks share the busiest.
std::string nearness(const report::NodePlan& plan) {
    std::map<std::string, std::vector<int>> tasks_by_relation;
    std::map<std::pair<std::string, std::string>, int> load;
    for (const report::Binding& binding : plan.bindings) {
        if (!binding.relation.empty()) tasks_by_relation[binding.relation].push_back(binding.task);
        for (const report::Device& nic : binding.nics) ++load[{nic.pci, nic.name}];
    }
    if (tasks_by_relation.empty()) return "There is no NIC to bind to: a task gets its GPU and the CPUs near it.";
    std::vector<std::pair<topology::Relation, std::string>> parts;
    for (const auto& [name, tasks] : tasks_by_relation) {
        const auto relation = topology::parse_relation(name);
        const std::string who = tasks.size() == plan.bindings.size() ? "every task" : tasks_text(tasks);
        if (relation) parts.emplace_back(*relation, name + " (" + std::string(topology::describe(*relation)) + ") for " + who);
    }
    std::sort(parts.begin(), parts.end());
    std::vector<std::string> words;
    for (auto& [relation, part] : parts) words.push_back(std::move(part));
    int busiest = 0;
    for (const auto& [nic, tasks] : load) busiest = std::max(busiest, tasks);
    return "From GPU to NIC: " + join(words, ", ") + "; " +
           (busiest == 0 ? std::string("no NIC's link is up") : "the busiest NIC serves " + count_of(busiest, "task")) + ".";
}

void add_node(std::string& text, const NodePlanned& node) {
    const report::NodePlan& plan = node.plan;
    if (plan.bindings.empty()) {
        add_line(text, "Nothing to bind: " + node.title);
        add_line(text, plan.remark.substr(0, plan.remark.find(',')) + "; " + count_of(node.nics, "NIC"));
        return;
    }
    add_line(text, "Binding of " + count_of(plan.local_tasks, "task") + " to " + std::to_string(report::gpu_count(plan)) + " of " + count_of(node.gpus, "GPU") +
                       " and " + count_of(node.nics, "NIC") + ": " + node.title);
    add_line(text, nearness(plan));
    text += '\n' + report::binding_table(plan, true, rows_max).text();
    if (plan.bindings.size() > rows_max) text += "and " + std::to_string(plan.bindings.size() - rows_max) + " more tasks, which --json shows\n";
    if (const std::string legend = report::relation_legend(plan); !legend.empty()) add_line(text, legend);
    add_reasons(text, report::binding_reasons(plan));
    for (const std::string& note : plan.notes) add_line(text, "\nwarning: " + note);
}

TextTable stretches_table(const OrderPlanned& order) {
    TextTable table({{"ranks", true}, {"leaf", false, true}, {"hosts", false, true}});
    long long rank = 0;
    for (std::size_t i = 0; i < order.stretches.size(); ++i) {
        const OrderPlanned::Stretch& stretch = order.stretches[i];
        const long long next = rank + static_cast<long long>(stretch.hosts.size()) * order.tasks_per_node;
        if (i < rows_max)
            table.add({std::to_string(rank) + (next - rank > 1 ? '-' + std::to_string(next - 1) : ""), stretch.leaf.empty() ? "not known" : stretch.leaf,
                       report::compress_hosts(stretch.hosts)});
        rank = next;
    }
    return table;
}

TextTable levels_table(const report::OrderView& view) {
    TextTable table({{"level"}, {"submitted", true}, {"chosen", true}, {"fewest possible", true}});
    for (const report::OrderCost& level : view.levels)
        table.add({level.level, std::to_string(level.submitted), std::to_string(level.chosen), std::to_string(level.lower_bound)});
    return table;
}

void add_order(std::string& text, const OrderPlanned& order) {
    const report::OrderView& view = order.view;
    // Where hosts are on no switch the fabric has no leaves for them.
    const std::string under = view.leaves == 0 ? "from " : "under " + count_of(static_cast<long long>(view.leaves), "leaf", "leaves") + " of ";
    add_line(text, "Order of " + count_of(static_cast<long long>(view.hosts.size()), "host") + (report::order_wanted(view) ? " for " + view.pattern : "") +
                       ", " + count_of(order.tasks_per_node, "rank") + " on each, " + under + order.fabric);
    std::string cost = report::leaf_cost_text(view);
    std::vector<std::string> reasons = view.reasons;
    // Said here, and not again below.
    if (cost.empty() && !reasons.empty()) {
        cost = reasons.front();
        reasons.erase(reasons.begin());
    }
    add_line(text, (view.improves ? "Changed: " : "Kept as submitted: ") + cost + '.');
    text += '\n' + stretches_table(order).text();
    if (order.stretches.size() > rows_max) text += "and " + std::to_string(order.stretches.size() - rows_max) + " more rows, which --json shows\n";
    if (view.levels.size() > 1) text += '\n' + levels_table(view).text();
    add_reasons(text, reasons);
}

}  // namespace

std::string plan_text(const Planned& planned) {
    std::string text;
    if (planned.node) add_node(text, *planned.node);
    if (planned.node && planned.order) text += '\n';
    if (planned.order) add_order(text, *planned.order);
    return text;
}

}  // namespace paced::launcher
