// SPDX-License-Identifier: BSD-3-Clause
// Two bindings are worked out. One by local id, for tasks that see every GPU of the step and take the one that has their
// number; and one by GPU, for tasks that Slurm gives GPUs of their own. Which of them holds is known in the task alone.
#include "plugin/helper/step_binding.h"

#include <algorithm>
#include <map>
#include <optional>

#include "plugin/step/settled.h"
#include "plugin/step/slurm_gpus.h"
#include "policy/base/text.h"
#include "policy/config/placement_applies.h"
#include "policy/io/link_states.h"
#include "policy/io/node_network.h"
#include "policy/placement/binding.h"
#include "policy/placement/library_variables.h"
#include "policy/placement/visible_devices.h"
#include "policy/report/plan_views.h"
#include "policy/report/ranges.h"

namespace paced::helper {

namespace {

using placement::NodeBinding;
using topology::GpuIndex;

class Binder {
public:
    Binder(const Request& request, const Environment& environment, const config::Effective& effective, const topology::NodeTopology& node)
        : request_(request), environment_(environment), effective_(effective), node_(node),
          devices_(placement::visible_devices(node, environment, step::slurm_gives_gpus(environment))) {}

    StepBinding bind() {
        const config::Bind bind = effective_.bind.value;
        const bool applies = config::placement_applies(effective_).bind;
        const bool wanted = bind != config::Bind::none && (applies || effective_.mode.value == config::Mode::explain);
        std::optional<NodeBinding> by_gpu, by_task;
        if (devices_.known() && !devices_.gpus.empty()) by_gpu = bind_each_gpu();
        const std::string reason = by_gpu ? why_not_by_task() : why_nothing();
        if (by_gpu && reason.empty()) by_task = bind_each_task();
        found_.plan = report::node_view(node_, by_task && bind != config::Bind::none ? *by_task : by_gpu ? *by_gpu : placement::bind_tasks(node_));
        if (!by_task || bind == config::Bind::none)
            for (report::Binding& row : found_.plan.bindings) row.task = -1;
        if (node_.gpus.empty() || !wanted) return std::move(found_);
        if (!reason.empty()) found_.plan.notes.push_back(reason);
        if (by_gpu && applies) {
            add_variables(*by_gpu, by_task);
        }
        if (by_gpu && bind == config::Bind::gpu_nic_cpu) add_cpus(*by_gpu, by_task, applies);
        found_.plan.applied_to_own_gpu = !by_task && !found_.plan.applied.empty();
        if (!found_.lines.empty()) add_sees();
        return std::move(found_);
    }

private:
    void add(std::string_view kind, std::string value) { found_.lines.emplace_back(kind, std::move(value)); }

    void applied(std::string_view name) {
        std::vector<std::string>& names = found_.plan.applied;
        if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
    }

    std::string why_nothing() const {
        if (!devices_.known()) return "no task is bound: " + devices_.doubt;
        return "no task is bound: " + (devices_.source.empty() ? "there is no GPU" : devices_.source + " shows it no GPU");
    }

    std::string why_not_by_task() const {
        if (!devices_.no_position.empty()) return "a task is bound only if Slurm gives it a device of its own: " + devices_.no_position;
        const auto gpus = static_cast<long long>(devices_.gpus.size());
        if (request_.local_tasks >= gpus) return {};
        return count_of(request_.local_tasks, "task") + " for " + count_of(gpus, "GPU") +
               ": which one a task uses is not known, so one that sees them all is not bound; one that Slurm gave its own is";
    }

    NodeBinding bind_each_gpu() const {
        placement::BindingRequest request;
        request.visible.emplace();
        for (GpuIndex gpu : devices_.gpus)
            if (std::find(request.visible->begin(), request.visible->end(), gpu) == request.visible->end()) request.visible->push_back(gpu);
        request.by_position = true;
        return placement::bind_tasks(node_, request);
    }

    NodeBinding bind_each_task() const {
        placement::BindingRequest request;
        request.tasks = request_.local_tasks;
        request.visible = devices_.gpus;
        request.by_position = true;
        return placement::bind_tasks(node_, request);
    }

    void add_sees() {
        for (const placement::DeviceVariable& variable : devices_.variables) add("sees", variable.name + (variable.value ? '=' + *variable.value : ""));
    }

    // Asked once for each variable: one of them takes a file.
    bool is_settled(std::string_view name) {
        const auto known = settled_.find(name);
        if (known != settled_.end()) return known->second;
        return settled_.emplace(name, step::is_settled(name, environment_)).first->second;
    }

    void add_variables(const NodeBinding& by_gpu, const std::optional<NodeBinding>& by_task) {
        const placement::NodeNetwork network = io::read_node_network(node_);
        const placement::NodeVariables of_gpus = placement::variables_for(node_, by_gpu, network);
        for (const placement::DeviceVariable& variable : devices_.variables) {
            for (const placement::DeviceEntry& entry : variable.entries) {
                const std::string device = variable.name + '=' + entry.text;
                add("gpu", device);  // known, whatever there is to set
                for (std::size_t i = 0; i < by_gpu.tasks.size(); ++i) {
                    if (by_gpu.tasks[i].gpu != entry.gpu) continue;
                    for (const auto& [name, value] : of_gpus.of_tasks[i])
                        if (!is_settled(name)) {
                            add("gpu", device + ' ' + std::string(name) + '=' + value);
                            applied(name);
                        }
                }
            }
        }
        placement::NodeVariables of_tasks = of_gpus;
        if (by_task) {
            of_tasks = placement::variables_for(node_, *by_task, network);
            // Many tasks, few NICs: each value once, with the tasks that get it.
            std::map<std::string, std::vector<int>> tasks;
            for (std::size_t i = 0; i < by_task->tasks.size(); ++i)
                for (const auto& [name, value] : of_tasks.of_tasks[i])
                    if (!is_settled(name)) {
                        tasks[std::string(name) + '=' + value].push_back(by_task->tasks[i].task);
                        applied(name);
                    }
            for (const auto& [assignment, ids] : tasks) add("task", report::compress_numbers(ids, ids.size()) + ' ' + assignment);
        }
        for (const std::string& reason : of_tasks.reasons) found_.plan.notes.push_back(reason);
        if (const auto ucx = settled_.find("UCX_NET_DEVICES"); ucx != settled_.end() && ucx->second && !environment_.get("UCX_NET_DEVICES"))
            found_.kept.push_back("UCX_NET_DEVICES stays as " + std::string(step::ucx_conf) + " has it");
    }

    void add_cpus(const NodeBinding& by_gpu, const std::optional<NodeBinding>& by_task, bool applies) {
        if (const std::string who = step::cores_bound_by(environment_); !who.empty()) {
            found_.plan.notes.push_back("the tasks' cores stay as they are: bound by " + who);
            return;
        }
        if (!applies) return;
        for (const placement::DeviceVariable& variable : devices_.variables)
            for (const placement::DeviceEntry& entry : variable.entries)
                for (const placement::TaskBinding& task : by_gpu.tasks)
                    if (task.gpu == entry.gpu && !task.cpus.empty()) {
                        add("gpu-cpus", variable.name + '=' + entry.text + ' ' + to_string(task.cpus));
                        applied("cores");
                    }
        if (!by_task) return;
        std::map<std::string, std::vector<int>> tasks;
        for (const placement::TaskBinding& task : by_task->tasks)
            if (!task.cpus.empty()) tasks[to_string(task.cpus)].push_back(task.task);
        for (const auto& [cpus, ids] : tasks) {
            add("cpus", report::compress_numbers(ids, ids.size()) + ' ' + cpus);
            applied("cores");
        }
    }

    const Request& request_;
    const Environment& environment_;
    const config::Effective& effective_;
    const topology::NodeTopology& node_;
    placement::VisibleDevices devices_;
    std::map<std::string_view, bool> settled_;
    StepBinding found_;
};

}  // namespace

StepBinding bind_step(const Request& request, const Environment& environment, const config::Effective& effective, topology::NodeTopology node) {
    // The snapshot is as old as the boot. A file that describes the node is believed.
    if (request.node_topology.empty()) io::refresh_link_states(node);
    return Binder(request, environment, effective, node).bind();
}

}  // namespace paced::helper
