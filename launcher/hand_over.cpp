// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/hand_over.h"

#include <algorithm>
#include <optional>

#include <unistd.h>

#include "plugin/step/fabric_lookup.h"
#include "plugin/step/report_file.h"
#include "plugin/step_environment.h"
#include "plugin/step_stamp.h"
#include "policy/base/text.h"
#include "policy/config/placement_applies.h"
#include "policy/io/process.h"
#include "policy/io/run_folder.h"
#include "policy/io/text_file.h"
#include "policy/placement/rank_order.h"
#include "policy/topology/host_list.h"

namespace paced::launcher {

namespace {

struct Chosen {
    std::vector<std::string> submitted, hosts;
    std::string kept_because;  // no better order, or none that is known
};

Chosen choose(std::vector<std::string> hosts, int tasks_per_node, const config::Order& order, const Environment& environment) {
    Chosen chosen;
    chosen.submitted = std::move(hosts);
    if (chosen.submitted.size() < 3) {
        chosen.kept_because = "fewer than 3 nodes have one order only";
        return chosen;
    }
    const auto fabric = step::read_fabric("", environment);
    if (!fabric) {
        chosen.kept_because = "switches are not known: " + fabric.error().message;
        return chosen;
    }
    placement::RankOrder found = placement::rank_order(*fabric, chosen.submitted, tasks_per_node, order);
    if (!found.improves) chosen.kept_because = found.reasons.empty() ? "no order of these nodes costs less" : found.reasons.front();
    else chosen.hosts = std::move(found.hosts);
    return chosen;
}

// "2(x4)" is 2 on each node; nullopt: not the same on all, or not known.
std::optional<int> uniform_tasks(const Environment& environment) {
    std::string text = environment.get_or("SLURM_TASKS_PER_NODE", "");
    if (text.find(',') != std::string::npos) return std::nullopt;
    const auto tasks = parse_integer(text.substr(0, text.find('(')));
    if (!tasks || *tasks < 1 || *tasks > 100'000) return std::nullopt;
    return static_cast<int>(*tasks);
}

// The user's and the site's own settings of Open MPI: "FILE (rmaps_base_mapping_policy)" where one places or binds ranks.
std::string placed_by_file(const std::string& mpirun, const Environment& environment) {
    const std::string folder = mpirun.substr(0, mpirun.rfind('/'));
    for (const std::string& path : {environment.get_or("HOME", "") + "/.openmpi/mca-params.conf", folder + "/../etc/openmpi-mca-params.conf",
                                    std::string("/etc/openmpi/openmpi-mca-params.conf")}) {
        const auto text = io::read_text_file(path, 1 << 20);
        if (!text) continue;
        for (std::string_view line : split(*text, '\n')) {
            const std::string_view name = trim(line.substr(0, line.find('=')));
            for (std::string_view start : {"rmaps", "hwloc_base_binding", "orte_rankfile", "orte_default_hostfile"})
                if (name.starts_with(start)) return path + " (" + std::string(name) + ')';
        }
    }
    return {};
}

// What of the environment places ranks, or empty.
std::string placed_by_environment(const Environment& environment) {
    for (const char* name : {"OMPI_MCA_rmaps", "OMPI_MCA_rmaps_base_mapping_policy", "OMPI_MCA_rmaps_base_ranking_policy", "OMPI_MCA_rmaps_rank_file_path",
                             "OMPI_MCA_orte_rankfile", "OMPI_MCA_orte_default_hostfile", "OMPI_MCA_rmaps_ppr_n_pernode", "OMPI_MCA_rmaps_base_cpus_per_proc", "OMPI_MCA_hwloc_base_binding_policy"})
        if (environment.get(name)) return name;
    return {};
}

std::string why_not_mpirun(const Words& command, const MpirunLine& line, const Environment& environment, std::optional<int> tasks, std::size_t nodes) {
    if (!line.kept_because.empty()) return line.kept_because;
    const std::string mpirun = real_path_of(command[0], environment.get_or("PATH", ""));
    if (const std::string where = placed_by_file(mpirun, environment); !where.empty()) return "ranks are placed by " + where;
    if (const std::string name = placed_by_environment(environment); !name.empty()) return "you place ranks yourself with " + name;
    if (environment.get("SLURM_STEP_ID")) return "mpirun was started within a step";
    if (!environment.get("SLURM_JOB_ID") || nodes == 0) return "the nodes are not known outside of a Slurm job";
    if (!tasks) return "the job has not the same number of tasks on each node (SLURM_TASKS_PER_NODE)";
    const auto all = static_cast<long long>(nodes) * *tasks;
    if (line.ranks && *line.ranks != all) return "mpirun starts " + count_of(*line.ranks, "rank") + ", the job has " + std::to_string(all);
    return {};
}

// The file in a run folder of ours, which lives as long as the process that becomes mpirun.
Result<std::string> write_host_file(const std::vector<std::string>& hosts, int tasks, const std::string& run_base) {
    const io::ProcessIdentity self = io::identify(getpid());
    io::RunFolderRequest request;
    request.base = run_base;
    request.session = "order-" + std::to_string(self.pid) + '-' + std::to_string(self.start_time);
    request.owner = self.pid;
    request.key = io::random_key();
    const auto folder = io::join_run_folder(request);
    if (!folder) return fail(folder.error().message);
    io::sweep_dead_run_folders(run_base);
    std::string text;
    for (const std::string& host : hosts)
        for (int task = 0; task < tasks; ++task) text += host + '\n';
    std::string path = folder->path + "/hosts";
    if (auto problem = step::replace_file(path, text, 0600)) return fail(*problem);
    return path;
}

void hand_to_mpirun(const config::Effective& effective, const Environment& environment, const std::string& run_base, HandOver& made) {
    const auto keep = [&](const std::string& why) {
        made.lines.push_back("the submitted order is kept: " + why);
        made.set.emplace_back(step::order, "kept: " + why);
    };
    std::vector<std::string> hosts = topology::expand_hosts(environment.get_or("SLURM_JOB_NODELIST", "")).hosts;
    const std::optional<int> tasks = uniform_tasks(environment);
    const MpirunLine line = parse_mpirun(made.command);
    if (const std::string why = why_not_mpirun(made.command, line, environment, tasks, hosts.size()); !why.empty()) return keep(why);
    const Chosen chosen = choose(std::move(hosts), *tasks, effective.order.value, environment);
    if (!chosen.kept_because.empty()) return keep(chosen.kept_because);
    const auto file = write_host_file(chosen.hosts, *tasks, run_base);
    if (!file) return keep(file.error().message);
    made.set.emplace_back("OMPI_MCA_rmaps", "seq");
    // With a sequence of hosts mpirun has no place to bind a rank to. What it does by default each rank does for itself: to a
    // core where it was not told how many ranks there are, or of two at most, else to a NUMA node.
    made.set.emplace_back("OMPI_MCA_hwloc_base_binding_policy", "none");
    if (!line.unbound) made.set.emplace_back(step::rank_binding, line.ranks.value_or(0) <= 2 ? "core" : "numa");
    made.set.emplace_back("OMPI_MCA_orte_default_hostfile", *file);
    made.set.emplace_back(step::order, topology::compress_hosts(chosen.hosts));
    made.lines.push_back("order for " + to_string(effective.order.value) + " handed to mpirun: " + topology::compress_hosts(chosen.hosts));
}

// Where the plugin prepared this step, srun has decided the order, once for all nodes: the task's rank is the node's place.
// Otherwise each node works the order out for itself, and all come to the same as long as their fabric files are the same.
std::optional<std::size_t> place_by_srun(const Environment& environment, std::size_t nodes) {
    const std::string stamp = environment.get_or(step::stamp, "");
    if (!stamp.starts_with("slurm:") || !step::stamp_holds(stamp.c_str())) return std::nullopt;
    const auto rank = parse_integer(environment.get_or("SLURM_PROCID", "")), tasks = parse_integer(environment.get_or("SLURM_STEP_NUM_TASKS", ""));
    if (!rank || !tasks || *tasks != static_cast<long long>(nodes) || *rank < 0 || *rank >= *tasks) return std::nullopt;
    return static_cast<std::size_t>(*rank);
}

void hand_to_torchrun(const config::Effective& effective, const Environment& environment, HandOver& made) {
    const TorchrunLine line = parse_torchrun(made.command);
    const auto keep = [&](const std::string& why) { made.lines.push_back("the submitted order is kept: " + why); };
    if (line.standalone || line.nodes.value_or("1") == "1") return;  // one node has one order
    const std::string backend = line.rendezvous.empty() ? environment.get_or("PET_RDZV_BACKEND", "static") : line.rendezvous;
    if (backend != "static") return keep("torchrun's rendezvous " + backend + " numbers the nodes by itself");
    const std::string list = environment.get_or(environment.get("SLURM_STEP_ID") ? "SLURM_STEP_NODELIST" : "SLURM_JOB_NODELIST", "");
    std::vector<std::string> hosts = topology::expand_hosts(list).hosts;
    if (hosts.empty()) return keep("the nodes are not known outside of a Slurm job");
    if (*line.nodes != std::to_string(hosts.size())) return keep("torchrun's --nnodes is " + *line.nodes + ", the job has " + count_of(static_cast<long long>(hosts.size()), "node"));
    const std::string node = environment.get_or("SLURMD_NODENAME", "");
    const auto place = std::find(hosts.begin(), hosts.end(), node);
    if (place == hosts.end()) return keep("this node is not one of the job's: SLURMD_NODENAME '" + node + "'");
    const auto submitted = static_cast<std::size_t>(place - hosts.begin());
    const std::optional<std::string> own = line.node_rank ? line.node_rank : environment.get("PET_NODE_RANK");
    // Who numbers the nodes in another way has an order of his own.
    if (own && *own != std::to_string(submitted)) return keep("node rank " + *own + " is not this node's place in the list of nodes, " + std::to_string(submitted));
    std::size_t rank = submitted;
    if (const auto by_srun = place_by_srun(environment, hosts.size())) {
        rank = *by_srun;
    } else {
        const Chosen chosen = choose(std::move(hosts), 1, effective.order.value, environment);
        if (!chosen.kept_because.empty()) return keep(chosen.kept_because);
        rank = static_cast<std::size_t>(std::find(chosen.hosts.begin(), chosen.hosts.end(), node) - chosen.hosts.begin());
    }
    if (line.node_rank) made.command = with_node_rank(std::move(made.command), line, rank);
    else made.set.emplace_back("PET_NODE_RANK", std::to_string(rank));
    made.lines.push_back("order for " + to_string(effective.order.value) + ": this node is number " + std::to_string(rank) + ", was " + std::to_string(submitted));
}

}  // namespace

HandOver hand_over(OuterKind kind, const Words& command, const config::Effective& effective, const Environment& environment, const std::string& run_base) {
    HandOver made;
    made.command = command;
    if (!config::placement_applies(effective).order) return made;
    if (kind == OuterKind::open_mpi) hand_to_mpirun(effective, environment, run_base, made);
    if (kind == OuterKind::torchrun) hand_to_torchrun(effective, environment, made);
    return made;
}

Words with_ranks_prepared(const Words& command, const std::string& paced, const Words& flags) {
    const MpirunLine line = parse_mpirun(command);
    if (line.program == 0 || paced.empty() || command[line.program] == "paced" || command[line.program].ends_with("/paced")) return command;
    if (std::find(command.begin(), command.end(), ":") != command.end()) return command;
    Words words(command.begin(), command.begin() + static_cast<std::ptrdiff_t>(line.program));
    words.insert(words.end(), {paced, "run"});
    words.insert(words.end(), flags.begin(), flags.end());
    words.emplace_back("--");
    words.insert(words.end(), command.begin() + static_cast<std::ptrdiff_t>(line.program), command.end());
    return words;
}

}  // namespace paced::launcher
