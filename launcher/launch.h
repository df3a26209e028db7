// SPDX-License-Identifier: BSD-3-Clause
// Who launched this process, and what that tells of the step: found in the environment that mpirun, torchrun or srun
// gave it.
#pragma once

#include <string>

#include "policy/base/environment.h"
#include "policy/io/process.h"

namespace paced::launcher {

enum class Launcher { torchrun, open_mpi, hydra, slurm, alone };

struct Launch {
    Launcher launcher = Launcher::alone;
    int rank = 0;
    int local_rank = 0;
    int local_tasks = 0;  // ranks on this node; 0: not known
    int node_count = 1;
    int tasks = 1;
    std::string node;         // this node's name
    std::string stamp;        // plugin/step_environment.h
    std::string session;      // the same on all nodes; empty: the launcher gives nothing to make one of
    std::string leader_host;  // a node that all know to be the first; empty: not known
    std::string secret;       // the same for all ranks and nobody else's; empty: there is none
};

// What is not in the environment.
struct Surroundings {
    std::string host;
    io::ProcessIdentity self;
    io::ProcessIdentity hydra_proxy;  // pid 0: none
    std::string hydra_control;        // "host:port" of the mpirun that all proxies of the step were started by
};

Surroundings look_around(const Environment& environment);
Launch detect_launch(const Environment& environment, const Surroundings& surroundings);

}  // namespace paced::launcher
