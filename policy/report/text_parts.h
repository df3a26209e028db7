// SPDX-License-Identifier: BSD-3-Clause
// The parts that the head and the end of the job log are put together from. Internal to policy/report.
#pragma once

#include <string>
#include <vector>

#include "policy/report/job_plan.h"
#include "policy/report/report.h"
#include "policy/report/text.h"
#include "policy/report/text_layout.h"

namespace paced::report {

// The leaves under the step's nodes, and the order that was worked out for them (text_fabric.cpp).
void add_fabric(Block& block, const FabricView& fabric, const OrderView& order);
void add_order(Block& block, const OrderView& order, Level level);

// Bindings; nodes with the same table are grouped (text_nodes.cpp).
void add_nodes(Block& block, std::vector<const NodePlan*> nodes, Level level);
// What is paced, how far, or what a benchmark does instead; nothing but under pace (text_pacing.cpp).
void add_pacing_plan(Block& block, const PolicyValues& policy);
// What was tried on each class, and what came of it; nothing but under pace.
void add_pacing(Block& block, const Report& report, Level level);

// "n1: 8 GPUs (NVIDIA A100-SXM4-80GB), 8 tasks"
std::string node_title(const std::string& nodes, const NodePlan& plan);

}  // namespace paced::report
