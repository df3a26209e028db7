// SPDX-License-Identifier: BSD-3-Clause
#include "policy/topology/fabric_topology.h"

#include <algorithm>
#include <utility>

#include "policy/base/text.h"
#include "policy/topology/host_list.h"

namespace paced::topology {

std::optional<SwitchIndex> FabricTopology::find_switch(std::string_view name) const {
    const auto found = switch_of_.find(name);
    return found == switch_of_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<SwitchIndex> FabricTopology::roots() const {
    std::vector<SwitchIndex> roots;
    for (std::size_t i = 0; i < switches_.size(); ++i)
        if (!switches_[i].parent) roots.push_back(static_cast<SwitchIndex>(i));
    return roots;
}

int FabricTopology::levels() const {
    int highest = -1;
    for (const Switch& each : switches_) highest = std::max(highest, each.level);
    return highest + 1;
}

namespace {

// "n1" of "n1.cluster"; empty: there is no such part.
std::string_view short_name(std::string_view host) {
    const std::size_t dot = host.find('.');
    if (dot == std::string_view::npos || dot == 0 || host.find_first_not_of("0123456789.") == std::string_view::npos) return {};
    return host.substr(0, dot);
}

}  // namespace

std::vector<std::string_view> FabricTopology::names_of(std::string_view host) const {
    const auto known = [&](std::string_view name) { return leaf_of_.contains(name) || doubled_.contains(name); };
    if (known(host)) return {host};
    std::vector<std::string_view> names;
    const std::string_view part = short_name(host);
    if (!part.empty() && known(part)) names.push_back(part);
    if (const auto found = full_names_.find(part.empty() ? host : part); found != full_names_.end())
        names.insert(names.end(), found->second.begin(), found->second.end());
    return names;
}

std::optional<SwitchIndex> FabricTopology::leaf_of(std::string_view host) const {
    auto found = leaf_of_.find(host);
    if (found == leaf_of_.end()) {
        const auto names = names_of(host);
        if (names.size() == 1) found = leaf_of_.find(names.front());
    }
    return found == leaf_of_.end() ? std::nullopt : std::optional(found->second);
}

std::string FabricTopology::why_unknown(std::string_view host) const {
    if (leaf_of(host)) return {};
    const auto full = names_of(host);
    if (full.empty()) return std::string(host) + " is on no switch";
    if (full.size() > 1) return std::string(host) + " may be " + std::string(full[0]) + " or " + std::string(full[1]);
    std::vector<std::string> names;
    for (SwitchIndex index : doubled_.find(full.front())->second) names.push_back(at(index).name);
    return std::string(full.front()) + " is on several switches: " + join(names, ", ");
}

std::vector<SwitchIndex> FabricTopology::path_to(SwitchIndex index) const {
    std::vector<SwitchIndex> path;
    for (std::optional<SwitchIndex> each = index; each; each = at(*each).parent) path.push_back(*each);
    std::reverse(path.begin(), path.end());
    return path;
}

std::string level_name(FabricKind kind, int level) {
    if (kind == FabricKind::blocks && level == 0) return "block";
    switch (level) {
        case 0:
            return "leaf";
        case 1:
            return "spine";
        case 2:
            return "core";
        default:
            return "level " + std::to_string(level);
    }
}

void FabricBuilder::add_switch(std::string name, std::vector<std::string> hosts, std::vector<std::string> children, Location where) {
    entries_.push_back({std::move(name), std::move(hosts), std::move(children), std::move(where)});
}

namespace {

// Where two switches name each other, the link from the one that is nearer to the hosts is dropped. True: there was one.
bool drop_upward_links(std::vector<std::vector<SwitchIndex>>& below, const std::vector<bool>& has_hosts) {
    const auto names = [&](SwitchIndex a, SwitchIndex b) {
        const auto& list = below[to_index(a)];
        return std::find(list.begin(), list.end(), b) != list.end();
    };
    // Steps to the nearest switch with hosts, over links in either direction.
    std::vector<std::vector<SwitchIndex>> neighbours = below;
    bool mutual = false;
    for (std::size_t i = 0; i < below.size(); ++i) {
        for (SwitchIndex each : below[i]) {
            neighbours[to_index(each)].push_back(static_cast<SwitchIndex>(i));
            mutual |= to_index(each) != i && names(each, static_cast<SwitchIndex>(i));
        }
    }
    if (!mutual) return false;
    std::vector<std::size_t> steps(below.size(), below.size());
    std::vector<SwitchIndex> reached;
    for (std::size_t i = 0; i < below.size(); ++i) {
        if (!has_hosts[i]) continue;
        steps[i] = 0;
        reached.push_back(static_cast<SwitchIndex>(i));
    }
    for (std::size_t at = 0; at < reached.size(); ++at) {
        const std::size_t here = to_index(reached[at]);
        for (SwitchIndex next : neighbours[here]) {
            if (steps[to_index(next)] <= steps[here] + 1) continue;
            steps[to_index(next)] = steps[here] + 1;
            reached.push_back(next);
        }
    }
    bool dropped = false;
    const auto before = below;
    for (std::size_t i = 0; i < below.size(); ++i) {
        const auto self = static_cast<SwitchIndex>(i);
        const auto upward = [&](SwitchIndex each) {
            const auto& theirs = before[to_index(each)];
            return steps[to_index(each)] > steps[i] && std::find(theirs.begin(), theirs.end(), self) != theirs.end();
        };
        dropped |= std::erase_if(below[i], upward) > 0;
    }
    return dropped;
}

}  // namespace

FabricTopology FabricBuilder::build(Diagnostics& diagnostics) && {
    FabricTopology fabric;
    std::vector<Entry> defined;  // those kept, at the index of their switch
    for (Entry& entry : entries_) {
        const auto [found, is_new] = fabric.switch_of_.try_emplace(entry.name, static_cast<SwitchIndex>(defined.size()));
        if (!is_new) {
            diagnostics.error(entry.where, "switch '" + entry.name + "' is defined twice")
                .hints.push_back("the first definition is at " + to_string(defined[to_index(found->second)].where));
            continue;
        }
        fabric.switches_.emplace_back().name = entry.name;
        defined.push_back(std::move(entry));
    }

    // Which switches each one names as below it.
    std::vector<std::vector<SwitchIndex>> below(defined.size());
    for (std::size_t i = 0; i < defined.size(); ++i) {
        for (const std::string& name : defined[i].children) {
            const auto child = fabric.find_switch(name);
            if (child) {
                below[i].push_back(*child);
                continue;
            }
            auto& entry =
                diagnostics.error(defined[i].where, "switch '" + defined[i].name + "' names '" + name + "', which is not defined");
            if (diagnostics.entries().size() > 20) continue;  // enough said
            std::vector<std::string_view> names;
            for (const Switch& each : fabric.switches_) names.push_back(each.name);
            if (const auto near = did_you_mean(name, names)) entry.hints.push_back("did you mean '" + *near + "'?");
        }
    }
    std::vector<bool> has_hosts;
    for (const Entry& entry : defined) has_hosts.push_back(!entry.hosts.empty());
    if (drop_upward_links(below, has_hosts)) {
        diagnostics.warning(defined.front().where, "switches name each other as below them, as sharp_cmd writes links")
            .hints.push_back("of two such switches, the one nearer to the hosts is taken to be below");
    }

    for (std::size_t i = 0; i < defined.size(); ++i) {
        const auto self = static_cast<SwitchIndex>(i);
        for (SwitchIndex child : below[i]) {
            auto& parent = fabric.switches_[to_index(child)].parent;
            if (parent == self) continue;  // named twice by the same switch
            if (parent) {
                diagnostics.warning(defined[i].where, "switch '" + fabric.at(child).name + "' hangs on both '" + fabric.at(*parent).name +
                                                          "' and '" + defined[i].name + "'; the second link is left out");
                continue;
            }
            // A circle shows when its last link is made: the child is then above its would-be parent.
            const auto above = fabric.path_to(self);
            if (std::find(above.begin(), above.end(), child) != above.end()) {
                const std::string& name = defined[i].name;
                const bool itself = child == self;
                diagnostics
                    .error(defined[i].where, itself ? "switch '" + name + "' names itself as below it"
                                                    : "switch '" + name + "' and switch '" + fabric.at(child).name + "' are each above the other")
                    .hints.push_back(itself ? "a switch names those below it: take '" + name + "' out of its own list"
                                            : "a switch names those below it: take '" + fabric.at(child).name + "' out of the list of '" + name +
                                                  "', or break the circle elsewhere");
                continue;
            }
            parent = self;
            fabric.switches_[i].children.push_back(child);
        }
    }

    // Levels from below: every switch raises all that are above it.
    for (std::size_t i = 0; i < defined.size(); ++i) {
        int level = 0;
        for (std::optional<SwitchIndex> each = static_cast<SwitchIndex>(i); each; each = fabric.at(*each).parent, ++level) {
            int& known = fabric.switches_[to_index(*each)].level;
            if (known > level) break;
            known = level;
        }
    }

    std::size_t most_hosts = 0;
    for (const Entry& entry : defined) most_hosts += entry.hosts.size();
    fabric.leaf_of_.reserve(most_hosts);
    for (std::size_t i = 0; i < defined.size(); ++i) {
        const auto self = static_cast<SwitchIndex>(i);
        fabric.switches_[i].hosts.reserve(defined[i].hosts.size());
        for (std::string& host : defined[i].hosts) {
            const auto doubled = fabric.doubled_.find(host);
            const auto known = fabric.leaf_of_.find(host);
            if (doubled != fabric.doubled_.end()) {
                auto& places = doubled->second;
                if (places.back() != self) places.push_back(self);
            } else if (known == fabric.leaf_of_.end()) {
                fabric.leaf_of_.emplace(host, self);
                fabric.switches_[i].hosts.push_back(std::move(host));
            } else if (known->second != self) {
                fabric.doubled_.emplace(host, std::vector{known->second, self});
                fabric.leaf_of_.erase(known);
            }
        }
    }
    const auto add_full_name = [&](const std::string& host) {
        if (const auto part = short_name(host); !part.empty()) fabric.full_names_[std::string(part)].push_back(host);
    };
    for (const Switch& each : fabric.switches_)
        for (const std::string& host : each.hosts)
            if (fabric.leaf_of_.contains(host)) add_full_name(host);
    for (const auto& [host, places] : fabric.doubled_) add_full_name(host);

    // One warning for all hosts that share the same switches: on a fabric of several rails that is every host.
    std::map<std::vector<SwitchIndex>, std::vector<std::string>> doubled;
    for (const auto& [host, places] : fabric.doubled_) doubled[places].push_back(host);
    for (const auto& [places, hosts] : doubled) {
        std::vector<std::string> names;
        for (SwitchIndex place : places) names.push_back(fabric.at(place).name);
        diagnostics
            .warning(defined[to_index(places[1])].where,
                     compress_hosts(hosts) + (hosts.size() == 1 ? " is" : " are") + " on several switches: " + join(names, ", "))
            .hints.push_back("where they really are cannot be known from this, so jobs with them keep their order");
        std::erase_if(fabric.switches_[to_index(places[0])].hosts, [&](const std::string& host) { return !fabric.leaf_of(host); });
    }
    return fabric;
}

}  // namespace paced::topology
