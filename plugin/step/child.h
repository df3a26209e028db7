// SPDX-License-Identifier: BSD-3-Clause
// A program with a deadline, and what it prints.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "policy/base/result.h"

namespace paced::step {

// Standard output of a program that must end with code 0 before the deadline and print at most most_bytes; it is killed
// otherwise. It gets an empty environment, and /dev/null for input and errors.
Result<std::string> output_of(const std::vector<std::string>& command, std::chrono::milliseconds deadline, std::size_t most_bytes);

}  // namespace paced::step
