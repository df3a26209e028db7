// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/toml_table.h"

#include <algorithm>
#include <cmath>

#include "policy/base/text.h"
#include "policy/config/pacing.h"

namespace paced::io {

std::string in_quotes(std::string_view text) { return '\'' + std::string(text) + '\''; }

Diagnostic& TomlReader::wrong_type(std::string_view key, std::string_view expected, const TomlNode& node) {
    return error(where(node), in_quotes(key).append(" must be ").append(expected).append(", not ").append(kind_in_words(node)));
}

bool TomlTable::take_schema(int newest) {
    const TomlNode* node = take("schema");
    const std::string line = "write 'schema = " + std::to_string(newest) + "' as the first line";
    if (node == nullptr) {
        reader_.error({reader_.file(), 1, 1}, "'schema' is missing").hints.push_back(line);
    } else if (node->kind != TomlNode::Kind::integer) {
        reader_.wrong_type("schema", "an integer", *node).hints.push_back(line);
    } else if (node->integer < 1) {
        reader_.error(reader_.where(*node), "there is no schema " + std::to_string(node->integer)).hints.push_back(line);
    } else if (node->integer > newest) {
        reader_.error(reader_.where(*node), "schema " + std::to_string(node->integer) + " is newer than this program, which knows schema " + std::to_string(newest));
        return false;
    }
    return true;
}

const TomlNode* TomlTable::take(std::string_view key) {
    if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.push_back(key);
    return table_.find(key);
}

const TomlNode* TomlTable::take_table(std::string_view key) {
    const TomlNode* node = take(key);
    if (node == nullptr || node->is_table()) return node;
    reader_.wrong_type(key, "a table", *node);
    return nullptr;
}

std::vector<const TomlNode*> TomlTable::take_tables(std::string_view key, std::string_view example) {
    constexpr std::string_view expected = "an array of tables";
    std::vector<const TomlNode*> tables;
    const TomlNode* node = take(key);
    if (node == nullptr) return tables;
    if (node->kind != TomlNode::Kind::array) {
        reader_.wrong_type(key, expected, *node).hints.emplace_back(example);
        return tables;
    }
    for (const TomlNode& element : node->items) {
        if (element.is_table())
            tables.push_back(&element);
        else
            reader_.wrong_type(key, expected, element);
    }
    return tables;
}

const std::string* TomlTable::take_string(std::string_view key) {
    const TomlNode* node = take(key);
    if (node == nullptr) return nullptr;
    if (node->kind == TomlNode::Kind::string) return &node->text;
    reader_.wrong_type(key, "a string", *node);
    return nullptr;
}

void TomlTable::take_names(std::string_view key, std::vector<std::string>& to) {
    constexpr std::string_view expected = "a string or an array of strings";
    const TomlNode* node = take(key);
    if (node == nullptr) return;
    if (node->kind == TomlNode::Kind::array) {
        if (node->items.empty()) reader_.error(reader_.where(*node), in_quotes(key) + " is an empty array and could never match");
        for (const TomlNode& element : node->items) add_name(key, element, expected, to);
    } else {
        add_name(key, *node, expected, to);
    }
}

std::optional<int> TomlTable::take_whole(std::string_view key, int least, int most) {
    const TomlNode* node = take(key);
    return node == nullptr ? std::nullopt : whole_of(key, *node, "an integer", least, most);
}

std::optional<std::vector<int>> TomlTable::take_wholes(std::string_view key, int least, int most) {
    constexpr std::string_view expected = "an integer or an array of integers";
    const TomlNode* node = take(key);
    if (node == nullptr) return std::nullopt;
    std::vector<int> numbers;
    bool good = true;
    const auto add = [&](const TomlNode& element) {
        const auto number = whole_of(key, element, expected, least, most);
        if (number) numbers.push_back(*number);
        good = good && number.has_value();
    };
    if (node->kind != TomlNode::Kind::array) {
        add(*node);
    } else if (node->items.empty()) {
        reader_.error(reader_.where(*node), in_quotes(key) + " is an empty array");
        good = false;
    } else {
        for (const TomlNode& element : node->items) add(element);
    }
    return good ? std::optional(std::move(numbers)) : std::nullopt;
}

std::optional<double> TomlTable::take_number(std::string_view key, double least, double most, std::string_view unit, bool whole) {
    const TomlNode* node = take(key);
    if (node == nullptr) return std::nullopt;
    const auto value = node->number;
    if (!value) {
        reader_.wrong_type(key, "a number", *node);
    } else if (!(*value >= least && *value <= most)) {
        std::string message = in_quotes(key) + " must be from " + config::number_text(least) + " to " + config::number_text(most);
        if (!unit.empty()) message.append(" (").append(unit).append(")");
        reader_.error(reader_.where(*node), std::move(message));
    } else if (whole && *value != std::floor(*value)) {
        reader_.error(reader_.where(*node), in_quotes(key) + " must be a whole number");
    } else {
        return value;
    }
    return std::nullopt;
}

std::optional<bool> TomlTable::take_truth(std::string_view key) {
    const TomlNode* node = take(key);
    if (node == nullptr) return std::nullopt;
    if (node->kind == TomlNode::Kind::boolean) return node->truth;
    reader_.wrong_type(key, "true or false", *node);
    return std::nullopt;
}

Location TomlTable::place(std::string_view key) const {
    const TomlNode* node = table_.find(key);
    return reader_.where(node == nullptr ? table_ : *node);
}

void TomlTable::refuse(std::string_view key, const Error& error) { reader_.error(place(key), error.message).hints = error.hints; }

void TomlTable::refuse_the_rest(std::string_view instead) {
    for (const TomlKey& key : table_.keys) {
        if (std::find(known_.begin(), known_.end(), key.text) != known_.end()) continue;
        std::string message = "unknown key " + in_quotes(key.text);
        if (!name_.empty()) message += " in " + name_;
        std::vector<std::string>& hints = reader_.error(reader_.where(key), std::move(message)).hints;
        hints = hints_for(key.text, known_);
        if (!instead.empty()) hints.back() = instead;
    }
}

void TomlTable::add_name(std::string_view key, const TomlNode& node, std::string_view expected, std::vector<std::string>& to) {
    if (node.kind != TomlNode::Kind::string)
        reader_.wrong_type(key, expected, node);
    else if (node.text.empty())
        reader_.error(reader_.where(node), in_quotes(key) + " holds an empty name");
    else
        to.push_back(node.text);
}

std::optional<int> TomlTable::whole_of(std::string_view key, const TomlNode& node, std::string_view expected, int least, int most) {
    if (node.kind != TomlNode::Kind::integer)
        reader_.wrong_type(key, expected, node);
    else if (node.integer < least || node.integer > most)
        reader_.error(reader_.where(node), in_quotes(key) + " must be from " + std::to_string(least) + " to " + std::to_string(most));
    else
        return static_cast<int>(node.integer);
    return std::nullopt;
}

}  // namespace paced::io
