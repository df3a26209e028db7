// SPDX-License-Identifier: BSD-3-Clause
// Runs a program and keeps what it says. The environment is the test's own plus `environment`, or, with clean, nothing
// but PATH, HOME and `environment`.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace paced::test {

struct Outcome {
    int exit_code = -1;  // 128 + signal where one ended it
    std::string out, err;
};

struct RunOptions {
    std::map<std::string, std::string> environment{};
    bool clean = true;
    std::string folder{};  // to run in; empty: the test's own
};

Outcome run_program(const std::vector<std::string>& command, const RunOptions& options = {});

}  // namespace paced::test
