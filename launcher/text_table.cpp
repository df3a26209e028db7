// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/text_table.h"

#include <algorithm>
#include <numeric>

namespace paced::launcher {

namespace {

constexpr std::size_t gap = 2;
constexpr std::size_t narrowest = 8;  // of a column that shrinks

bool continues_character(char c) {
    return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

}  // namespace

std::size_t columns_of(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return !continues_character(c); }));
}

std::string shortened(std::string_view text, std::size_t width) {
    if (columns_of(text) <= width) return std::string(text);
    std::size_t end = 0, columns = 0;
    const std::size_t kept = width > 3 ? width - 3 : 0;
    while (end < text.size() && (columns < kept || continues_character(text[end])))
        if (!continues_character(text[end++])) ++columns;
    return std::string(text.substr(0, end)) + "...";
}

std::string TextTable::text(std::string_view indent) const {
    std::vector<std::size_t> widths;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        std::size_t widest = 0;
        for (const auto& row : rows_) widest = std::max(widest, columns_of(row[i]));
        widths.push_back(widest == 0 ? 0 : std::max(widest, columns_of(columns_[i].title)));
    }
    const auto total = [&] {
        std::size_t sum = indent.size();
        for (std::size_t width : widths) sum += width == 0 ? 0 : width + gap;
        return sum - gap;
    };
    // The widest loses first.
    while (total() > line_width) {
        std::size_t* widest = nullptr;
        for (std::size_t i = 0; i < widths.size(); ++i)
            if (columns_[i].shrinks && widths[i] > narrowest && (widest == nullptr || widths[i] > *widest)) widest = &widths[i];
        if (widest == nullptr) break;
        --*widest;
    }

    std::string lines;
    const auto add_line = [&](const auto& cell_of) {
        std::string line(indent);
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            if (widths[i] == 0) continue;
            const std::string cell = shortened(cell_of(i), widths[i]);
            const std::string blanks(widths[i] - std::min(widths[i], columns_of(cell)), ' ');
            line += columns_[i].right ? blanks + cell : cell + blanks;
            line += std::string(gap, ' ');
        }
        line.erase(line.find_last_not_of(' ') + 1);
        lines += line + '\n';
    };
    add_line([&](std::size_t i) { return columns_[i].title; });
    for (const auto& row : rows_) add_line([&](std::size_t i) { return row[i]; });
    return lines;
}

}  // namespace paced::launcher
