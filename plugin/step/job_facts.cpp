// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/step/job_facts.h"

#include "policy/base/text.h"

namespace paced::step {

config::JobFacts job_facts(const Environment& environment) {
    const long long nodes = parse_integer(environment.get_or("SLURM_JOB_NUM_NODES", "")).value_or(0);
    return {environment.get_or("SLURM_JOB_PARTITION", ""), environment.get_or("SLURM_JOB_ACCOUNT", ""), environment.get_or("SLURM_JOB_QOS", ""),
            environment.get_or("SLURM_JOB_USER", ""), nodes > 0 && nodes < 1'000'000 ? static_cast<int>(nodes) : 0};
}

}  // namespace paced::step
