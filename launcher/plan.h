// SPDX-License-Identifier: BSD-3-Clause
// `paced plan`: the binding for one node, the rank order for a list of hosts, and why. What is printed is made of the
// values that the job log and the report are made of.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "policy/base/diagnostics.h"
#include "policy/report/job_plan.h"

namespace paced::launcher {

struct PlanOptions {
    std::string node;  // FILE; empty: no binding asked for
    int tasks = 0;     // 0: one for each GPU
    int gpus = 0;      // 0: all
    std::string fabric;              // FILE; empty: no order asked for
    std::vector<std::string> hosts;  // lists in Slurm's bracket form, or @FILE with one list a line
    int tasks_per_node = 1;
    std::string order = "ring";
    bool json = false;
};

struct NodePlanned {
    std::string title;  // the machine and what it was read from
    int gpus = 0, nics = 0;  // that it has
    report::NodePlan plan;
};

struct OrderPlanned {
    std::string fabric;  // what it was read from
    int tasks_per_node = 1;
    report::OrderView view;
    struct Stretch {  // hosts that follow one another in the chosen order and hang on one leaf; none: it is not known
        std::string leaf;
        std::vector<std::string> hosts;
    };
    std::vector<Stretch> stretches;
    std::vector<std::string> warnings;
};

struct Planned {
    std::optional<NodePlanned> node;
    std::optional<OrderPlanned> order;
};

// The hosts of all lists, in their order. Mistakes are errors at "--hosts:1:COLUMN" or in the file.
std::vector<std::string> hosts_of(const std::vector<std::string>& lists, Diagnostics& diagnostics);

std::string plan_text(const Planned& planned);
// The object of the contract: keys of a part that was not asked for are absent.
std::string plan_json(const Planned& planned);

// Prints to standard output, diagnostics to standard error; the exit code of the program.
int run_plan(const PlanOptions& options);

}  // namespace paced::launcher
