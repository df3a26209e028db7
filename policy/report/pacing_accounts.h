// SPDX-License-Identifier: BSD-3-Clause
// From what the leader left about pacing to the report: classes in words, what was tried on each, what came of it. Part of the
// analysis (analysis.h); nothing is judged anew here, the law has done that while the job ran.
#pragma once

#include <string>

#include "policy/pacing/law.h"
#include "policy/pacing/setting.h"
#include "policy/report/report.h"
#include "policy/report/trace.h"

namespace paced::report {

// As [pacing] arms of the site policy spells it: "off", "admit:1", "slots:10ms", "rate:25mbit", "fixed-delay:500us:300us".
std::string spelling_of(const pacing::Setting& setting);
// For people: "one communicator at a time", "each socket at most 25 Mbit/s".
std::string meaning_of(const pacing::Setting& setting);

// Fills report.pacing, arms and blocks (these last only where the policy says method comparison), and tells of faults as warnings. Needs
// report.policy. Does nothing where trace.pacing is nothing.
void take_pacing(const Trace& trace, Report& report);

}  // namespace paced::report
