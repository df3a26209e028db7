// SPDX-License-Identifier: BSD-3-Clause
// What the reader of scenarios needs beside TomlTable: values with units, and where each field was written, since what a value may
// be is decided later, by simulation::problems_of().
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "policy/base/diagnostics.h"
#include "policy/io/toml_table.h"

namespace paced::io {

// Field paths as TOML has them, "fabric.level[0].uplink_rate", and the place of each value.
class ScenarioPlaces {
public:
    void note(std::string path, Location where) { values_[std::move(path)] = std::move(where); }
    void note_table(std::string path, Location where) { tables_[std::move(path)] = std::move(where); }

    // Of a field of simulation::Scenario, by its name in TOML or in C++ ("fabric.level[0].uplink_bytes_s"). What is not written has
    // the place of the table that it would stand in, and no path.
    struct Place {
        Location where;
        std::string path;  // of the value, or of the one that it is part of: "work.grid" of "work.grid[0].size"
    };
    Place of(std::string_view field) const;
    // The field's name in TOML.
    static std::string name_of(std::string_view field);

private:
    std::map<std::string, Location, std::less<>> values_, tables_;
};

// A table of a scenario. Each function leaves `to` as it is where the key is not there or is of the wrong kind, which is told.
class ScenarioSection {
public:
    // path: "fabric.level[0]", or empty for the top level. title: for messages, "[[fabric.level]]".
    ScenarioSection(TomlReader& reader, ScenarioPlaces& places, const TomlNode& node, std::string path, std::string title);

    void rate(std::string_view key, double& bytes_per_second);  // written in bits
    void bytes(std::string_view key, double& to);
    void seconds(std::string_view key, double& to);
    void number(std::string_view key, double& to);
    void whole(std::string_view key, std::uint32_t& to);
    void truth(std::string_view key, bool& to);
    void text(std::string_view key, std::string& to);
    // One of names; to becomes its position.
    template <class Enum>
    void word(std::string_view key, std::span<const std::string_view> names, Enum& to) {
        if (const int position = word_of(key, names); position >= 0) to = static_cast<Enum>(position);
    }

    // Tables below this one; path_of: of a key.
    const TomlNode* part(std::string_view key);
    std::vector<const TomlNode*> parts(std::string_view key);
    std::string path_of(std::string_view key) const;
    std::string path_of(std::string_view key, std::size_t index) const;

    TomlTable& table() { return table_; }
    TomlReader& reader() { return reader_; }
    // Told at the key, with hints.
    void refuse(std::string_view key, std::string message, std::vector<std::string> hints = {});

private:
    using Parse = std::optional<double> (*)(std::string_view);
    void quantity(std::string_view key, std::string_view what, std::string_view example, std::string_view units, Parse parse, double scale, double& to);
    int word_of(std::string_view key, std::span<const std::string_view> names);
    const TomlNode* take(std::string_view key);

    TomlReader& reader_;
    ScenarioPlaces& places_;
    TomlTable table_;
    std::string path_;
};

}  // namespace paced::io
