// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/prepare_step.h"

#include <climits>

#include <unistd.h>

#include "launcher/bind_rank.h"
#include "launcher/run_plan.h"
#include "plugin/step/fabric_lookup.h"
#include "plugin/step/leader.h"
#include "plugin/step/preload.h"
#include "plugin/step/report_file.h"
#include "plugin/step_environment.h"
#include "policy/base/text.h"
#include "policy/io/run_folder.h"
#include "policy/report/job_plan.h"
#include "policy/report/text.h"

namespace paced::launcher {

namespace {

std::string own_folder() {
    char path[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
    const std::string program(path, length > 0 ? static_cast<std::size_t>(length) : 0);
    return program.substr(0, program.rfind('/'));
}

std::string first_readable(std::initializer_list<std::string> candidates, int access_mode) {
    for (const std::string& candidate : candidates) {
        char real[PATH_MAX];
        if (access(candidate.c_str(), access_mode) == 0 && realpath(candidate.c_str(), real) != nullptr) return real;
    }
    return {};
}

// Several nodes need a name, a meeting point and a key that all of them know. What is missing, or nothing.
std::string why_alone(const Launch& launch, const std::string& leader_host, const std::string& key) {
    if (launch.session.empty()) return "the launcher names no job that all nodes know";
    if (leader_host.empty()) return "which node is the first is not known; --leader=HOST names it";
    if (key.empty()) return "the nodes have no secret in common";
    return {};
}

}  // namespace

Programs find_programs() {
    const std::string here = own_folder();
    const auto program = [&](const std::string& name) {
        return first_readable({here + '/' + name, here + "/../libexec/paced-fabric/" + name, here + "/../lib/paced-fabric/" + name, PACED_FABRIC_LIBDIR "/paced-fabric/" + name}, X_OK);
    };
    return {first_readable({here + "/../lib/libpaced_fabric.so", here + "/../lib/paced-fabric/libpaced_fabric.so", PACED_FABRIC_LIBDIR "/paced-fabric/libpaced_fabric.so"}, R_OK),
            program("paced-fabric-helper"), program("paced-fabric-probe")};
}

Preparation prepare_step(const Launch& launch, const config::Effective& effective, const Programs& programs, const Environment& environment,
                         const PrepareOptions& options) {
    Preparation made;
    if (effective.mode.value == config::Mode::off) return made;
    if (effective.mode.value == config::Mode::explain) {
        if (launch.rank == 0) {
            step::StepSetup first;
            first.stamp = launch.stamp;
            first.leader = "self";
            made.plan = head_lines(make_run_plan(launch, effective, first, programs.probe, environment), report::Level::full);
        }
        return made;
    }
    const auto without_us = [&](const std::string& reason) {
        made = {};
        made.reason = reason;
        return made;
    };
    if (programs.library.empty()) return without_us("libpaced_fabric.so was not found beside the program");

    step::StepSetup setup;
    setup.stamp = launch.stamp;
    setup.node = launch.node;
    setup.node_count = launch.node_count;
    setup.reporter = programs.reporter;
    const std::string leader_host = options.leader.empty() ? launch.leader_host : options.leader;
    const std::string common_key = io::key_from_secret(launch.secret);
    std::string alone;
    if (launch.node_count > 1) {
        alone = why_alone(launch, leader_host, common_key);
        if (alone.empty()) {
            if (auto leader = step::find_leader(leader_host, launch.node))
                setup.leader = *leader;
            else
                alone = leader.error().message;
        }
        if (!alone.empty()) made.log.push_back("the report is of this node alone: " + alone);
    } else {
        setup.leader = "self";
    }

    io::RunFolderRequest request;
    request.base = options.run_base;
    request.local_rank = launch.local_rank;
    request.session = setup.session = launch.session.empty() ? io::session_name("node-" + launch.stamp) : launch.session;
    request.key = common_key.empty() ? io::random_key() : common_key;
    const auto folder = io::join_run_folder(request);
    if (!folder) return without_us(folder.error().message);
    if (folder->first) io::sweep_dead_run_folders(options.run_base);
    setup.run_dir = folder->path;
    setup.key_file = folder->key_file;
    setup.plan_file = folder->path + "/plan.json";
    if (launch.node_count > 1 && effective.mode.value == config::Mode::pace)
        if (const auto fabric = step::read_fabric("", environment)) setup.leaf = step::leaf_of(*fabric, launch.node);
    Preparation binding;
    bind_rank(launch, effective, programs.probe, environment, binding);
    if (folder->first) {
        // One rank stands for those of its node.
        report::JobPlan plan = make_run_plan(launch, effective, setup, programs.probe, environment);
        plan.node.applied = binding.bound;
        if (auto problem = step::replace_file(setup.plan_file, to_json(plan), 0600))
            made.log.push_back(*std::move(problem));
    }

    const auto library = step::preloadable_path(programs.library, folder->path);
    if (!library) return without_us(library.error().message);

    made.set = variables(setup, effective);
    made.set.emplace_back("LD_PRELOAD", step::prepend_preload(*library, environment.get_or("LD_PRELOAD", "")));
    made.unset.push_back("SLURM_PACED_FABRIC_KEY");  // it is in the key file now
    // The order was for the mpirun that started this rank, not for one that the program starts.
    if (const auto order = environment.get(step::order)) {
        made.unset.emplace_back(step::order);
        if (!order->starts_with("kept: ")) made.unset.insert(made.unset.end(), {step::rank_binding, "OMPI_MCA_rmaps", "OMPI_MCA_orte_default_hostfile",
                                                                                   "OMPI_MCA_hwloc_base_binding_policy"});
    }
    made.set.insert(made.set.end(), binding.set.begin(), binding.set.end());
    made.log.insert(made.log.end(), binding.log.begin(), binding.log.end());
    made.cpus = binding.cpus;
    made.bound = std::move(binding.bound);
    return made;
}

}  // namespace paced::launcher
