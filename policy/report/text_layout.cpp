// SPDX-License-Identifier: BSD-3-Clause
#include "policy/report/text_layout.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

namespace paced::report {

namespace {

constexpr std::size_t label_width = 12;

std::string number(double value, int decimals) {
    std::array<char, 64> text{};
    const int length = std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
    return {text.data(), static_cast<std::size_t>(std::clamp(length, 0, static_cast<int>(text.size()) - 1))};
}

// Three significant digits, and no more than there are.
std::string three_digits(double value) {
    if (value == 0) return "0";
    if (value < 9.995) return number(value, 2);
    if (value < 99.95) return number(value, 1);
    return number(value, 0);
}

std::string indented(std::string_view label) {
    std::string line = "  ";
    line += label;
    if (label.size() + 1 < label_width) line.append(label_width - label.size(), ' ');
    else line += ' ';
    return line;
}

}  // namespace

std::string time_text(double ms) {
    if (ms <= 0) return "0";
    if (ms < .9995) return (ms < .00995 ? number(ms * 1e3, 1) : number(ms * 1e3, 0)) + " us";
    if (ms < 999.5) return three_digits(ms) + " ms";
    if (ms < 119'500) return three_digits(ms / 1e3) + " s";
    const auto seconds = static_cast<long long>(std::llround(ms / 1e3));
    const auto pair = [](long long big, const char* big_unit, long long small, const char* small_unit) {
        return std::to_string(big) + big_unit + (small < 10 ? "0" : "") + std::to_string(small) + small_unit;
    };
    if (seconds < 7200) return pair(seconds / 60, " min ", seconds % 60, " s");
    return pair(seconds / 3600, " h ", seconds % 3600 / 60, " min");
}

std::string bytes_text(double bytes) {
    constexpr std::array units{" B", " KiB", " MiB", " GiB", " TiB"};
    std::size_t unit = 0;
    while (bytes >= 1023.5 && unit + 1 < units.size()) {
        bytes /= 1024;
        ++unit;
    }
    const bool whole = unit == 0 || std::abs(bytes - std::round(bytes)) < .005;
    return (whole ? number(bytes, 0) : three_digits(bytes)) + units[unit];
}

std::string percent_text(double share) {
    const double percent = 100 * share;
    if (percent <= 0) return "0%";
    if (percent < .005) return "<0.01%";
    return number(percent, percent < .995 ? 2 : percent < 99.95 ? 1 : 0) + '%';
}

std::string change_text(double percent) {
    if (std::abs(percent) < .05) return "0.0%";
    const std::string digits = number(std::abs(percent), std::abs(percent) < 99.95 ? 1 : 0);
    return (percent < 0 ? '-' : '+') + digits + '%';
}

std::string cv_text(double cv) {
    std::string text = number(cv, 3);
    if (text.starts_with("0.")) text.erase(0, 1);
    return text;
}

Block::Block(std::string head) {
    // The head starts at the margin, what follows it is indented.
    for (const std::string& line : wrapped(head, line_width - 2)) lines_.push_back((lines_.empty() ? "" : "  ") + line);
}

void Block::add(std::string_view label, std::string_view text) {
    std::string start = indented(label);
    const std::string hanging(label_width + 2, ' ');
    for (const std::string& line : wrapped(text, line_width - start.size())) {
        lines_.push_back(start + line);
        start = hanging;
    }
}

void Block::add(std::string_view label, const TextTable& table) {
    for (const std::string& line : table.lines(line_width - label_width - 2)) {
        lines_.push_back(indented(label) + line);
        label = {};
    }
}

}  // namespace paced::report
