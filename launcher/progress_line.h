// SPDX-License-Identifier: BSD-3-Clause
// One line on standard error that says how far a long command is and how long it will take; nothing where that is no terminal.
#pragma once

#include <chrono>
#include <string>

namespace paced::launcher {

// "[=========>          ]  45%  1 min 12 s left"; without the time where too little is done to tell.
std::string progress_text(double part, std::chrono::duration<double> elapsed);

class ProgressLine {
public:
    ProgressLine();
    ~ProgressLine();  // takes the line away
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    void show(double part);

private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    bool terminal_, shown_ = false;
};

}  // namespace paced::launcher
