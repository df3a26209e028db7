// SPDX-License-Identifier: BSD-3-Clause
// A node's bindings as text: one table, one set of column names, in the job log as well as in `paced topo` and `paced plan`.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "policy/report/job_plan.h"
#include "policy/report/text_table.h"

namespace paced::report {

// The first rows_max bindings. models: with the GPUs' names.
TextTable binding_table(const NodePlan& plan, bool models, std::size_t rows_max);

// What the relations in the table mean, nearest first: "PIX = one PCIe switch, SYS = across packages"; empty: there are none.
std::string relation_legend(const NodePlan& plan);

// "tasks 0-3: mlx5_0 is the nearest ...": why each has got what it has. Tasks (or GPUs without one) with the same reasons share a line.
std::vector<std::string> binding_reasons(const NodePlan& plan);

// How many different GPUs the bindings name.
std::size_t gpu_count(const NodePlan& plan);

}  // namespace paced::report
