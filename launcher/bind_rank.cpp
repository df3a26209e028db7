// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/bind_rank.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <vector>

#include <sched.h>

#include "plugin/step/node_view.h"
#include "plugin/step/settled.h"
#include "plugin/step/slurm_gpus.h"
#include "plugin/step_environment.h"
#include "policy/base/text.h"
#include "policy/config/placement_applies.h"
#include "policy/io/link_states.h"
#include "policy/io/node_network.h"
#include "policy/placement/binding.h"
#include "policy/placement/library_variables.h"
#include "policy/placement/visible_devices.h"

namespace paced::launcher {

namespace {

constexpr std::size_t cpus_max = topology::CpuSet::limit;

// The kernel's set for this process, as large as any machine's; empty where it does not tell.
std::vector<unsigned long> own_mask() {
    std::vector<unsigned long> words(cpus_max / (8 * sizeof(unsigned long)));
    if (sched_getaffinity(0, words.size() * sizeof words[0], reinterpret_cast<cpu_set_t*>(words.data())) != 0) words.clear();
    return words;
}

topology::CpuSet set_of(const std::vector<unsigned long>& words) {
    constexpr std::size_t bits = 8 * sizeof(unsigned long);
    topology::CpuSet cpus;
    for (std::size_t i = 0; i < words.size(); ++i)
        for (std::size_t bit = 0; words[i] != 0 && bit < bits; ++bit)
            if ((words[i] >> bit & 1U) != 0) cpus.add(static_cast<int>(i * bits + bit));
    return cpus;
}

// Somebody has chosen this rank's cores already: it has fewer than the step, or the node, has.
bool is_bound(const topology::NodeTopology& node, const topology::CpuSet& own, const Environment& environment) {
    const auto of_step = parse_integer(environment.get_or("SLURM_CPUS_ON_NODE", ""));
    return own.count() < (of_step ? *of_step : node.cpus.count());
}

// Which GPU the rank uses is known if it has one of its own, or if the ranks of the node take theirs by local number.
std::string why_no_gpu(const placement::VisibleDevices& devices, const Launch& launch) {
    if (!devices.known()) return devices.doubt;
    if (devices.gpus.empty()) return devices.source.empty() ? "there is no GPU" : devices.source + " shows no GPU";
    if (!devices.no_position.empty()) return devices.no_position;
    const auto gpus = static_cast<long long>(devices.gpus.size());
    if (launch.local_tasks == 0) return "how many ranks this node has is not known";
    if (launch.local_tasks < gpus) return count_of(launch.local_tasks, "rank") + " for " + count_of(gpus, "GPU") + ", which one a rank uses is not known";
    return {};
}

// Where Open MPI 4 would have put this rank: cores one by one, NUMA nodes in turn. Empty where there are fewer cores than
// ranks: it does not bind then.
topology::CpuSet as_mpirun_would(const topology::NodeTopology& node, const topology::CpuSet& own, const Launch& launch, std::string_view binding) {
    std::map<int, topology::CpuSet> places;
    std::set<int> cores;
    for (const topology::Pu& pu : node.pus) {
        if (!own.contains(pu.cpu)) continue;
        cores.insert(pu.core);
        places[binding == "core" ? pu.core : std::max(pu.numa, 0)].add(pu.cpu);
    }
    if (places.empty() || launch.local_tasks < 1 || cores.size() < static_cast<std::size_t>(launch.local_tasks)) return {};
    return std::next(places.begin(), launch.local_rank % static_cast<int>(places.size()))->second;
}

}  // namespace

void bind_rank(const Launch& launch, const config::Effective& effective, const std::string& probe, const Environment& environment, Preparation& made) {
    const std::string as_mpirun = environment.get_or(step::rank_binding, "");
    const bool applies = config::placement_applies(effective).bind;
    if (!applies && as_mpirun.empty()) return;
    auto node = step::node_topology({{}, probe, {}});
    if (!node) return;  // the plan says so
    const topology::CpuSet own = set_of(own_mask());
    if (!as_mpirun.empty()) made.cpus = as_mpirun_would(*node, own, launch, as_mpirun);
    if (!applies || node->gpus.empty()) return;
    io::refresh_link_states(*node);
    const placement::VisibleDevices devices = placement::visible_devices(*node, environment, step::slurm_gives_gpus(environment));
    if (const std::string why = why_no_gpu(devices, launch); !why.empty()) {
        made.log.push_back("no rank is bound: " + why);
        return;
    }
    placement::BindingRequest request;
    request.tasks = launch.local_tasks;
    request.visible = devices.gpus;
    request.by_position = true;
    const placement::NodeBinding binding = placement::bind_tasks(*node, request);
    const auto rank = static_cast<std::size_t>(launch.local_rank);
    if (rank >= binding.tasks.size()) return;

    const placement::NodeVariables variables = placement::variables_for(*node, binding, io::read_node_network(*node));
    if (rank < variables.of_tasks.size())
        for (const auto& [name, value] : variables.of_tasks[rank])
            if (!step::is_settled(name, environment)) {
                made.set.emplace_back(name, value);
                made.bound.emplace_back(name);
            }
    made.log.insert(made.log.end(), variables.reasons.begin(), variables.reasons.end());

    if (effective.bind.value != config::Bind::gpu_nic_cpu) return;
    if (const std::string who = step::cores_bound_by(environment); !who.empty()) made.log.push_back("the ranks' cores stay as they are: bound by " + who);
    else if (is_bound(*node, own, environment)) made.log.push_back("the ranks' cores stay as they are: they are bound already");
    else if (!binding.tasks[rank].cpus.empty()) {
        made.cpus = binding.tasks[rank].cpus;
        made.bound.emplace_back("cores");
    }
}

void narrow_to(const topology::CpuSet& cpus) {
    if (cpus.empty()) return;
    constexpr std::size_t bits = 8 * sizeof(unsigned long);
    std::vector<unsigned long> words = own_mask();
    bool any = false;
    for (std::size_t i = 0; i < words.size(); ++i) {
        for (std::size_t bit = 0; bit < bits; ++bit)
            if (!cpus.contains(static_cast<int>(i * bits + bit))) words[i] &= ~(1UL << bit);
        any = any || words[i] != 0;
    }
    if (any) (void)sched_setaffinity(0, words.size() * sizeof words[0], reinterpret_cast<const cpu_set_t*>(words.data()));
}

}  // namespace paced::launcher
