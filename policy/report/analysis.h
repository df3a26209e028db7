// SPDX-License-Identifier: BSD-3-Clause
// From what the ranks recorded to the report: match, find iterations, judge lateness, attribute the time. Called once
// at the end of a step by whoever prints the report (the helper's `finish`). The order in which nodes (but for the
// leader, the first), ranks and communicators stand in the trace changes nothing.
#pragma once

#include <optional>
#include <vector>

#include "policy/report/job_plan.h"
#include "policy/report/report.h"
#include "policy/report/trace.h"

namespace paced::report {

struct AnalysisOptions {
    std::optional<double> recorder_ns_per_call;  // what one recorded call costs here, where it is known
};

// plans: those of the trace's nodes that could be read, in any order; may be empty.
Report analyse(const Trace& trace, const std::vector<JobPlan>& plans, const AnalysisOptions& options = {});

// Reads each node's plan.json; one that cannot be read becomes a warning.
std::vector<JobPlan> plans_of(const Trace& trace, std::vector<std::string>& warnings);

}  // namespace paced::report
