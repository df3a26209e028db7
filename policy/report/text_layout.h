// SPDX-License-Identifier: BSD-3-Clause
// How the text reports are laid out: labelled lines, wrapped paragraphs, tables; and how numbers are written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "policy/report/text_table.h"

namespace paced::report {

// "0.4 us", "12 us", "3.21 ms", "61.2 s", "12 min 03 s", "3 h 07 min": three digits are enough to compare.
std::string time_text(double ms);
// "8 B", "64 KiB", "1.5 MiB"
std::string bytes_text(double bytes);
// "97.1%", "0.02%", "0%"
std::string percent_text(double share);
// "+21.4%", "-0.3%", "+120%"; of a change in percent
std::string change_text(double percent);
// Coefficient of variation: ".134", "1.020"
std::string cv_text(double cv);

class Block {
public:
    explicit Block(std::string head);

    // Wraps at blanks; lines after the first are indented as the text.
    void add(std::string_view label, std::string_view text);
    void add(std::string_view label, const TextTable& table);

    std::vector<std::string> take() { return std::move(lines_); }

private:
    std::vector<std::string> lines_;
};

}  // namespace paced::report
