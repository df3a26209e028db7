// SPDX-License-Identifier: BSD-3-Clause
// What the shim asks, read from the environment (PROTOCOL.md, PACED_FABRIC_HELPER_*).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plugin/helper/placed.h"
#include "policy/base/environment.h"
#include "policy/config/effective.h"

namespace paced::helper {

struct Request {
    std::string config, snapshot, probe, node_topology, library, topology_conf, key;
    config::Flags flags;
    std::string job, step, node_name;
    int node_index = 0, node_count = 1, local_tasks = 0, tasks = 0;
    std::string user_preload;                // the job's own LD_PRELOAD
    std::vector<std::string> hosts;          // of the step, in its order; empty: not known
    std::optional<Placed> placed;            // what srun did about the order of this step; nullopt: it says nothing
    std::string folder;                      // the job's working folder
    std::string stamp;                       // "slurm:42.0"

    bool first_node() const { return node_index == 0; }
    // Whether somebody asked for us, and not the site's defaults alone.
    bool asked(const Environment& environment) const;
};

Request read_request(const Environment& environment);

}  // namespace paced::helper
