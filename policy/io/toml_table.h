// SPDX-License-Identifier: BSD-3-Clause
// What readers of TOML formats share: values of an expected kind, or an error with the place and what is valid.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/base/diagnostics.h"
#include "policy/base/result.h"
#include "policy/io/toml_tree.h"

namespace paced::io {

// "'key'"
std::string in_quotes(std::string_view text);

// Where mistakes of one file go.
class TomlReader {
public:
    TomlReader(const std::string& file, Diagnostics& diagnostics) : file_(file), diagnostics_(diagnostics) {}

    Location where(const TomlNode& node) const { return {file_, node.line, node.column}; }
    Location where(const TomlKey& key) const { return {file_, key.line, key.column}; }
    const std::string& file() const { return file_; }

    Diagnostic& error(Location place, std::string message) { return diagnostics_.error(std::move(place), std::move(message)); }
    Diagnostic& wrong_type(std::string_view key, std::string_view expected, const TomlNode& node);
    Diagnostics& diagnostics() { return diagnostics_; }

private:
    const std::string& file_;
    Diagnostics& diagnostics_;
};

// One table whose keys are all known: each is asked for once, and what nobody asked for is an error.
class TomlTable {
public:
    // name: "[defaults]", or empty for the top level
    TomlTable(TomlReader& reader, const TomlNode& table, std::string name) : reader_(reader), table_(table), name_(std::move(name)) {}

    // `schema` of the top level, which must be there, from 1 to newest. False: the file is newer, and what it means is not known.
    bool take_schema(int newest);

    // nullptr and nullopt: the key is not there or, but for take(), its value is wrong, which has been told.
    const TomlNode* take(std::string_view key);
    const TomlNode* take_table(std::string_view key);
    // Each element of an array of tables, [[key]]. example: what is said to who wrote something else.
    std::vector<const TomlNode*> take_tables(std::string_view key, std::string_view example);

    // A string that parse makes a value of.
    template <class T>
    std::optional<T> take_text(std::string_view key, Result<T> (*parse)(std::string_view)) {
        const std::string* text = take_string(key);
        if (text == nullptr) return std::nullopt;
        auto value = parse(*text);
        if (value) return *std::move(value);
        refuse(key, value.error());
        return std::nullopt;
    }
    const std::string* take_string(std::string_view key);

    // A string, or an array of them.
    void take_names(std::string_view key, std::vector<std::string>& to);

    // An integer within limits.
    std::optional<int> take_whole(std::string_view key, int least, int most);
    // One integer within limits, or an array of at least one of them.
    std::optional<std::vector<int>> take_wholes(std::string_view key, int least, int most);
    // A number within limits. unit: in words, for the message.
    std::optional<double> take_number(std::string_view key, double least, double most, std::string_view unit, bool whole);
    std::optional<bool> take_truth(std::string_view key);

    bool has(std::string_view key) const { return table_.find(key) != nullptr; }
    // Of the key's value; of the table where it has none.
    Location place(std::string_view key) const;
    Location place() const { return reader_.where(table_); }
    // An error at the key's value.
    void refuse(std::string_view key, const Error& error);

    // instead: what is said where all valid keys would be too many to list.
    void refuse_the_rest(std::string_view instead = {});

private:
    void add_name(std::string_view key, const TomlNode& node, std::string_view expected, std::vector<std::string>& to);
    std::optional<int> whole_of(std::string_view key, const TomlNode& node, std::string_view expected, int least, int most);

    TomlReader& reader_;
    const TomlNode& table_;
    std::string name_;
    std::vector<std::string_view> known_;
};

}  // namespace paced::io
