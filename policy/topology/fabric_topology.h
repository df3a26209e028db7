// SPDX-License-Identifier: BSD-3-Clause
// FabricTopology: which switch each host hangs on, and what is above it. A forest of any depth and shape: several roots,
// leaves at different depths, hosts on inner switches. Blocks (NVLink domains) are leaves of a forest without upper levels.
// A host that is in no switch, or in several, has no leaf: what is not known for sure is never guessed.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "policy/base/diagnostics.h"
#include "policy/topology/index.h"

namespace paced::topology {

struct Switch {
    std::string name;
    std::optional<SwitchIndex> parent;
    std::vector<SwitchIndex> children;
    std::vector<std::string> hosts;  // directly on this switch, in the order of the input, without doubles
    int level = 0;                   // 0: no switch below; otherwise one more than its highest child
};

enum class FabricKind { tree, blocks };

class FabricTopology {
public:
    FabricKind kind = FabricKind::tree;
    std::string origin;  // what it was read from
    int rails = 1;       // how many real leaf switches most hosts hang on; a leaf here then stands for so many

    const std::vector<Switch>& switches() const { return switches_; }
    const Switch& at(SwitchIndex index) const { return switches_[to_index(index)]; }
    std::optional<SwitchIndex> find_switch(std::string_view name) const;
    std::vector<SwitchIndex> roots() const;
    int levels() const;                                         // 0: no switch at all
    std::size_t host_count() const { return leaf_of_.size(); }  // hosts with a leaf

    // The switch that the host hangs on; nullopt: unknown or doubled, and why_unknown says which. A name that is not in
    // the fabric as it stands is looked for by its part before the first dot: "n1" is "n1.cluster" and the other way
    // round, where only one host has that part. An address (digits and dots) has no such part.
    std::optional<SwitchIndex> leaf_of(std::string_view host) const;
    // "n9 is on no switch", "n5 is on several switches: s2, s4"; empty: its leaf is known.
    std::string why_unknown(std::string_view host) const;
    // Hosts on several switches, with those switches.
    const std::map<std::string, std::vector<SwitchIndex>, std::less<>>& doubled() const { return doubled_; }
    // From the root down to the switch itself.
    std::vector<SwitchIndex> path_to(SwitchIndex index) const;

private:
    friend class FabricBuilder;
    struct Hash : std::hash<std::string_view> {
        using is_transparent = void;
    };

    // What the fabric calls the host; several: none of them is meant for sure.
    std::vector<std::string_view> names_of(std::string_view host) const;

    std::vector<Switch> switches_;
    std::unordered_map<std::string, SwitchIndex, Hash, std::equal_to<>> leaf_of_;
    std::unordered_map<std::string, SwitchIndex, Hash, std::equal_to<>> switch_of_;
    std::map<std::string, std::vector<SwitchIndex>, std::less<>> doubled_;
    std::unordered_map<std::string, std::vector<std::string>, Hash, std::equal_to<>> full_names_;  // "n1" -> "n1.cluster"; only names with a dot
};

// "leaf", "spine", "core", "level 3", ...; of blocks "block".
std::string level_name(FabricKind kind, int level);

// Builds a FabricTopology from switches in any order; readers of every format use it, so that all say the same of the same mistake.
class FabricBuilder {
public:
    // children: names of switches, defined before or after. where: of the switch in the input, for diagnostics.
    void add_switch(std::string name, std::vector<std::string> hosts, std::vector<std::string> children, Location where);

    // Switches without a definition, defined twice or in a circle are errors. With a warning: a child of two parents stays
    // with the first; a host on several switches has no leaf; of two switches that name each other as below them (a list
    // of links, as sharp_cmd writes it) the one nearer to the hosts is below.
    FabricTopology build(Diagnostics& diagnostics) &&;

private:
    struct Entry {
        std::string name;
        std::vector<std::string> hosts, children;
        Location where;
    };
    std::vector<Entry> entries_;
};

}  // namespace paced::topology
