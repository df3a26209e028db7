// SPDX-License-Identifier: BSD-3-Clause
#include "policy/report/plan_views.h"

#include <utility>

#include "policy/config/placement_applies.h"
#include "policy/placement/fabric_summary.h"

namespace paced::report {

namespace {

std::string pci_of(const topology::Place& place) { return place.pci ? to_string(*place.pci) : std::string(); }

Device device_of(const topology::Nic& nic) {
    Device device{pci_of(nic.place), nic.name.empty() && !nic.netdevs.empty() ? nic.netdevs.front() : nic.name, {}, nic.more_names};
    if (nic.alias != device.name) device.label = nic.alias;
    return device;
}

template <class T>
Setting setting_of(const config::Sourced<T>& sourced) {
    return {to_string(sourced.value), sourced.source};
}

}  // namespace

NodePlan node_view(const topology::NodeTopology& node, const placement::NodeBinding& binding) {
    NodePlan plan;
    for (const placement::TaskBinding& task : binding.tasks) {
        const topology::Gpu& gpu = node.gpu(task.gpu);
        Binding row;
        row.task = task.task;
        row.gpu = static_cast<int>(to_index(task.gpu));
        row.device = {pci_of(gpu.place), gpu.name.empty() ? gpu.vendor : gpu.name};
        row.parts = gpu.partitions;
        for (topology::NicIndex nic : task.nics) row.nics.push_back(device_of(node.nic(nic)));
        for (topology::NicIndex candidate : task.candidates) row.candidates.push_back(device_of(node.nic(candidate)));
        row.nic_down = task.nic_down;
        if (task.relation) row.relation = to_string(*task.relation);
        row.cpus = to_string(task.cpus);
        row.numa = task.numa;
        row.reasons = task.reasons;
        plan.bindings.push_back(std::move(row));
    }
    if (binding.tasks.empty()) plan.remark = node.gpus.empty() ? "no GPUs, nothing to bind" : "no GPU of this node may be used, nothing to bind";
    plan.notes = binding.warnings;
    return plan;
}

FabricView fabric_view(const topology::FabricTopology& fabric, std::span<const std::string> hosts) {
    const placement::FabricSummary summary = placement::fabric_summary(fabric, hosts);
    FabricView view;
    view.source = fabric.origin;
    for (const placement::LeafGroup& group : summary.leaves) view.leaves.push_back({group.name, group.hosts});
    view.unknown = summary.unknown;
    view.crossings = summary.ring_crossings;
    view.crossings_least = summary.fewest_crossings;
    return view;
}

OrderView order_view(const placement::RankOrder& order, const config::Sourced<config::Order>& wish) {
    OrderView view;
    view.pattern = to_string(wish.value);
    view.source = wish.source;
    view.hosts = order.hosts;
    for (const placement::LevelCost& cost : order.levels) view.levels.push_back({cost.level, cost.chosen, cost.submitted, cost.lower_bound});
    view.leaves = order.leaves;
    view.improves = order.improves;
    view.reasons = order.reasons;
    if (!order.improves && wish.value.pattern != config::Order::Pattern::none)
        view.kept_because = order.reasons.empty() ? "no order of these nodes costs less" : order.reasons.front();
    return view;
}

PolicyValues policy_view(const config::Effective& effective, config::Mode run) {
    PolicyValues values;
    values.mode = setting_of(effective.mode);
    values.order = setting_of(effective.order);
    values.bind = setting_of(effective.bind);
    values.window = setting_of(effective.window);
    values.report = setting_of(effective.report);
    const config::PlacementApplies applies = config::placement_applies(effective);
    values.bind_applies = applies.bind;
    values.order_applies = applies.order;
    values.mode_run = to_string(run);
    if (run == config::Mode::pace) {
        values.pacing = {pacing_text(effective.pacing, effective.limits), effective.pacing.where.empty() ? "built-in" : effective.pacing.where.begin()->second.file};
        values.longest_delay = format_duration(longest_delay(effective));
        values.exploration_percent = tuning_within(effective.pacing, effective.limits).exploration_percent;
    }
    values.named_policy = effective.named_policy;
    values.notes = effective.notes;
    return values;
}

}  // namespace paced::report
