// SPDX-License-Identifier: BSD-3-Clause
// A TOML text as a tree of plain values, each with its place, so that toml++ is compiled once for all readers of TOML.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/base/diagnostics.h"

namespace paced::io {

struct TomlKey {
    std::string text;
    int line = 1, column = 1;
};

struct TomlNode {
    enum class Kind { table, array, string, integer, number, boolean, time };

    Kind kind = Kind::table;
    int line = 1, column = 1;
    std::string text;              // of a string
    std::int64_t integer = 0;      // of an integer
    std::optional<double> number;  // of an integer or a number; empty: an integer that no double holds
    bool truth = false;            // of a boolean
    std::vector<TomlKey> keys;     // of a table, in the order of the text
    std::vector<TomlNode> items;   // of an array; of a table the values, one for each key

    bool is_table() const { return kind == Kind::table; }
    bool is_number() const { return kind == Kind::integer || kind == Kind::number; }
    const TomlNode* find(std::string_view key) const;
};

// "a table", "an array", "a string", "an integer", "a number", "a boolean", "a date or time"
std::string_view kind_in_words(const TomlNode& node);

// The table of the whole text. nullopt: it is no TOML, which is an error among the diagnostics; the parser stops at its first
// mistake, so there is one.
std::optional<TomlNode> parse_toml(std::string_view text, const std::string& file, Diagnostics& diagnostics);

}  // namespace paced::io
