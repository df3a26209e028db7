// SPDX-License-Identifier: BSD-3-Clause
// May a step be re-ordered? srun takes whatever stands in a host file for the step's layout and checks little, so the
// answer is yes only where Slurm's own layout is certain: every node of the job, the same number of tasks on each, and
// no wish of the user's about places. What is not certain is no.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plugin/helper/srun_line.h"
#include "policy/base/environment.h"

namespace paced::helper {

struct StepLayout {
    std::vector<std::string> hosts;  // of the job, in Slurm's order
    int tasks_per_node = 0;
    std::string kept_because;  // not to be re-ordered: why, a sentence without full stop
    bool ranks = true;         // false: not a step of ranks at all, and nobody needs to hear of it

    bool certain() const { return kept_because.empty(); }
};

struct SlurmFacts {
    unsigned version = 0;                    // as SLURM_VERSION_NUMBER; 0: not known
    std::optional<std::string> mpi_default;  // MpiDefault of slurm.conf; nullopt: not known
};

// environment: srun's own. SLURM_NTASKS and its like are what the job was given, unless somebody changed them, and are
// what srun takes for its options.
StepLayout step_layout(const SrunLine& line, const Environment& environment, const SlurmFacts& slurm);

}  // namespace paced::helper
