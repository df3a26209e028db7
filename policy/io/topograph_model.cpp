// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/topograph_model.h"

#include <iterator>
#include <unordered_map>
#include <utility>
#include <vector>

#include "policy/io/yaml_fields.h"
#include "policy/io/yaml_tree.h"

namespace paced::io {

namespace {

using namespace paced::topology;

class Reader {
public:
    Reader(const std::string& file, Diagnostics& diagnostics) : diagnostics_(diagnostics), fields_(file, diagnostics) {}

    FabricTopology read(const YamlNode& root) {
        fields_.only(root, "a model", {"switches", "blocks", "nodes", "capacity_blocks", "topology"}, Severity::warning);
        if (const YamlNode* blocks = root.find("capacity_blocks"))
            each_named(*blocks, "a capacity block", [&](auto& name, auto& body) { read_capacity_block(name, body); });
        if (const YamlNode* switches = root.find("switches"))
            each_named(*switches, "a switch", [&](auto& name, auto& body) { read_switch(name, body); });
        if (const YamlNode* blocks = root.find("blocks"); blocks != nullptr && fields_.is_sequence(*blocks, "blocks"))
            for (const YamlNode& block : blocks->items) read_block(block);
        FabricBuilder builder;
        if (diagnostics_.has_errors()) switches_.clear();  // the builder would miss what was not read
        for (Known& each : switches_)
            builder.add_switch(std::move(each.name), std::move(each.hosts), std::move(each.children), std::move(each.where));
        return std::move(builder).build(diagnostics_);
    }

private:
    struct Known {
        std::string name;
        std::vector<std::string> hosts, children;
        Location where;
    };

    // By name, or a list of mappings with `name:`.
    template <class Read>
    void each_named(const YamlNode& node, std::string_view what, Read&& read) {
        if (node.kind == YamlNode::Kind::mapping) {
            for (std::size_t i = 0; i < node.keys.size(); ++i)
                if (fields_.is_mapping(node.items[i], what)) read(node.keys[i], node.items[i]);
            return;
        }
        if (!fields_.is_sequence(node, std::string("what gives ") + std::string(what))) return;
        for (const YamlNode& item : node.items) {
            if (!fields_.is_mapping(item, what)) continue;
            const YamlNode* name = item.find("name");
            if (name == nullptr)
                diagnostics_.error(fields_.place(item), std::string(what) + " here has no name")
                    .hints.push_back("its name is given by: name: NAME");
            else if (fields_.word(*name, "the name of " + std::string(what)))
                read(*name, item);
        }
    }

    void read_capacity_block(const YamlNode& name, const YamlNode& body) {
        if (const YamlNode* nodes = body.find("nodes")) hosts_of_block_[name.text] = fields_.hosts(*nodes, "nodes");
    }

    void read_switch(const YamlNode& name, const YamlNode& body) {
        fields_.only(body, "a switch", {"name", "switches", "nodes", "capacity_blocks", "labels", "annotations", "metadata", "attributes"},
                     Severity::warning);
        Known fabric_switch{name.text, {}, {}, fields_.place(name)};
        if (const YamlNode* below = body.find("switches")) fabric_switch.children = fields_.hosts(*below, "switches");
        if (const YamlNode* nodes = body.find("nodes")) fabric_switch.hosts = fields_.hosts(*nodes, "nodes");
        if (const YamlNode* blocks = body.find("capacity_blocks"); blocks != nullptr && fields_.is_sequence(*blocks, "capacity_blocks")) {
            for (const YamlNode& block : blocks->items) {
                const auto word = fields_.word(block, "a capacity block's name");
                if (!word) continue;
                const auto found = hosts_of_block_.find(*word);
                if (found == hosts_of_block_.end())
                    diagnostics_.error(fields_.place(block), "capacity block '" + *word + "' is not defined");
                else
                    fabric_switch.hosts.insert(fabric_switch.hosts.end(), found->second.begin(), found->second.end());
            }
        }
        index_of_.try_emplace(fabric_switch.name, switches_.size());  // the builder tells of doubles
        switches_.push_back(std::move(fabric_switch));
    }

    void read_block(const YamlNode& block) {
        if (!fields_.is_mapping(block, "a block")) return;
        fields_.only(block, "a block", {"switch", "nodes", "labels", "annotations", "metadata", "attributes", "name", "type"},
                     Severity::warning);
        const YamlNode* on = block.find("switch");
        const YamlNode* nodes = block.find("nodes");
        if (on == nullptr || nodes == nullptr) {
            diagnostics_.warning(fields_.place(block), on == nullptr ? "this block is on no switch" : "this block has no nodes");
            return;
        }
        const auto name = fields_.word(*on, "a block's switch");
        auto hosts = fields_.hosts(*nodes, "nodes");
        if (!name) return;
        const auto [found, is_new] = index_of_.try_emplace(*name, switches_.size());
        if (is_new) switches_.push_back({*name, {}, {}, fields_.place(*on)});  // leaves are named by blocks alone
        auto& all = switches_[found->second].hosts;
        all.insert(all.end(), std::move_iterator(hosts.begin()), std::move_iterator(hosts.end()));
    }

    Diagnostics& diagnostics_;
    YamlFields fields_;
    std::unordered_map<std::string, std::vector<std::string>> hosts_of_block_;
    std::vector<Known> switches_;
    std::unordered_map<std::string, std::size_t> index_of_;
};

}  // namespace

std::optional<FabricTopology> parse_topograph_model(std::string_view text, const std::string& file, Diagnostics& diagnostics) {
    Diagnostics own;
    std::optional<FabricTopology> fabric;
    if (const auto root = parse_yaml(text, file, own); root && YamlFields(file, own).is_mapping(*root, "a model")) {
        fabric = Reader(file, own).read(*root);
        fabric->origin = file + " (a topograph model)";
        if (!own.has_errors() && fabric->switches().empty())
            own.error({file, root->line, root->column}, "there is no switch in this model");
    }
    if (own.has_errors()) fabric.reset();
    diagnostics.append(own);
    return fabric;
}

}  // namespace paced::io
