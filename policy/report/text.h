// SPDX-License-Identifier: BSD-3-Clause
// The two reports of a job log, as lines of at most 100 columns without newlines. Each is a block: a head line that starts
// with "paced-fabric:" (to grep for), the rest indented under it by labels, so that it reads as one thing among the
// job's own output.
//
//     paced-fabric: job 42.0, 8 tasks on 8 nodes n[1-8]: observe (flag --paced-fabric)
//       fabric      2 leaves, from /etc/slurm/topology.conf: leaf1 n[1-4]; leaf2 n[5-8]
//       ...
#pragma once

#include <string>
#include <vector>

#include "policy/config/settings.h"
#include "policy/report/job_plan.h"
#include "policy/report/report.h"

namespace paced::report {

using Level = config::Report::Level;

// At the head of the job log, by node 0 of the step, from what it knows: its own table stands for the others.
// Level none: nothing.
std::vector<std::string> head_lines(const JobPlan& plan, Level level);

// Of another node than the first, where it has notes of its own: "paced-fabric: n5: the link of mlx5_1 is down", one
// paragraph for each. None: nothing.
std::vector<std::string> node_lines(const NodePlan& node);

// The head from a report, where all nodes' tables are known: nodes with the same table are grouped.
std::vector<std::string> head_lines(const Report& report, Level level);

// At the end. json_path: where the JSON report lies; empty: nowhere.
std::vector<std::string> report_lines(const Report& report, Level level, const std::string& json_path);

}  // namespace paced::report
