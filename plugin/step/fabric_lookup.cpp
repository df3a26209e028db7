// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/step/fabric_lookup.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <unistd.h>

#include "policy/base/text.h"
#include "policy/io/fabric_file.h"
#include "policy/report/plan_views.h"

namespace paced::step {

namespace {

// Where slurmctld and "configless" slurmd keep what Slurm is configured with.
std::vector<std::string> folders(const Environment& environment) {
    std::vector<std::string> found;
    const std::string slurm_conf = environment.get_or("SLURM_CONF", "");
    if (slurm_conf.find('/') != std::string::npos) found.push_back(slurm_conf.substr(0, slurm_conf.rfind('/')));
    for (const char* folder : {"/etc/slurm", "/run/slurm/conf"})
        if (found.empty() || found.front() != folder) found.emplace_back(folder);
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

Result<topology::FabricTopology> read_fabric(const std::string& fabric_file, const Environment& environment) {
    std::vector<std::string> candidates{fabric_file};
    std::string nowhere = "there is no " + fabric_file;
    if (fabric_file.empty()) {
        candidates.clear();
        for (const std::string& folder : folders(environment))  // Slurm, too, takes topology.yaml where both are there
            for (const char* name : {"/topology.yaml", "/topology.conf"}) candidates.push_back(folder + name);
        nowhere = "there is no topology.yaml or topology.conf in " + join(folders(environment), ", ");
    }
    for (const std::string& path : candidates) {
        if (access(path.c_str(), R_OK) != 0) {
            if (errno == ENOENT || errno == ENOTDIR) continue;
            return fail("cannot read " + path + ": " + std::strerror(errno));
        }
        Diagnostics diagnostics;
        auto fabric = io::read_fabric_file(path, diagnostics);
        if (!fabric) return fail(first_error(diagnostics));
        return std::move(*fabric);
    }
    return fail(std::move(nowhere));
}

report::FabricView find_fabric(const std::vector<std::string>& hosts, const std::string& fabric_file, const Environment& environment) {
    report::FabricView view;
    if (hosts.empty()) {
        view.problem = "the step's nodes are not known, so neither is their place";
        return view;
    }
    const Result<topology::FabricTopology> fabric = read_fabric(fabric_file, environment);
    if (fabric) return report::fabric_view(*fabric, hosts);
    view.problem = "switches are not known: " + fabric.error().message;
    return view;
}

std::string leaf_of(const topology::FabricTopology& fabric, const std::string& host) {
    const auto leaf = fabric.leaf_of(host);
    return leaf ? fabric.at(*leaf).name : std::string();
}

}  // namespace paced::step
