// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/yaml_fields.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <utility>

#include "policy/base/text.h"
#include "policy/io/slurm_conf.h"
#include "policy/topology/host_list.h"

namespace paced::io {

bool YamlFields::is_sequence(const YamlNode& node, std::string_view what) {
    if (node.kind == YamlNode::Kind::sequence) return true;
    diagnostics_.error(place(node), std::string(what) + " must be a list, and this is " + kind_in_words(node));
    return false;
}

bool YamlFields::is_mapping(const YamlNode& node, std::string_view what) {
    if (node.kind == YamlNode::Kind::mapping) return true;
    diagnostics_.error(place(node), std::string(what) + " must be a mapping (key: value), and this is " + kind_in_words(node));
    return false;
}

std::optional<std::string> YamlFields::word(const YamlNode& node, std::string_view what) {
    if (node.kind == YamlNode::Kind::scalar && !node.text.empty()) return node.text;
    diagnostics_.error(place(node), std::string(what) + " must be a word, and this is " +
                                        (node.kind == YamlNode::Kind::scalar ? std::string("empty") : kind_in_words(node)));
    return std::nullopt;
}

std::optional<bool> YamlFields::yes_or_no(const YamlNode& node, std::string_view what) {
    constexpr std::array<std::string_view, 3> yes{"true", "yes", "on"}, no{"false", "no", "off"};
    const auto is = [&](std::string_view each) { return node.kind == YamlNode::Kind::scalar && same_key(each, node.text); };
    if (std::any_of(yes.begin(), yes.end(), is)) return true;
    if (std::any_of(no.begin(), no.end(), is)) return false;
    diagnostics_.error(place(node), std::string(what) + " must be true or false, and this is " + kind_in_words(node));
    return std::nullopt;
}

void YamlFields::only(const YamlNode& mapping, std::string_view what, std::initializer_list<std::string_view> valid, Severity severity) {
    for (const YamlNode& key : mapping.keys) {
        if (std::find(valid.begin(), valid.end(), key.text) != valid.end()) continue;
        std::string message = "unknown key '" + key.text + "' of " + std::string(what);
        Diagnostic& entry = severity == Severity::error ? diagnostics_.error(place(key), std::move(message))
                                                        : diagnostics_.warning(place(key), std::move(message));
        entry.hints = hints_for(key.text, std::span(valid.begin(), valid.size()));
    }
}

std::vector<std::string> YamlFields::hosts(const YamlNode& node, std::string_view what) {
    std::vector<std::string> all;
    if (node.kind == YamlNode::Kind::sequence) {
        for (const YamlNode& item : node.items) {
            if (item.kind == YamlNode::Kind::sequence) {
                diagnostics_.error(place(item), std::string(what) + " must be a list of host lists, and this is a list in it");
                continue;
            }
            auto some = hosts(item, what);
            all.insert(all.end(), std::move_iterator(some.begin()), std::move_iterator(some.end()));
        }
        return all;
    }
    if (node.kind != YamlNode::Kind::scalar) {
        diagnostics_.error(place(node), std::string(what) + " must be a host list like n[1-4,7], and this is " + kind_in_words(node));
        return all;
    }
    topology::HostList list = topology::expand_hosts(node.text);
    for (const topology::HostListError& error : list.errors) {
        Location where = place(node);
        where.column += static_cast<int>(error.position);
        diagnostics_.error(std::move(where), error.message);
    }
    return std::move(list.hosts);
}

}  // namespace paced::io
