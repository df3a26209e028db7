// SPDX-License-Identifier: BSD-3-Clause
// What the site's rules match on, as far as Slurm's variables tell it. A job can forge them, so they choose defaults
// and never limits.
#pragma once

#include "policy/base/environment.h"
#include "policy/config/site_policy.h"

namespace paced::step {

// Without Slurm everything is unknown.
config::JobFacts job_facts(const Environment& environment);

}  // namespace paced::step
