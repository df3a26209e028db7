// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/progress_line.h"

#include <algorithm>
#include <cstdio>

#include <unistd.h>

#include "policy/report/text_layout.h"

namespace paced::launcher {

std::string progress_text(double part, std::chrono::duration<double> elapsed) {
    constexpr std::size_t width = 30;
    constexpr double enough = .01;  // of the work, before a guess is worth anything
    part = std::clamp(part, 0.0, 1.0);
    const auto filled = static_cast<std::size_t>(part * width);
    std::string bar(filled, '=');
    if (filled < width) bar += '>';
    bar.resize(width, ' ');
    std::string percent = std::to_string(static_cast<int>(100 * part));
    percent.insert(0, 3 - std::min<std::size_t>(percent.size(), 3), ' ');
    std::string line = '[' + bar + "] " + percent + '%';
    if (part >= enough) line += "  " + report::time_text(1e3 * elapsed.count() * (1 - part) / part) + " left";
    return line;
}

ProgressLine::ProgressLine() : terminal_(isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
    if (shown_) std::fputs("\r\033[K", stderr);
}

void ProgressLine::show(double part) {
    if (!terminal_) return;
    shown_ = true;
    std::fprintf(stderr, "\r%s\033[K", progress_text(part, std::chrono::steady_clock::now() - start_).c_str());
    std::fflush(stderr);
}

}  // namespace paced::launcher
