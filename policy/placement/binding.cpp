// SPDX-License-Identifier: BSD-3-Clause
#include "policy/placement/binding.h"

#include <algorithm>
#include <iterator>

#include "policy/placement/binding/binding_reasons.h"
#include "policy/placement/binding/gpu_choice.h"
#include "policy/placement/binding/near_nics.h"
#include "policy/placement/binding/nic_shares.h"

namespace paced::placement {

namespace {

using namespace paced::topology;

// The GPUs that may be used. By position: as they stand; else each once, in the order of comes_before.
std::vector<GpuIndex> usable_gpus(const NodeTopology& node, const BindingRequest& request) {
    std::vector<GpuIndex> gpus;
    if (request.visible) {
        gpus = *request.visible;
    } else {
        for (std::size_t i = 0; i < node.gpus.size(); ++i) gpus.push_back(static_cast<GpuIndex>(i));
    }
    if (request.by_position) return gpus;
    std::stable_sort(gpus.begin(), gpus.end());
    gpus.erase(std::unique(gpus.begin(), gpus.end()), gpus.end());
    std::stable_sort(gpus.begin(), gpus.end(), [&](GpuIndex a, GpuIndex b) { return comes_before(node.gpu(a), node.gpu(b)); });
    return gpus;
}

// The local CPUs with all threads of their cores, as far as they may be used.
CpuSet near_cpus(const NodeTopology& node, const CpuSet& local, const CpuSet& usable) {
    CpuSet cores;
    for (const Pu& pu : node.pus)
        if (local.contains(pu.cpu)) cores.add(pu.core);
    CpuSet all = local;
    for (const Pu& pu : node.pus)
        if (cores.contains(pu.core)) all.add(pu.cpu);
    return all & usable;
}

// others: what there is where the near ones are not known, or may not be used.
void choose_cpus(const NodeTopology& node, const CpuSet& usable, const CpuSet& others, TaskBinding& task) {
    const Place& place = node.gpu(task.gpu).place;
    task.numa = place.numa;
    task.cpus = near_cpus(node, place.local_cpus, usable);
    if (place.local_cpus.empty()) {
        task.cpus = others;
        task.reasons.push_back(std::string("which CPUs are near this GPU is not known") + (others.empty() ? "" : ": all that may be used"));
    } else if (task.cpus.empty()) {
        task.cpus = others;
        task.reasons.push_back("none of the CPUs near this GPU (" + to_string(place.local_cpus) + ") may be used: all others instead");
    }
}

}  // namespace

NodeBinding bind_tasks(const NodeTopology& node, const BindingRequest& request) {
    NodeBinding binding;
    const std::vector<NicIndex> eligible = nics_of_best_class(node);
    std::vector<NearNics> near;
    for (std::size_t i = 0; i < node.gpus.size(); ++i) near.push_back(near_nics(node, static_cast<GpuIndex>(i), eligible));

    const std::vector<GpuIndex> may_use = usable_gpus(node, request);
    const auto most = request.gpus > 0 ? static_cast<std::size_t>(request.gpus) : may_use.size();
    const std::vector<GpuIndex> gpus = best_gpus(node, near, may_use, most);
    const std::size_t tasks = gpus.empty() ? 0 : request.tasks > 0 ? static_cast<std::size_t>(request.tasks) : gpus.size();
    std::vector<GpuIndex> gpu_of;
    if (request.by_position)
        for (std::size_t task = 0; task < tasks; ++task) gpu_of.push_back(gpus[task % gpus.size()]);
    else
        gpu_of = gpus_of_tasks(node, near, gpus, tasks);

    std::vector<std::vector<NicIndex>> usable;
    for (GpuIndex gpu : gpu_of) {
        const NearNics& its = near[to_index(gpu)];
        usable.push_back(its.nic_down() ? its.candidates : its.usable);  // a link that is down may come up again
    }
    const auto shares = share_nics(usable, node.nics.size());

    // An input without packages names only the CPUs that are near a device, and so not those that may stand in for them.
    const bool all_known = !node.packages.empty();
    const CpuSet usable_cpus = !request.cpus ? node.cpus : all_known ? *request.cpus & node.cpus : *request.cpus;
    const CpuSet others = request.cpus || all_known ? usable_cpus : CpuSet();
    for (std::size_t i = 0; i < tasks; ++i) {
        const NearNics& its = near[to_index(gpu_of[i])];
        TaskBinding& task = binding.tasks.emplace_back();
        task.task = static_cast<int>(i);
        task.gpu = gpu_of[i];
        task.nics = shares[i];
        task.candidates = its.candidates;
        task.relation = its.relation;
        task.nic_down = its.nic_down();
        choose_cpus(node, usable_cpus, others, task);
    }
    const Choices choices{node, near, may_use, request.by_position};
    for (TaskBinding& task : binding.tasks) {
        explain_gpu(choices, binding.tasks, task);
        explain_nics(choices, binding.tasks, task);
    }
    binding.warnings = nic_warnings(node, eligible, near);
    return binding;
}

}  // namespace paced::placement
