// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/launch.h"

#include <algorithm>
#include <array>

#include <fcntl.h>
#include <unistd.h>

#include "plugin/step_stamp.h"
#include "policy/base/text.h"
#include "policy/io/run_folder.h"
#include "policy/topology/host_list.h"

namespace paced::launcher {

namespace {

// The first of the variables that holds a number from 0 up.
int number(const Environment& environment, std::initializer_list<std::string_view> names, int fallback) {
    for (const std::string_view name : names) {
        const auto value = parse_integer(environment.get_or(name, ""));
        if (value && *value >= 0 && *value <= 100'000'000) return static_cast<int>(*value);
    }
    return fallback;
}

// "n[03-04,7]" begins with n03.
std::string first_host(const std::string& list) {
    const auto expanded = topology::expand_hosts(list);
    return expanded.hosts.empty() ? "" : expanded.hosts.front();
}

// "--control-port HOST:PORT" of a proxy's command line.
std::string control_port(pid_t proxy) {
    const std::string path = "/proc/" + std::to_string(proxy) + "/cmdline";
    const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return {};
    std::string text(16384, '\0');
    const ssize_t length = read(descriptor, text.data(), text.size());
    close(descriptor);
    text.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
    const auto words = split(text, '\0');
    const auto found = std::find(words.begin(), words.end(), "--control-port");
    return found == words.end() || found + 1 == words.end() ? "" : std::string(found[1]);
}

int nodes_for(int size, int local_size) { return local_size <= 0 ? 1 : std::max(1, (size + local_size - 1) / local_size); }

void read_torchrun(const Environment& environment, Launch& launch) {
    const std::string run = environment.get_or("TORCHELASTIC_RUN_ID", "");
    launch.launcher = Launcher::torchrun;
    launch.rank = number(environment, {"RANK"}, 0);
    launch.local_rank = number(environment, {"LOCAL_RANK"}, 0);
    launch.local_tasks = number(environment, {"LOCAL_WORLD_SIZE"}, 0);
    launch.node_count = number(environment, {"GROUP_WORLD_SIZE"}, nodes_for(number(environment, {"WORLD_SIZE"}, 1), number(environment, {"LOCAL_WORLD_SIZE"}, 1)));
    launch.leader_host = environment.get_or("MASTER_ADDR", "");
    launch.tasks = number(environment, {"WORLD_SIZE"}, 1);
    launch.stamp = "torch:" + run;
    // a run id is often "none", and a restart is another step
    launch.session = io::session_name("torch-" + run + '@' + launch.leader_host + ':' + environment.get_or("MASTER_PORT", "") + '#' +
                                      environment.get_or("TORCHELASTIC_RESTART_COUNT", "0"));
}

void read_open_mpi(const Environment& environment, Launch& launch) {
    launch.launcher = Launcher::open_mpi;
    launch.rank = number(environment, {"OMPI_COMM_WORLD_RANK"}, 0);
    launch.local_rank = number(environment, {"OMPI_COMM_WORLD_LOCAL_RANK"}, 0);
    const int size = launch.tasks = number(environment, {"OMPI_COMM_WORLD_SIZE"}, 1);
    const int local_size = number(environment, {"OMPI_COMM_WORLD_LOCAL_SIZE"}, size);
    launch.local_tasks = number(environment, {"OMPI_COMM_WORLD_LOCAL_SIZE"}, 0);
    // the variable counts the allocation, also nodes without a rank
    if (size > local_size && size > 1) launch.node_count = std::clamp(number(environment, {"OMPI_MCA_orte_num_nodes"}, nodes_for(size, local_size)), 2, size);
    if (const auto host = environment.get("PMIX_HOSTNAME"); host && !host->empty()) launch.node = *host;
    const std::string name_space = environment.get_or("PMIX_NAMESPACE", "");
    if (name_space.empty()) return;
    launch.stamp = "pmix:" + name_space;
    launch.session = io::session_name("ompi-" + name_space);
    launch.secret = environment.get_or("OMPI_MCA_orte_precondition_transports", "");
}

void read_hydra(const Environment& environment, const Surroundings& surroundings, Launch& launch) {
    launch.launcher = Launcher::hydra;
    launch.rank = number(environment, {"PMI_RANK"}, 0);
    launch.local_rank = number(environment, {"MPI_LOCALRANKID"}, 0);
    launch.local_tasks = number(environment, {"MPI_LOCALNRANKS"}, 0);
    const int size = launch.tasks = number(environment, {"PMI_SIZE"}, 1);
    launch.node_count = nodes_for(size, number(environment, {"MPI_LOCALNRANKS"}, size));
    const std::string job = environment.get_or("PMI_JOBID", "");
    const io::ProcessIdentity& proxy = surroundings.hydra_proxy;
    if (job.empty() && proxy.pid == 0) return;
    launch.stamp = "pmi:" + (job.empty() ? std::to_string(proxy.pid) : job);
    if (launch.node_count == 1 && proxy.pid != 0)
        launch.session = "hydra-" + std::to_string(proxy.pid) + '-' + std::to_string(proxy.start_time);
    else if (!surroundings.hydra_control.empty())
        launch.session = io::session_name("hydra-" + surroundings.hydra_control);
}

void read_slurm(const Environment& environment, Launch& launch) {
    const std::string step = environment.get_or("SLURM_JOB_ID", "") + '.' + environment.get_or("SLURM_STEP_ID", "");
    launch.launcher = Launcher::slurm;
    launch.rank = number(environment, {"SLURM_PROCID"}, 0);
    launch.local_rank = number(environment, {"SLURM_LOCALID"}, 0);
    // "2(x4)"; where nodes differ, which of them this is does not matter enough
    const std::string tasks = environment.get_or("SLURM_STEP_TASKS_PER_NODE", "");
    if (tasks.find(',') == std::string::npos) launch.local_tasks = static_cast<int>(parse_integer(tasks.substr(0, tasks.find('('))).value_or(0));
    launch.node_count = std::max(1, number(environment, {"SLURM_STEP_NUM_NODES", "SLURM_NNODES"}, 1));
    launch.tasks = number(environment, {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"}, 1);
    launch.node = environment.get_or("SLURMD_NODENAME", launch.node);
    launch.leader_host = first_host(environment.get_or("SLURM_STEP_NODELIST", ""));
    launch.stamp = "slurm:" + step;
    launch.session = io::session_name(step);
}

}  // namespace

Surroundings look_around(const Environment& environment) {
    Surroundings found;
    char host[256] = "";
    if (gethostname(host, sizeof host - 1) == 0) found.host = host;
    found.self = io::identify(getpid());
    const auto descriptor = environment.get("PMI_FD");
    if (const pid_t proxy = descriptor ? step::pmi_owner(descriptor->c_str()) : 0; proxy > 0) {
        found.hydra_proxy = io::identify(proxy);
        found.hydra_control = control_port(proxy);
    }
    return found;
}

Launch detect_launch(const Environment& environment, const Surroundings& surroundings) {
    const auto has = [&](std::string_view name) { return environment.get(name).has_value(); };
    Launch launch;
    launch.node = surroundings.host;
    // The stamps are those of plugin/step_stamp.h. The innermost first: each may have been started inside of one further down
    if (has("TORCHELASTIC_RUN_ID") && has("LOCAL_RANK"))
        read_torchrun(environment, launch);
    else if (has("OMPI_COMM_WORLD_RANK"))
        read_open_mpi(environment, launch);
    else if (has("PMI_RANK") && has("MPI_LOCALRANKID"))
        read_hydra(environment, surroundings, launch);
    else if (has("SLURM_STEP_ID") && has("SLURM_PROCID") && has("SLURM_LOCALID"))
        read_slurm(environment, launch);
    else
        launch.session = "alone-" + std::to_string(surroundings.self.pid) + '-' + std::to_string(surroundings.self.start_time);

    if (launch.stamp.empty()) launch.stamp = "alone:" + std::to_string(surroundings.self.pid);
    if (launch.leader_host.empty()) launch.leader_host = first_host(environment.get_or("SLURM_JOB_NODELIST", ""));
    if (const auto key = environment.get("SLURM_PACED_FABRIC_KEY"); key && !key->empty()) launch.secret = *key;
    return launch;
}

}  // namespace paced::launcher
