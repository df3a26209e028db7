// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/topology_yaml.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "policy/base/text.h"
#include "policy/io/yaml_fields.h"
#include "policy/io/yaml_tree.h"

namespace paced::io {

namespace {

using namespace paced::topology;

constexpr std::array<std::string_view, 5> types{"tree", "block", "flat", "ring", "torus3d"};

struct Named {
    std::string name;
    bool is_default = false;
    std::string_view type;  // "tree", "block", ...; empty: none
    const YamlNode* body = nullptr;
    Location where;

    bool usable() const { return type == "tree" || type == "block"; }
};

std::string in_words(std::string_view type) {
    return type == "flat" ? "flat" : type == "ring" ? "a ring" : "a torus";
}

std::string why_unusable(std::string_view type) {
    return "it is " + in_words(type) +
           (type == "flat" ? ": it says nothing of where nodes are" : ": its nodes have neighbours, but no switches to stay under");
}

class Reader {
public:
    Reader(const std::string& file, Diagnostics& diagnostics) : file_(file), diagnostics_(diagnostics), fields_(file, diagnostics) {}

    std::optional<FabricTopology> read(const YamlNode& root, std::string_view name) {
        if (!fields_.is_sequence(root, "topology.yaml")) return std::nullopt;
        if (root.items.empty()) {
            diagnostics_.error(fields_.place(root), "there is no topology in this list");
            return std::nullopt;
        }
        for (const YamlNode& item : root.items) read_topology(item);
        if (diagnostics_.has_errors()) return std::nullopt;
        std::string why;
        const Named* taken = name.empty() ? choose(why) : find(name);
        if (taken == nullptr) return std::nullopt;
        FabricTopology fabric = std::move(*builder_of(*taken)).build(diagnostics_);
        fabric.kind = taken->type == "block" ? FabricKind::blocks : FabricKind::tree;
        fabric.origin = file_ + " (topology " + taken->name + (why.empty() ? std::string() : ", " + why) + ')';
        if (fabric.switches().empty()) diagnostics_.warning(taken->where, "no switch in this topology: no host's place is known");
        return fabric;
    }

private:
    void read_topology(const YamlNode& item) {
        if (!fields_.is_mapping(item, "a topology")) return;
        fields_.only(item, "a topology", {"topology", "cluster_default", "tree", "block", "flat", "ring", "torus3d"});
        Named named;
        named.where = fields_.place(item);
        if (const YamlNode* name = item.find("topology")) {
            named.name = fields_.word(*name, "a topology's name").value_or("");
            named.where = fields_.place(*name);
        } else {
            diagnostics_.error(named.where, "this topology has no name").hints.push_back("its first line is: topology: NAME");
        }
        if (const YamlNode* choice = item.find("cluster_default"))
            named.is_default = fields_.yes_or_no(*choice, "cluster_default").value_or(false);
        bool mistyped = false;
        for (std::size_t i = 0; i < item.keys.size(); ++i) {
            const std::string_view key = item.keys[i].text;
            if (key == "topology" || key == "cluster_default") continue;
            if (std::find(types.begin(), types.end(), key) == types.end()) {
                mistyped = true;
                continue;
            }
            if (!named.type.empty()) {
                diagnostics_.error(fields_.place(item.keys[i]),
                                   "a topology has one type, and '" + named.name + "' has '" + std::string(named.type) + "' already");
                continue;
            }
            named.type = key;
            named.body = &item.items[i];
        }
        if (named.type.empty() && !mistyped)
            diagnostics_.error(named.where, "this topology has no type").hints.push_back("valid: " + quoted_list(types));
        for (const Named& other : topologies_)
            if (other.name == named.name && !named.name.empty())
                diagnostics_.error(named.where, "topology '" + named.name + "' is defined twice")
                    .hints.push_back("the first definition is at " + to_string(other.where));
        // A mistake in any of them keeps Slurm from starting.
        if (named.usable())
            builders_.emplace_back(named.type == "tree" ? read_tree(*named.body) : read_block(*named.body));
        else
            builders_.emplace_back();
        topologies_.push_back(std::move(named));
    }

    FabricBuilder read_tree(const YamlNode& body) {
        FabricBuilder builder;
        if (!fields_.is_mapping(body, "tree")) return builder;
        fields_.only(body, "a tree", {"switches"});
        const YamlNode* switches = body.find("switches");
        if (switches == nullptr)
            diagnostics_.error(fields_.place(body), "this tree has no list of switches");
        else
            read_list(*switches, "switch", {"switch", "children", "nodes"}, builder);
        return builder;
    }

    FabricBuilder read_block(const YamlNode& body) {
        FabricBuilder builder;
        if (!fields_.is_mapping(body, "block")) return builder;
        fields_.only(body, "a block topology", {"block_sizes", "blocks"});  // how Slurm groups blocks is not ours
        const YamlNode* blocks = body.find("blocks");
        if (blocks == nullptr)
            diagnostics_.error(fields_.place(body), "this topology has no list of blocks");
        else
            read_list(*blocks, "block", {"block", "nodes"}, builder);
        return builder;
    }

    // kind: "switch" or "block", the key of the name.
    void read_list(const YamlNode& list, const std::string& kind, std::initializer_list<std::string_view> keys, FabricBuilder& builder) {
        if (!fields_.is_sequence(list, kind == "switch" ? "switches" : "blocks")) return;
        for (const YamlNode& item : list.items) {
            if (!fields_.is_mapping(item, "a " + kind)) continue;
            fields_.only(item, "a " + kind, keys);
            const YamlNode* name = item.find(kind);
            if (name == nullptr) {
                diagnostics_.error(fields_.place(item), "this " + kind + " has no name")
                    .hints.push_back("its name is given by: " + kind + ": NAME");
                continue;
            }
            const auto word = fields_.word(*name, "the name of a " + kind);
            if (!word) continue;
            std::vector<std::string> hosts, children;
            if (const YamlNode* nodes = item.find("nodes")) hosts = fields_.hosts(*nodes, "nodes");
            if (const YamlNode* below = item.find("children")) children = fields_.hosts(*below, "children");
            if (item.find("nodes") == nullptr && item.find("children") == nullptr)
                diagnostics_.warning(fields_.place(*name),
                                     kind + " '" + *word + "' has no nodes" + (kind == "switch" ? " and no children" : ""));
            builder.add_switch(*word, std::move(hosts), std::move(children), fields_.place(*name));
        }
    }

    FabricBuilder* builder_of(const Named& named) { return &builders_[static_cast<std::size_t>(&named - topologies_.data())]; }

    const Named* choose(std::string& why) {
        const auto preset = std::find_if(topologies_.begin(), topologies_.end(), [](const Named& each) { return each.is_default; });
        if (preset != topologies_.end() && preset->usable()) {
            why = "the cluster's default";
            return &*preset;
        }
        const auto first = std::find_if(topologies_.begin(), topologies_.end(), [](const Named& each) { return each.usable(); });
        if (first == topologies_.end()) {
            const Named& only = preset != topologies_.end() ? *preset : topologies_.front();
            diagnostics_.error(only.where, "topology '" + only.name + "' cannot be used: " + why_unusable(only.type))
                .hints.push_back("no topology in this file is a tree or has blocks");
            return nullptr;
        }
        why = preset == topologies_.end()
                  ? "the first tree or block; none is the cluster's default"
                  : "the first tree or block; the cluster's default " + preset->name + " is " + in_words(preset->type);
        return &*first;
    }

    const Named* find(std::string_view name) {
        const auto found = std::find_if(topologies_.begin(), topologies_.end(), [&](const Named& each) { return each.name == name; });
        if (found == topologies_.end()) {
            std::vector<std::string_view> names;
            for (const Named& each : topologies_) names.push_back(each.name);
            diagnostics_.error({file_, 0, 0}, "there is no topology '" + std::string(name) + "' in this file").hints =
                hints_for(name, names);
            return nullptr;
        }
        if (found->usable()) return &*found;
        diagnostics_.error(found->where, "topology '" + found->name + "' cannot be used: " + why_unusable(found->type));
        return nullptr;
    }

    const std::string& file_;
    Diagnostics& diagnostics_;
    YamlFields fields_;
    std::vector<Named> topologies_;
    std::vector<FabricBuilder> builders_;  // one for each
};

}  // namespace

std::optional<FabricTopology> parse_topology_yaml(std::string_view text, const std::string& file, std::string_view name,
                                                  Diagnostics& diagnostics) {
    Diagnostics own;
    std::optional<FabricTopology> fabric;
    if (const auto root = parse_yaml(text, file, own)) fabric = Reader(file, own).read(*root, name);
    if (own.has_errors()) fabric.reset();
    diagnostics.append(own);
    return fabric;
}

}  // namespace paced::io
