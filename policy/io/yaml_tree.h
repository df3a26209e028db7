// SPDX-License-Identifier: BSD-3-Clause
// A YAML text as a tree of plain values, each with its place. Stricter than YAML, as Slurm is: one document, no anchors,
// aliases and merge keys, keys are words and stand once in a mapping. So a small text cannot become a large tree.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/base/diagnostics.h"

namespace paced::io {

struct YamlNode {
    enum class Kind { null, scalar, sequence, mapping };

    Kind kind = Kind::null;
    int line = 1, column = 1;
    std::string text;             // of a scalar
    std::vector<YamlNode> keys;   // of a mapping: scalars
    std::vector<YamlNode> items;  // of a sequence; of a mapping the values, one for each key

    const YamlNode* find(std::string_view key) const;
};

// "a list", "a mapping", "the word 'x'", "nothing"
std::string kind_in_words(const YamlNode& node);

// nullopt: there is an error among the diagnostics. A text without a document is one ("this file is empty").
std::optional<YamlNode> parse_yaml(std::string_view text, const std::string& file, Diagnostics& diagnostics);

}  // namespace paced::io
