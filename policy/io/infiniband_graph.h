// SPDX-License-Identifier: BSD-3-Clause
// Nodes and links of an InfiniBand subnet, as ibnetdiscover names them: by GUID, with the description that each node
// gives of itself. Both of its output forms end here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "policy/base/diagnostics.h"
#include "policy/topology/switch_graph.h"

namespace paced::io {

// The host that a channel adapter's description names: "dgx001" of "dgx001 mlx5_4" and of "'dgx001 HCA-1'". nullopt: an
// aggregation node of SHARP, the product's own words ("MT4123 ConnectX6 ..."), localhost, or nothing.
std::optional<std::string_view> host_of_description(std::string_view description);
bool is_aggregation_node(std::string_view description);

// "leaf-01" of "MF0;leaf-01:MQM8700/U1", "dir-1/L02/U1" of the chip "MF0;dir-1:CS7500/L02/U1" of a director; others as they are.
std::string switch_name_of_description(std::string_view description);

class InfinibandGraph {
public:
    enum class Kind : std::uint8_t { adapter, fabric_switch, router };
    using Node = std::uint32_t;

    // Texts must outlive the graph. The node with this GUID, made where it is new; a description replaces an empty one.
    Node node(Kind kind, std::uint64_t guid, std::string_view description);
    void link(Node a, Node b) { links_.emplace_back(a, b); }

    // Hosts are adapters by name; what hangs on routers and unnamed adapters is left out, the latter with a warning.
    topology::SwitchGraph finish(const std::string& file, Diagnostics& diagnostics) const;

private:
    struct Entry {
        std::uint64_t guid;
        std::string_view description;
        Kind kind;
    };
    std::vector<Entry> nodes_;
    std::unordered_map<std::uint64_t, Node> node_of_;
    std::vector<std::pair<Node, Node>> links_;
};

// 16 hexadecimal digits at most, nothing else; an optional 0x before them.
std::optional<std::uint64_t> parse_guid(std::string_view text);

}  // namespace paced::io
