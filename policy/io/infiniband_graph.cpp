// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/infiniband_graph.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "policy/base/text.h"

namespace paced::io {

namespace {

using topology::SwitchGraph;

constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

std::string guid_text(std::uint64_t guid) {
    std::array<char, 16> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), guid, 16).ptr;
    return "0x" + std::string(digits.data(), end);
}

template <class T>
void sort_unique(std::vector<T>& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
}

}  // namespace

std::optional<std::uint64_t> parse_guid(std::string_view text) {
    if (text.starts_with("0x")) text.remove_prefix(2);
    std::uint64_t guid = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), guid, 16);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return guid;
}

bool is_aggregation_node(std::string_view description) {
    return description.find("Aggregation Node") != std::string_view::npos;
}

std::optional<std::string_view> host_of_description(std::string_view description) {
    description = trim(description);
    if (description.size() > 1 && description.front() == '\'' && description.back() == '\'')
        description = trim(description.substr(1, description.size() - 2));
    const std::string_view host = description.substr(0, description.find_first_of(" \t"));
    if (host.empty() || host == "localhost" || host == "(none)" || host.starts_with("localhost.") || is_aggregation_node(description))
        return std::nullopt;
    // What an adapter says before its driver has told it the host's name.
    if (description.find("Mellanox Technologies") != std::string_view::npos || host.starts_with("ConnectX")) return std::nullopt;
    if (host.starts_with("MT") && host.find_first_not_of("0123456789", 2) == std::string_view::npos &&
        description.find("ConnectX") != std::string_view::npos)
        return std::nullopt;
    return host;
}

std::string switch_name_of_description(std::string_view description) {
    description = trim(description);
    const std::size_t semicolon = description.find(';'), colon = description.rfind(':');
    if (!description.starts_with("MF") || semicolon == std::string_view::npos || colon == std::string_view::npos || colon <= semicolon + 1)
        return std::string(description);
    std::string name(description.substr(semicolon + 1, colon - semicolon - 1));
    const std::string_view chip = description.substr(colon + 1);  // "MQM8700/U1", "CS7500/L02/U1"
    const std::size_t slash = chip.find('/');
    if (slash != std::string_view::npos && chip.find('/', slash + 1) != std::string_view::npos) name += chip.substr(slash);
    return name;
}

InfinibandGraph::Node InfinibandGraph::node(Kind kind, std::uint64_t guid, std::string_view description) {
    const auto [found, is_new] = node_of_.try_emplace(guid, static_cast<Node>(nodes_.size()));
    if (is_new) nodes_.push_back({guid, description, kind});
    else if (nodes_[found->second].description.empty()) nodes_[found->second].description = description;
    return found->second;
}

SwitchGraph InfinibandGraph::finish(const std::string& file, Diagnostics& diagnostics) const {
    SwitchGraph graph;
    std::vector<std::uint32_t> index_of(nodes_.size(), none);  // in switches or in hosts, as the node is
    std::unordered_map<std::string_view, std::uint32_t> host_of;
    std::string_view example;
    long long unnamed = 0;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const Entry& node = nodes_[i];
        if (node.kind == Kind::fabric_switch) {
            index_of[i] = static_cast<std::uint32_t>(graph.switches.size());
            std::string name = switch_name_of_description(node.description);
            const std::string guid = guid_text(node.guid);
            graph.switches.push_back({name.empty() ? guid : std::move(name), guid});
        } else if (node.kind == Kind::adapter) {
            const auto host = host_of_description(node.description);
            if (!host) {
                if (is_aggregation_node(node.description)) continue;
                if (unnamed++ == 0) example = node.description;
                continue;
            }
            const auto [found, is_new] = host_of.try_emplace(*host, static_cast<std::uint32_t>(graph.hosts.size()));
            if (is_new) graph.hosts.push_back({std::string(*host), {}});
            index_of[i] = found->second;
        }
    }
    for (auto [a, b] : links_) {
        if (index_of[a] == none || index_of[b] == none) continue;
        if (nodes_[a].kind == Kind::adapter) std::swap(a, b);
        if (nodes_[a].kind == Kind::adapter) continue;  // back to back, without a switch
        if (nodes_[b].kind == Kind::adapter) graph.hosts[index_of[b]].leaves.push_back(index_of[a]);
        else if (a != b) graph.links.emplace_back(std::min(index_of[a], index_of[b]), std::max(index_of[a], index_of[b]));
    }
    // Every link is told from both its ends.
    sort_unique(graph.links);
    for (SwitchGraph::Host& host : graph.hosts) sort_unique(host.leaves);
    if (unnamed > 0)
        diagnostics
            .warning({file, 0, 0}, count_of(unnamed, "adapter") + (unnamed == 1 ? " names" : " name") + " no host, as '" +
                                       std::string(example) + "' does not; " + (unnamed == 1 ? "it is" : "they are") + " left out")
            .hints.push_back("a node description is set by rdma-ndd, or by opensm's node name map");
    return graph;
}

}  // namespace paced::io
