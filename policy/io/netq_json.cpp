// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/netq_json.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "policy/base/text.h"
#include "policy/topology/switch_graph.h"

namespace paced::io {

namespace {

using namespace paced::topology;
using nlohmann::json;

Location place_of(std::string_view text, std::size_t byte, const std::string& file) {
    const std::string_view before = text.substr(0, std::min(byte > 0 ? byte - 1 : 0, text.size()));
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const std::size_t newline = before.rfind('\n');
    return {file, static_cast<int>(line), static_cast<int>(before.size() - (newline == std::string_view::npos ? 0 : newline + 1)) + 1};
}

std::string text_of(const json& object, const char* key) {
    if (!object.is_object()) return {};
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

const json& list_of(const json& object, const char* key) {
    static const json none = json::array();
    if (!object.is_object()) return none;
    const auto found = object.find(key);
    return found != object.end() && found->is_array() ? *found : none;
}

bool all_have(const json& list, std::initializer_list<const char*> keys) {
    return list.is_array() && !list.empty() && std::all_of(list.begin(), list.end(), [&](const json& each) {
               return each.is_object() && std::all_of(keys.begin(), keys.end(), [&](const char* key) { return each.contains(key); });
           });
}

class GraphReader {
public:
    GraphReader(const std::string& file, Diagnostics& diagnostics) : file_(file), diagnostics_(diagnostics) {}

    FabricTopology read(const json& parts) {
        for (const json& part : parts)
            for (const json& tier : list_of(part, "nodes"))
                for (const json& node : list_of(tier, "compounded_nodes")) read_node(node);
        for (const json& part : parts)
            for (const json& link : list_of(part, "links")) read_link(link);
        FabricTopology fabric = fabric_of(graph_, file_, diagnostics_);
        fabric.origin =
            file_ + " (NetQ topology graph, " + count_of(static_cast<long long>(graph_.switches.size()), "switch", "switches") + ')';
        return fabric;
    }

private:
    struct Node {
        bool is_switch = false;
        SwitchGraph::Index index = 0;  // in hosts or in switches
    };

    void read_node(const json& node) {
        const std::string id = text_of(node, "id");
        std::string name = text_of(node, "name");
        if (name.empty()) name = id;
        if (id.empty() || nodes_.contains(id)) {
            diagnostics_.error({file_, 0, 0},
                               id.empty() ? "a node of this graph has no id" : "node '" + id + "' stands twice in this graph");
            return;
        }
        // Hosts are "host", or "discovered_via_lldp" where no agent of NetQ runs on them.
        if (text_of(node, "device_type") == "switch") {
            nodes_[id] = {true, static_cast<SwitchGraph::Index>(graph_.switches.size())};
            graph_.switches.push_back({std::move(name), id});
            return;
        }
        const auto [known, is_new] = hosts_.try_emplace(name, static_cast<SwitchGraph::Index>(graph_.hosts.size()));
        if (is_new) graph_.hosts.push_back({std::move(name), {}});
        nodes_[id] = {false, known->second};
    }

    void read_link(const json& link) {
        const json& ends = list_of(link, "interfaces");
        if (ends.size() != 2) {
            diagnostics_.error({file_, 0, 0}, "link '" + text_of(link, "id") + "' has " +
                                                  count_of(static_cast<long long>(ends.size()), "end") + ", not 2");
            return;
        }
        const auto a = nodes_.find(text_of(ends[0], "node")), b = nodes_.find(text_of(ends[1], "node"));
        if (a == nodes_.end() || b == nodes_.end()) {
            diagnostics_.error({file_, 0, 0}, "link '" + text_of(link, "id") + "' ends at a node that this graph does not have");
            return;
        }
        const Node &x = a->second, &y = b->second;
        if (x.is_switch && y.is_switch && x.index != y.index) graph_.links.emplace_back(x.index, y.index);
        if (x.is_switch != y.is_switch) graph_.hosts[x.is_switch ? y.index : x.index].leaves.push_back(x.is_switch ? x.index : y.index);
    }

    const std::string& file_;
    Diagnostics& diagnostics_;
    SwitchGraph graph_;
    std::unordered_map<std::string, Node> nodes_;
    std::unordered_map<std::string, SwitchGraph::Index> hosts_;
};

FabricTopology read_compute_nodes(const json& nodes, const std::string& file, Diagnostics& diagnostics) {
    std::map<std::string, std::vector<std::string>> domains;
    for (const json& node : nodes) {
        const std::string name = text_of(node, "Name"), domain = text_of(node, "DomainUUID");
        if (name.empty())
            diagnostics.error({file, 0, 0}, "a compute node has no name");
        else if (!domain.empty())
            domains[domain].push_back(name);
    }
    FabricBuilder builder;
    for (auto& [domain, hosts] : domains) builder.add_switch(domain, std::move(hosts), {}, {file, 0, 0});
    FabricTopology fabric = std::move(builder).build(diagnostics);
    fabric.kind = FabricKind::blocks;
    fabric.origin = file + " (NetQ compute nodes, by NVLink domain)";
    return fabric;
}

}  // namespace

std::optional<FabricTopology> parse_netq_json(std::string_view text, const std::string& file, Diagnostics& diagnostics) {
    Diagnostics own;
    std::optional<FabricTopology> fabric;
    try {
        const json root = json::parse(text);
        if (all_have(root, {"nodes", "links"}))
            fabric = GraphReader(file, own).read(root);
        else if (all_have(root, {"Name", "DomainUUID"}))
            fabric = read_compute_nodes(root, file, own);
        else
            own.error({file, 1, 1}, "this JSON describes no fabric that is known here")
                .hints.push_back("known is what NetQ gives for topologyGraph and computeNodes");
    } catch (const json::parse_error& mistake) {
        std::string_view why = mistake.what();
        if (const std::size_t at = why.find(": "); at != std::string_view::npos) why.remove_prefix(at + 2);
        own.error(place_of(text, mistake.byte, file), "no JSON: " + std::string(why));
    } catch (const json::exception& mistake) {
        own.error({file, 0, 0}, std::string("no JSON: ") + mistake.what());
    }
    if (fabric && !own.has_errors() && fabric->switches().empty()) own.error({file, 1, 1}, "no host in this file hangs on a switch");
    if (own.has_errors()) fabric.reset();
    diagnostics.append(own);
    return fabric;
}

}  // namespace paced::io
