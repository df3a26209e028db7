// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/step/fabric_lookup.h"

#include <cerrno>
#include <cstring>

#include <unistd.h>

#include "policy/base/text.h"
#include "policy/io/topology_conf.h"
#include "policy/report/plan_views.h"

namespace paced::step {

namespace {

// As slurmctld and "configless" slurmd keep them.
std::vector<std::string> places(const std::string& topology_conf, const Environment& environment) {
    if (!topology_conf.empty()) return {topology_conf};
    std::vector<std::string> found;
    const std::string slurm_conf = environment.get_or("SLURM_CONF", "");
    if (slurm_conf.find('/') != std::string::npos) found.push_back(slurm_conf.substr(0, slurm_conf.rfind('/')) + "/topology.conf");
    for (const char* path : {"/etc/slurm/topology.conf", "/run/slurm/conf/topology.conf"})
        if (found.empty() || found.front() != path) found.emplace_back(path);
    return found;
}

// "file:3:1: unknown key 'Swich'"
std::string first_error(const Diagnostics& diagnostics) {
    for (const Diagnostic& entry : diagnostics.entries()) {
        if (entry.severity != Severity::error) continue;
        const std::string place = to_string(entry.location);
        return place.empty() ? entry.message : place + ": " + entry.message;
    }
    return "nothing is known of it";
}

}  // namespace

report::FabricView find_fabric(const std::vector<std::string>& hosts, const std::string& topology_conf, const Environment& environment) {
    report::FabricView view;
    if (hosts.empty()) {
        view.problem = "the step's nodes are not known, so neither is their place";
        return view;
    }
    const std::vector<std::string> candidates = places(topology_conf, environment);
    for (const std::string& path : candidates) {
        if (access(path.c_str(), R_OK) != 0) {
            if (errno == ENOENT || errno == ENOTDIR) continue;
            view.problem = "switches are not known: cannot read " + path + ": " + std::strerror(errno);
            return view;
        }
        Diagnostics diagnostics;
        const auto fabric = io::read_topology_conf(path, diagnostics);
        if (!fabric) {
            view.problem = "switches are not known: " + first_error(diagnostics);
            return view;
        }
        return report::fabric_view(*fabric, hosts);
    }
    view.problem = "switches are not known: there is no " + join(candidates, ", ");
    return view;
}

}  // namespace paced::step
