// SPDX-License-Identifier: BSD-3-Clause
// The helper's verbs (PROTOCOL.md). Each returns the exit code of the program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/base/environment.h"

namespace paced::helper {

// In sbatch, salloc, srun: whether a flag's value is good.
int check_flag(const Environment& environment, std::string_view name, std::string_view value);

// In srun, inside a job: which ranks go where. words: srun's own command line.
int order(const Environment& environment, const std::vector<std::string>& words);

// In slurmstepd, once per node and step: what is done with its tasks.
int step(const Environment& environment);

// At the end of a step, on its first node: the report. plainly: text to standard error, without the protocol.
int finish(const Environment& environment, bool plainly);

}  // namespace paced::helper
