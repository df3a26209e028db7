// SPDX-License-Identifier: BSD-3-Clause
// What readers of YAML formats share: values of an expected kind, or an error with the place and what is valid.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/base/diagnostics.h"
#include "policy/io/yaml_tree.h"

namespace paced::io {

class YamlFields {
public:
    YamlFields(const std::string& file, Diagnostics& diagnostics) : file_(file), diagnostics_(diagnostics) {}

    Location place(const YamlNode& node) const { return {file_, node.line, node.column}; }

    // False, with an error: node is not of the kind. what: "switches", "the topology".
    bool is_sequence(const YamlNode& node, std::string_view what);
    bool is_mapping(const YamlNode& node, std::string_view what);
    std::optional<std::string> word(const YamlNode& node, std::string_view what);
    std::optional<bool> yes_or_no(const YamlNode& node, std::string_view what);

    // An error (or a warning) for each key that is not valid.
    void only(const YamlNode& mapping, std::string_view what, std::initializer_list<std::string_view> valid,
              Severity severity = Severity::error);

    // The hosts of a host list, or of a list of those. Switch names have the same form.
    std::vector<std::string> hosts(const YamlNode& node, std::string_view what);

private:
    const std::string& file_;
    Diagnostics& diagnostics_;
};

}  // namespace paced::io
