// SPDX-License-Identifier: BSD-3-Clause
// The one file that compiles toml++, without its exceptions and printers: that is most of its cost.
#include "policy/io/toml_tree.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "policy/base/text.h"

// With NDEBUG toml++ 3.3 turns its assertions into promises to the optimizer, without it into aborts; both are wrong
// where a file can break one, as the table header "[=]" does. What follows each of them copes.
#undef NDEBUG
#define TOML_ASSERT(expression) static_assert(true)
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace paced::io {

namespace {

// toml++ goes one call deeper for each dot of a key, also when it frees them: a line of 100,000 dots would end us.
constexpr std::size_t longest_line = 4096;
// And so would we. No file of ours is deeper than four tables; what lies below is left out, and its reader names the key above.
constexpr int deepest = 64;

std::optional<int> overlong_line(std::string_view text) {
    int number = 1;
    for (const std::string_view line : split(text, '\n')) {
        if (line.size() > longest_line) return number;
        ++number;
    }
    return std::nullopt;
}

template <class Place>
void put(Place& to, const toml::source_region& region) {
    to.line = static_cast<int>(region.begin.line);
    to.column = static_cast<int>(region.begin.column);
}

TomlNode node_of(const toml::node& source, int depth);

void add_entries(TomlNode& to, const toml::table& source, int depth) {
    std::vector<std::pair<TomlKey, const toml::node*>> entries;
    for (const auto& [key, value] : source) {
        TomlKey entry;
        entry.text = std::string(key.str());
        put(entry, key.source());
        entries.emplace_back(std::move(entry), &value);
    }
    // toml++ sorts keys by name; people read them in the order of the file
    std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
        return std::tie(a.first.line, a.first.column) < std::tie(b.first.line, b.first.column);
    });
    for (auto& [key, value] : entries) {
        to.keys.push_back(std::move(key));
        to.items.push_back(node_of(*value, depth + 1));
    }
}

TomlNode node_of(const toml::node& source, int depth) {
    TomlNode node;
    put(node, source.source());
    if (const toml::table* table = source.as_table()) {
        if (depth < deepest) add_entries(node, *table, depth);
    } else if (const toml::array* array = source.as_array()) {
        node.kind = TomlNode::Kind::array;
        if (depth < deepest)
            for (const toml::node& item : *array) node.items.push_back(node_of(item, depth + 1));
    } else if (const auto* text = source.as_string()) {
        node.kind = TomlNode::Kind::string;
        node.text = text->get();
    } else if (const auto* integer = source.as_integer()) {
        node.kind = TomlNode::Kind::integer;
        node.integer = integer->get();
        if (const auto number = source.value<double>()) node.number = *number;
    } else if (const auto* number = source.as_floating_point()) {
        node.kind = TomlNode::Kind::number;
        node.number = number->get();
    } else if (const auto* truth = source.as_boolean()) {
        node.kind = TomlNode::Kind::boolean;
        node.truth = truth->get();
    } else {
        node.kind = TomlNode::Kind::time;
    }
    return node;
}

// "decimal integer: expected digit, saw 'g'"
bool stops_at_letter_in_number(std::string_view words) {
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    const bool number = words.find("decimal integer") != std::string_view::npos || words.find("floating-point") != std::string_view::npos;
    return number && words.size() > 3 && words.back() == '\'' && words[words.size() - 3] == '\'' && is_letter(words[words.size() - 2]);
}

// The parser's words are for those who know TOML's grammar.
void tell_of_syntax(const toml::parse_error& error, const std::string& file, Diagnostics& diagnostics) {
    constexpr std::string_view lead = "Error while parsing ";
    std::string_view words = error.description();
    std::string message = "not TOML: ";
    if (words.starts_with(lead))
        message.append("in a ").append(words.substr(lead.size()));
    else
        message.append(words);
    Location where{file, 0, 0};
    put(where, error.source());
    Diagnostic& entry = diagnostics.error(std::move(where), std::move(message));

    constexpr std::array<std::pair<std::string_view, std::string_view>, 4> hints{{
        {"could not determine value type", "texts stand in quotes: key = \"text\""},
        {"unescaped control characters", "is the closing quote missing?"},
        {"utf-8", "save the file as UTF-8"},
        {"cannot redefine", "it stands twice: keep one"},
    }};
    for (const auto& [part, hint] : hints)
        if (words.find(part) != std::string_view::npos) entry.hints.emplace_back(hint);
    if (stops_at_letter_in_number(words)) entry.hints.emplace_back("a number with a unit stands in quotes: key = \"200gbit\"");
}

}  // namespace

const TomlNode* TomlNode::find(std::string_view key) const {
    for (std::size_t i = 0; i < keys.size(); ++i)
        if (keys[i].text == key) return &items[i];
    return nullptr;
}

std::string_view kind_in_words(const TomlNode& node) {
    switch (node.kind) {
        case TomlNode::Kind::table: return "a table";
        case TomlNode::Kind::array: return "an array";
        case TomlNode::Kind::string: return "a string";
        case TomlNode::Kind::integer: return "an integer";
        case TomlNode::Kind::number: return "a number";
        case TomlNode::Kind::boolean: return "a boolean";
        case TomlNode::Kind::time: break;
    }
    return "a date or time";
}

std::optional<TomlNode> parse_toml(std::string_view text, const std::string& file, Diagnostics& diagnostics) {
    if (const auto line = overlong_line(text)) {
        diagnostics.error({file, *line, 1}, "this line is longer than " + std::to_string(longest_line) + " bytes");
        return std::nullopt;
    }
    const toml::parse_result parsed = toml::parse(text);
    if (parsed) return node_of(parsed.table(), 0);
    tell_of_syntax(parsed.error(), file, diagnostics);
    return std::nullopt;
}

}  // namespace paced::io
