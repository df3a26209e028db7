// SPDX-License-Identifier: BSD-3-Clause
// plan.json of a step of `paced run`: what the report at its end says of policy, fabric and this node.
#pragma once

#include <string>

#include "launcher/launch.h"
#include "plugin/step/step_setup.h"
#include "policy/report/job_plan.h"

namespace paced::launcher {

// Starts the probe: for the first rank of a node alone. probe: its path; empty: the node's hardware stays unknown.
report::JobPlan make_run_plan(const Launch& launch, const config::Effective& effective, const step::StepSetup& setup, const std::string& probe,
                              const Environment& environment);

}  // namespace paced::launcher
