// SPDX-License-Identifier: BSD-3-Clause
// The head of the job log: what was decided, and from what.
#include <algorithm>
#include <iterator>
#include <utility>

#include "policy/base/text.h"
#include "policy/report/ranges.h"
#include "policy/report/text.h"
#include "policy/report/text_order.h"
#include "policy/report/text_parts.h"

namespace paced::report {

namespace {

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

// "binding (UCX_NET_DEVICES, cores)"; empty: no task of these nodes was bound.
std::string binding_applied(const std::vector<const NodePlan*>& nodes) {
    std::vector<std::string> names;
    bool own_gpu = true;
    for (const NodePlan* node : nodes) {
        own_gpu = own_gpu && (node->applied.empty() || node->applied_to_own_gpu);
        for (const std::string& name : node->applied)
            if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    if (names.empty()) return {};
    return "binding (" + join(names, ", ") + (own_gpu ? ", where a task has a GPU of its own)" : ")");
}

// What of the placement is applied, and what is only shown. What became of the order, add_order() says.
std::vector<std::string> applied_notes(const PolicyValues& policy, const OrderView& order, const std::vector<const NodePlan*>& nodes) {
    std::vector<std::string> applied, shown;
    const auto sort = [&](const char* name, const Setting& setting, bool applies, std::string done) {
        if (setting.value.empty() || setting.value == "none") return;
        if (applies && !done.empty()) applied.push_back(std::move(done));
        if (!applies && setting.source != "built-in") shown.emplace_back(name);
    };
    sort("binding", policy.bind, policy.bind_applies, binding_applied(nodes));
    sort("rank order", policy.order, policy.order_applies, order.applied ? "rank order" : "");
    std::vector<std::string> notes;
    if (!applied.empty()) notes.push_back("applied: " + join(applied, " and "));
    if (policy.mode.value == "observe" && !shown.empty())
        notes.push_back(join(shown, " and ") + (shown.size() == 1 ? " is" : " are") +
                        " shown, not applied: observe does only what you ask for yourself");
    return notes;
}

void add_policy(Block& block, const PolicyValues& policy, const OrderView& order, const std::vector<const NodePlan*>& nodes, Level level) {
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
    for (const std::string& note : applied_notes(policy, order, nodes)) block.add("note", note);
}

void add_notes(Block& block, const std::vector<std::string>& kept, const std::vector<std::string>& notes) {
    for (const std::string& line : kept) block.add("kept", line);
    for (const std::string& line : notes) block.add("note", line);
}

}  // namespace

std::vector<std::string> head_lines(const JobPlan& plan, Level level) {
    if (level == Level::none) return {};
    Block block(head_of(plan.job, plan.policy));
    add_policy(block, plan.policy, plan.order, {&plan.node}, level);
    add_pacing_plan(block, plan.policy);
    add_fabric(block, plan.fabric, plan.order);
    add_order(block, plan.order, level);
    add_nodes(block, {&plan.node}, level);
    add_notes(block, plan.kept, plan.notes);
    for (const std::string& note : plan.node.notes) block.add("note", note);
    return block.take();
}

std::vector<std::string> node_lines(const NodePlan& node) {
    std::vector<std::string> lines;
    for (const std::string& note : node.notes) {
        std::vector<std::string> paragraph = Block("paced-fabric: " + node.node + ": " + note).take();
        std::move(paragraph.begin(), paragraph.end(), std::back_inserter(lines));
    }
    return lines;
}

std::vector<std::string> head_lines(const Report& report, Level level) {
    if (level == Level::none) return {};
    Block block(head_of(report.job, report.policy));
    std::vector<const NodePlan*> nodes;
    for (const NodePlan& node : report.plan.nodes) nodes.push_back(&node);
    add_policy(block, report.policy, report.plan.order, nodes, level);
    add_pacing_plan(block, report.policy);
    add_fabric(block, report.plan.fabric, report.plan.order);
    add_order(block, report.plan.order, level);
    add_nodes(block, std::move(nodes), level);
    add_notes(block, report.plan.kept, report.plan.notes);
    // Of the first node, and of who shares them; what the others have to tell besides stands in report_lines().
    if (report.plan.nodes.empty()) return block.take();
    for (const std::string& note : report.plan.nodes.front().notes) {
        std::vector<std::string> who;
        for (const NodePlan& node : report.plan.nodes)
            if (std::find(node.notes.begin(), node.notes.end(), note) != node.notes.end()) who.push_back(node.node);
        block.add("note", shortened(compress_hosts(who), 60) + ": " + note);
    }
    return block.take();
}

}  // namespace paced::report
