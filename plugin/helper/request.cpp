// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/helper/request.h"

#include <climits>

#include <unistd.h>

#include "policy/base/text.h"
#include "policy/io/site_policy_file.h"
#include "policy/topology/host_list.h"

namespace paced::helper {

namespace {

std::string ours(const Environment& environment, std::string_view name) {
    return environment.get_or("PACED_FABRIC_HELPER_" + std::string(name), "");
}

int number(const Environment& environment, std::string_view name, int otherwise) {
    const auto value = parse_integer(ours(environment, name));
    return value && *value >= 0 && *value <= INT_MAX ? static_cast<int>(*value) : otherwise;
}

config::FlagValue flag(const Environment& environment, std::string_view name) {
    const auto value = environment.get("PACED_FABRIC_HELPER_" + std::string(name));
    return {value.has_value(), value.value_or("")};
}

// The step's own list; the job's where it has as many nodes.
std::vector<std::string> hosts_of(const Environment& environment, int node_count) {
    for (const char* name : {"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST"}) {
        topology::HostList list = topology::expand_hosts(environment.get_or(name, ""));
        if (list.errors.empty() && list.hosts.size() == static_cast<std::size_t>(node_count)) return std::move(list.hosts);
    }
    return {};
}

// Tasks of a heterogeneous job see the id of its first component, not that of their own.
std::string job_in_tasks(const Environment& environment, const std::string& job) {
    if (!environment.get("SLURM_HET_SIZE")) return job;
    return environment.get_or("SLURM_JOB_ID", job);
}

}  // namespace

bool Request::asked(const Environment& environment) const {
    return flags.mode.present || !environment.get_or("PACED_FABRIC", "").empty();
}

Request read_request(const Environment& environment) {
    Request request;
    request.config = ours(environment, "CONFIG");
    if (request.config.empty()) request.config = io::default_policy_path;
    request.snapshot = ours(environment, "SNAPSHOT");
    request.probe = ours(environment, "PROBE");
    request.node_topology = ours(environment, "NODE_TOPOLOGY");
    request.library = ours(environment, "LIBRARY");
    request.topology_conf = ours(environment, "TOPOLOGY_CONF");
    request.key = ours(environment, "KEY");
    request.flags = {flag(environment, "MODE"), flag(environment, "ORDER"), flag(environment, "BIND"), flag(environment, "WINDOW"),
                     flag(environment, "REPORT")};
    request.job = ours(environment, "JOB");
    request.step = ours(environment, "STEP");
    request.node_name = ours(environment, "NODE_NAME");
    request.node_index = number(environment, "NODE_INDEX", 0);
    request.node_count = number(environment, "NODE_COUNT", 1);
    request.local_tasks = number(environment, "LOCAL_TASKS", 0);
    request.tasks = number(environment, "TASKS", 0);
    request.user_preload = ours(environment, "USER_LD_PRELOAD");
    request.hosts = hosts_of(environment, request.node_count);
    if (request.hosts.empty() && request.node_count == 1 && !request.node_name.empty()) request.hosts = {request.node_name};
    request.placed = parse_placed(ours(environment, "PLACED"), request.job);
    request.stamp = "slurm:" + job_in_tasks(environment, request.job) + '.' + request.step;
    char folder[PATH_MAX];
    if (getcwd(folder, sizeof folder) != nullptr) request.folder = folder;
    return request;
}

}  // namespace paced::helper
