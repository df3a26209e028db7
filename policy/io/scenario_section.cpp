// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/scenario_section.h"

#include <algorithm>
#include <array>
#include <utility>

#include "policy/base/quantity.h"
#include "policy/base/text.h"

namespace paced::io {

namespace {

constexpr int most_whole = 1'000'000'000;

}  // namespace

// "uplink_bytes_s" is written as uplink_rate, "buffer_bytes" as buffer, "mean_s" as mean.
std::string ScenarioPlaces::name_of(std::string_view field) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 3> endings{{{"_bytes_s", "_rate"}, {"_bytes", ""}, {"_s", ""}}};
    for (const auto& [ending, written] : endings)
        if (field.ends_with(ending)) return std::string(field.substr(0, field.size() - ending.size())).append(written);
    return std::string(field);
}

ScenarioPlaces::Place ScenarioPlaces::of(std::string_view field) const {
    for (;;) {
        for (const std::string& path : {std::string(field), name_of(field)})
            if (const auto found = values_.find(path); found != values_.end()) return {found->second, path};
        if (const auto found = tables_.find(field); found != tables_.end()) return {found->second, {}};
        if (field.empty()) return {};
        const auto cut = field.find_last_of(".[");
        field = field.substr(0, cut == std::string_view::npos ? 0 : cut);
    }
}

ScenarioSection::ScenarioSection(TomlReader& reader, ScenarioPlaces& places, const TomlNode& node, std::string path, std::string title)
    : reader_(reader), places_(places), table_(reader, node, std::move(title)), path_(std::move(path)) {
    places_.note_table(path_, table_.place());
}

std::string ScenarioSection::path_of(std::string_view key) const { return path_.empty() ? std::string(key) : path_ + '.' + std::string(key); }

std::string ScenarioSection::path_of(std::string_view key, std::size_t index) const { return path_of(key) + '[' + std::to_string(index) + ']'; }

const TomlNode* ScenarioSection::take(std::string_view key) {
    const TomlNode* node = table_.take(key);
    if (node != nullptr) places_.note(path_of(key), reader_.where(*node));
    return node;
}

void ScenarioSection::refuse(std::string_view key, std::string message, std::vector<std::string> hints) {
    table_.refuse(key, Error{std::move(message), std::move(hints)});
}

void ScenarioSection::quantity(std::string_view key, std::string_view what, std::string_view example, std::string_view units, Parse parse, double scale, double& to) {
    const TomlNode* node = take(key);
    if (node == nullptr) return;
    const std::string valid = "valid: a number with " + std::string(units) + " at once behind it, such as \"" + std::string(example) + '"';
    if (node->kind != TomlNode::Kind::string) {
        reader_.wrong_type(key, "a " + std::string(what) + " in quotes", *node).hints.push_back(valid);
    } else if (node->text == "0") {
        to = 0;
    } else if (const auto value = parse(node->text)) {
        to = *value * scale;
    } else {
        refuse(key, "bad " + std::string(what) + ' ' + in_quotes(node->text) + " for " + in_quotes(key), {valid});
    }
}

void ScenarioSection::rate(std::string_view key, double& bytes_per_second) {
    quantity(key, "rate", "200gbit", "bit, kbit, mbit, gbit or tbit (a second)", parse_rate, 1.0 / 8, bytes_per_second);
}

void ScenarioSection::bytes(std::string_view key, double& to) { quantity(key, "size", "64KiB", "B, KiB, MiB, GiB, kB, MB or GB", parse_bytes, 1, to); }

void ScenarioSection::seconds(std::string_view key, double& to) { quantity(key, "time", "12ms", "ns, us, ms, s, min or h", parse_seconds, 1, to); }

void ScenarioSection::number(std::string_view key, double& to) {
    const TomlNode* node = take(key);
    if (node == nullptr) return;
    if (node->number)
        to = *node->number;
    else
        reader_.wrong_type(key, "a number", *node);
}

void ScenarioSection::whole(std::string_view key, std::uint32_t& to) {
    if (const TomlNode* node = take(key); node == nullptr) return;
    if (const auto value = table_.take_whole(key, 0, most_whole)) to = static_cast<std::uint32_t>(*value);
}

void ScenarioSection::truth(std::string_view key, bool& to) {
    if (const TomlNode* node = take(key); node == nullptr) return;
    if (const auto value = table_.take_truth(key)) to = *value;
}

void ScenarioSection::text(std::string_view key, std::string& to) {
    if (const TomlNode* node = take(key); node == nullptr) return;
    if (const std::string* value = table_.take_string(key)) to = *value;
}

int ScenarioSection::word_of(std::string_view key, std::span<const std::string_view> names) {
    if (const TomlNode* node = take(key); node == nullptr) return -1;
    const std::string* value = table_.take_string(key);
    if (value == nullptr) return -1;
    const auto found = std::find(names.begin(), names.end(), *value);
    if (found != names.end()) return static_cast<int>(found - names.begin());
    refuse(key, "unknown " + std::string(key) + ' ' + in_quotes(*value), hints_for(*value, names));
    return -1;
}

const TomlNode* ScenarioSection::part(std::string_view key) { return table_.take_table(key); }

std::vector<const TomlNode*> ScenarioSection::parts(std::string_view key) {
    return table_.take_tables(key, "each begins with [[" + path_of(key) + "]], in two pairs of brackets");
}

}  // namespace paced::io
