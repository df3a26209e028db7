// SPDX-License-Identifier: BSD-3-Clause
// `paced report`: JSON reports as text.
#pragma once

#include <string>
#include <vector>

namespace paced::launcher {

struct ReportOptions {
    std::vector<std::string> files;
    bool json = false;  // the reports as JSON again, checked and in today's form; an array where there are several
};

// Every file is looked at; the worst outcome is the exit code.
int run_report(const ReportOptions& options);

}  // namespace paced::launcher
