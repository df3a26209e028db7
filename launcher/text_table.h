// SPDX-License-Identifier: BSD-3-Clause
// A table of text for a terminal: columns as wide as they need, and narrower ones where the line would get too long.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace paced::launcher {

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

    // Every line ends in a newline and has no blanks before it. Columns that stay empty are left out.
    std::string text(std::string_view indent = "") const;

private:
    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;
};

// How many columns a UTF-8 text takes, for the letters that we print.
std::size_t columns_of(std::string_view text);
// The text, or its beginning and "..." where it takes more than width columns.
std::string shortened(std::string_view text, std::size_t width);

}  // namespace paced::launcher
