// SPDX-License-Identifier: BSD-3-Clause
// Text for a terminal. A table: columns as wide as they need, and narrower ones where the line would get too long.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace paced::report {

inline constexpr std::size_t line_width = 100;

class TextTable {
public:
    struct Column {
        std::string title;
        bool right = false;    // numbers stand right
        bool shrinks = false;  // may lose its end, marked by "..."
    };

    explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}
    void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
    bool empty() const { return rows_.empty(); }

    // Title and rows, without newlines and blanks at their ends. Columns that stay empty are left out.
    std::vector<std::string> lines(std::size_t width = line_width) const;
    // The same, indented, each with its newline.
    std::string text(std::string_view indent = "") const;

private:
    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;
};

// Broken at blanks into lines of at most width columns; a longer word stays whole. At least one line.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

// How many columns a UTF-8 text takes, for the letters that we print.
std::size_t columns_of(std::string_view text);
// The text, or its beginning and "..." where it takes more than width columns.
std::string shortened(std::string_view text, std::size_t width);

}  // namespace paced::report
