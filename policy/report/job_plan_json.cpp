// SPDX-License-Identifier: BSD-3-Clause
#include "policy/report/job_plan.h"
#include "policy/report/json_fields.h"

namespace paced::report {

namespace fields {

namespace {

Json setting(const Setting& setting) { return {{"value", setting.value}, {"source", setting.source}}; }

void read_setting(const Json& json, const char* key, Setting& setting) {
    const auto found = json.find(key);
    if (found == json.end()) return;
    read(*found, "value", setting.value);
    read(*found, "source", setting.source);
}

Json device(const Device& device) {
    Json json{{"pci", text_or_null(device.pci)}, {"name", text_or_null(device.name)}};
    if (!device.label.empty()) json["label"] = device.label;
    if (!device.more_names.empty()) json["more_names"] = device.more_names;
    return json;
}

Device device(const Json& json) {
    Device device;
    read(json, "pci", device.pci);
    read(json, "name", device.name);
    read(json, "label", device.label);
    read(json, "more_names", device.more_names);
    return device;
}

Json binding(const Binding& binding) {
    const auto devices = [](const std::vector<Device>& list) { return array_of(list, [](const Device& one) { return device(one); }); };
    Json gpu = device(binding.device);
    gpu["index"] = binding.gpu;
    if (binding.parts > 1) gpu["parts"] = binding.parts;
    Json json{{"task", binding.task >= 0 ? Json(binding.task) : Json(nullptr)},
              {"gpu", std::move(gpu)},
              {"nics", devices(binding.nics)},
              {"candidates", devices(binding.candidates)},
              {"relation", text_or_null(binding.relation)},
              {"cpus", binding.cpus},
              {"numa", or_null(binding.numa)},
              {"reasons", binding.reasons}};
    if (binding.nic_down) json["nic_down"] = true;
    return json;
}

Binding binding(const Json& json) {
    Binding binding;
    read(json, "task", binding.task);
    if (const auto gpu = json.find("gpu"); gpu != json.end()) {
        binding.device = device(*gpu);
        read(*gpu, "index", binding.gpu);
        read(*gpu, "parts", binding.parts);
    }
    read_array(json, "nics", binding.nics, [](const Json& one) { return device(one); });
    read_array(json, "candidates", binding.candidates, [](const Json& one) { return device(one); });
    read(json, "nic_down", binding.nic_down);
    read(json, "relation", binding.relation);
    read(json, "cpus", binding.cpus);
    read(json, "numa", binding.numa);
    read(json, "reasons", binding.reasons);
    return binding;
}

}  // namespace

Json job(const JobInfo& job) {
    return {{"id", job.id},       {"step", job.step}, {"stamp", job.stamp}, {"user", text_or_null(job.user)}, {"name", text_or_null(job.name)},
            {"tasks", job.tasks}, {"hosts", job.hosts}};
}

JobInfo job(const Json& json) {
    JobInfo job;
    read(json, "id", job.id);
    read(json, "step", job.step);
    read(json, "stamp", job.stamp);
    read(json, "user", job.user);
    read(json, "name", job.name);
    read(json, "tasks", job.tasks);
    read(json, "hosts", job.hosts);
    return job;
}

Json policy(const PolicyValues& policy) {
    Json json{{"mode", setting(policy.mode)},     {"mode_run", policy.mode_run},
            {"order", setting(policy.order)},   {"bind", setting(policy.bind)},
            {"bind_applies", policy.bind_applies}, {"order_applies", policy.order_applies},
            {"window", setting(policy.window)}, {"report", setting(policy.report)},
            {"named", text_or_null(policy.named_policy)}, {"notes", policy.notes}};
    if (policy.longest_delay.empty()) return json;
    json["pacing"] = setting(policy.pacing);
    json["longest_delay"] = policy.longest_delay;
    json["exploration_percent"] = rounded(policy.exploration_percent, 4);
    return json;
}

PolicyValues policy(const Json& json) {
    PolicyValues policy;
    read_setting(json, "mode", policy.mode);
    read(json, "mode_run", policy.mode_run);
    read_setting(json, "order", policy.order);
    read_setting(json, "bind", policy.bind);
    read(json, "bind_applies", policy.bind_applies);
    read(json, "order_applies", policy.order_applies);
    read_setting(json, "window", policy.window);
    read_setting(json, "report", policy.report);
    read(json, "named", policy.named_policy);
    read(json, "notes", policy.notes);
    read_setting(json, "pacing", policy.pacing);
    read(json, "longest_delay", policy.longest_delay);
    read(json, "exploration_percent", policy.exploration_percent);
    return policy;
}

Json fabric(const FabricView& fabric) {
    return {{"source", text_or_null(fabric.source)},
            {"problem", text_or_null(fabric.problem)},
            {"leaves", array_of(fabric.leaves, [](const Leaf& leaf) { return Json{{"name", leaf.name}, {"hosts", leaf.hosts}}; })},
            {"unknown", fabric.unknown},
            {"ring_crossings", fabric.crossings},
            {"ring_crossings_least", fabric.crossings_least}};
}

FabricView fabric(const Json& json) {
    FabricView fabric;
    read(json, "source", fabric.source);
    read(json, "problem", fabric.problem);
    read_array(json, "leaves", fabric.leaves, [](const Json& one) {
        Leaf leaf;
        read(one, "name", leaf.name);
        read(one, "hosts", leaf.hosts);
        return leaf;
    });
    read(json, "unknown", fabric.unknown);
    read(json, "ring_crossings", fabric.crossings);
    read(json, "ring_crossings_least", fabric.crossings_least);
    return fabric;
}

Json order(const OrderView& order) {
    const auto cost = [](const OrderCost& one) {
        return Json{{"level", one.level}, {"chosen", one.chosen}, {"submitted", one.submitted}, {"lower_bound", one.lower_bound}};
    };
    return {{"pattern", text_or_null(order.pattern)},
            {"source", text_or_null(order.source)},
            {"hosts", order.hosts},
            {"levels", array_of(order.levels, cost)},
            {"leaves", order.leaves},
            {"improves", order.improves},
            {"applied", order.applied},
            {"kept_because", text_or_null(order.kept_because)},
            {"reasons", order.reasons}};
}

OrderView order(const Json& json) {
    OrderView order;
    read(json, "pattern", order.pattern);
    read(json, "source", order.source);
    read(json, "hosts", order.hosts);
    read_array(json, "levels", order.levels, [](const Json& one) {
        OrderCost cost;
        read(one, "level", cost.level);
        read(one, "chosen", cost.chosen);
        read(one, "submitted", cost.submitted);
        read(one, "lower_bound", cost.lower_bound);
        return cost;
    });
    read(json, "leaves", order.leaves);
    read(json, "improves", order.improves);
    read(json, "applied", order.applied);
    read(json, "kept_because", order.kept_because);
    read(json, "reasons", order.reasons);
    return order;
}

Json node(const NodePlan& node) {
    return {{"node", node.node},
            {"index", node.index},
            {"tasks", node.local_tasks},
            {"bindings", array_of(node.bindings, [](const Binding& one) { return binding(one); })},
            {"remark", text_or_null(node.remark)},
            {"notes", node.notes},
            {"applied", node.applied},
            {"applied_to_own_gpu", node.applied_to_own_gpu}};
}

NodePlan node(const Json& json) {
    NodePlan node;
    read(json, "node", node.node);
    read(json, "index", node.index);
    read(json, "tasks", node.local_tasks);
    read_array(json, "bindings", node.bindings, [](const Json& one) { return binding(one); });
    read(json, "remark", node.remark);
    read(json, "notes", node.notes);
    read(json, "applied", node.applied);
    read(json, "applied_to_own_gpu", node.applied_to_own_gpu);
    return node;
}

}  // namespace fields

std::string to_json(const Binding& binding) { return fields::binding(binding).dump(-1, ' ', false, fields::Json::error_handler_t::replace); }

std::string to_json(const JobPlan& plan) {
    using namespace fields;
    return dump({{"schema", "paced-fabric-plan/1"},
                 {"job", job(plan.job)},
                 {"policy", policy(plan.policy)},
                 {"fabric", fabric(plan.fabric)},
                 {"order", order(plan.order)},
                 {"node", node(plan.node)},
                 {"kept", plan.kept},
                 {"notes", plan.notes},
                 {"report_path", text_or_null(plan.report_path)}});
}

Result<JobPlan> parse_job_plan(std::string_view text) {
    using namespace fields;
    const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    const auto schema_found = json.is_object() ? json.find("schema") : json.end();
    if (schema_found == json.end() || *schema_found != "paced-fabric-plan/1") return fail("plan.json is not a plan of ours");
    try {
        JobPlan plan;
        if (const auto found = json.find("job"); found != json.end()) plan.job = job(*found);
        if (const auto found = json.find("policy"); found != json.end()) plan.policy = policy(*found);
        if (const auto found = json.find("fabric"); found != json.end()) plan.fabric = fabric(*found);
        if (const auto found = json.find("order"); found != json.end()) plan.order = order(*found);
        if (const auto found = json.find("node"); found != json.end()) plan.node = node(*found);
        read(json, "kept", plan.kept);
        read(json, "notes", plan.notes);
        read(json, "report_path", plan.report_path);
        return plan;
    } catch (const Json::exception& error) {
        return fail(std::string("plan.json: ") + error.what());
    }
}

}  // namespace paced::report
