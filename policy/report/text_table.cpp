// SPDX-License-Identifier: BSD-3-Clause
#include "policy/report/text_table.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace paced::report {

namespace {

constexpr std::size_t gap = 2;
constexpr std::size_t narrowest = 8;  // of a column that shrinks

bool continues_character(char c) {
    return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

// Whether the blank at `at` stands between a number and its unit, "89.1 s", or within a time, "12 min 03 s".
bool joins_number(std::string_view text, std::size_t at) {
    constexpr std::array<std::string_view, 10> units{"us", "ms", "s", "min", "h", "B", "KiB", "MiB", "GiB", "TiB"};
    const auto is_digit = [&](std::size_t i) { return i < text.size() && text[i] >= '0' && text[i] <= '9'; };
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    const auto unit_at = [&](std::size_t start) {
        std::size_t end = start;
        while (end < text.size() && is_letter(text[end])) ++end;
        return std::find(units.begin(), units.end(), text.substr(start, end - start)) != units.end();
    };
    if (at == 0) return false;
    if (is_digit(at - 1)) return unit_at(at + 1);
    const std::size_t before = text.rfind(' ', at - 1);
    return before != std::string_view::npos && before > 0 && is_digit(before - 1) && unit_at(before + 1) && is_digit(at + 1) && is_digit(at + 2) &&
           at + 3 < text.size() && text[at + 3] == ' ' && unit_at(at + 4);
}

}  // namespace

std::size_t columns_of(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return !continues_character(c); }));
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
    std::vector<std::string> lines;
    while (text.size() > width) {
        std::size_t cut = text.rfind(' ', width);
        while (cut != std::string_view::npos && cut > 0 && joins_number(text, cut)) cut = text.rfind(' ', cut - 1);
        if (cut == std::string_view::npos || cut == 0) {  // a long path is not broken
            cut = text.find(' ', 1);
            while (cut != std::string_view::npos && joins_number(text, cut)) cut = text.find(' ', cut + 1);
        }
        if (cut == std::string_view::npos) break;
        lines.emplace_back(text.substr(0, cut));
        text.remove_prefix(cut + 1);
    }
    lines.emplace_back(text);
    return lines;
}

std::string shortened(std::string_view text, std::size_t width) {
    if (columns_of(text) <= width) return std::string(text);
    std::size_t end = 0, columns = 0;
    const std::size_t kept = width > 3 ? width - 3 : 0;
    while (end < text.size() && (columns < kept || continues_character(text[end])))
        if (!continues_character(text[end++])) ++columns;
    return std::string(text.substr(0, end)) + "...";
}

std::vector<std::string> TextTable::lines(std::size_t width) const {
    std::vector<std::size_t> widths;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        std::size_t widest = 0;
        for (const auto& row : rows_) widest = std::max(widest, columns_of(row[i]));
        widths.push_back(widest == 0 ? 0 : std::max(widest, columns_of(columns_[i].title)));
    }
    const auto total = [&] {
        std::size_t sum = 0;
        for (std::size_t each : widths) sum += each == 0 ? 0 : each + gap;
        return sum > gap ? sum - gap : 0;
    };
    // The widest loses first.
    while (total() > width) {
        std::size_t* widest = nullptr;
        for (std::size_t i = 0; i < widths.size(); ++i)
            if (columns_[i].shrinks && widths[i] > narrowest && (widest == nullptr || widths[i] > *widest)) widest = &widths[i];
        if (widest == nullptr) break;
        --*widest;
    }

    std::vector<std::string> lines;
    const auto add_line = [&](const auto& cell_of) {
        std::string line;
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            if (widths[i] == 0) continue;
            const std::string cell = shortened(cell_of(i), widths[i]);
            const std::string blanks(widths[i] - std::min(widths[i], columns_of(cell)), ' ');
            line += columns_[i].right ? blanks + cell : cell + blanks;
            line += std::string(gap, ' ');
        }
        line.erase(line.find_last_not_of(' ') + 1);
        lines.push_back(std::move(line));
    };
    add_line([&](std::size_t i) { return columns_[i].title; });
    for (const auto& row : rows_) add_line([&](std::size_t i) { return row[i]; });
    return lines;
}

std::string TextTable::text(std::string_view indent) const {
    std::string text;
    for (const std::string& line : lines(line_width - indent.size())) (text += indent).append(line) += '\n';
    return text;
}

}  // namespace paced::report
