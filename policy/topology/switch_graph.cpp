// SPDX-License-Identifier: BSD-3-Clause
#include "policy/topology/switch_graph.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_set>

#include "policy/base/text.h"

namespace paced::topology {

namespace {

using Index = SwitchGraph::Index;

// A leaf has at least this part of the hosts that the median one has; below it, its place in the fabric decides.
constexpr std::size_t few_hosts = 4;

class UnionFind {
public:
    explicit UnionFind(const std::vector<int>& height) : height_(height), parent_(height.size()) {
        std::iota(parent_.begin(), parent_.end(), Index{0});
    }

    Index find(Index each) {
        while (parent_[each] != each) each = parent_[each] = parent_[parent_[each]];
        return each;
    }
    // The lowest leads, then the first: a leaf's set keeps its leader until other leaves join it.
    void join(Index a, Index b) {
        a = find(a);
        b = find(b);
        const bool swapped = std::pair(height_[b], b) < std::pair(height_[a], a);
        parent_[swapped ? a : b] = swapped ? b : a;
    }

private:
    const std::vector<int>& height_;
    std::vector<Index> parent_;
};

// Neighbours of all switches in one array.
class Neighbours {
public:
    explicit Neighbours(const SwitchGraph& graph) : start_(graph.switches.size() + 1) {
        for (const auto& [a, b] : graph.links) {
            ++start_[a + 1];
            ++start_[b + 1];
        }
        std::partial_sum(start_.begin(), start_.end(), start_.begin());
        ends_.resize(start_.back());
        std::vector<std::size_t> next(start_.begin(), start_.end() - 1);
        for (const auto& [a, b] : graph.links) {
            ends_[next[a]++] = b;
            ends_[next[b]++] = a;
        }
    }
    std::span<const Index> of(Index each) const { return std::span(ends_).subspan(start_[each], start_[each + 1] - start_[each]); }

private:
    std::vector<std::size_t> start_;
    std::vector<Index> ends_;
};

// Steps from the nearest of the given leaves, and all switches reached by rising steps.
struct Reach {
    std::vector<int> height;
    std::vector<Index> order;
};

Reach reach_from(std::vector<Index> leaves, const Neighbours& neighbours, std::size_t switches) {
    Reach reach{std::vector<int>(switches, -1), std::move(leaves)};
    for (Index each : reach.order) reach.height[each] = 0;
    for (std::size_t i = 0; i < reach.order.size(); ++i) {
        for (Index next : neighbours.of(reach.order[i])) {
            if (reach.height[next] >= 0) continue;
            reach.height[next] = reach.height[reach.order[i]] + 1;
            reach.order.push_back(next);
        }
    }
    return reach;
}

void join_level(UnionFind& joined, const Reach& reach, const Neighbours& neighbours, std::span<const Index> level) {
    for (Index each : level)
        for (Index next : neighbours.of(each))
            if (reach.height[next] >= 0 && reach.height[next] <= reach.height[each]) joined.join(each, next);
}

// The part of reach.order at this height, behind the part before it.
std::span<const Index> level_after(std::span<const Index> before, const Reach& reach) {
    const std::size_t first = before.empty() ? 0 : static_cast<std::size_t>(before.data() - reach.order.data()) + before.size();
    std::size_t last = first;
    while (last < reach.order.size() && reach.height[reach.order[last]] == reach.height[reach.order[first]]) ++last;
    return std::span(reach.order).subspan(first, last - first);
}

Reach reach_of(const SwitchGraph& graph, const Neighbours& neighbours) {
    std::vector<std::size_t> hosts_on(graph.switches.size());
    for (const SwitchGraph::Host& host : graph.hosts)
        for (Index leaf : host.leaves) ++hosts_on[leaf];
    std::vector<Index> with_hosts;
    for (Index i = 0; i < hosts_on.size(); ++i)
        if (hosts_on[i] > 0) with_hosts.push_back(i);
    if (with_hosts.empty()) return reach_from({}, neighbours, graph.switches.size());

    std::vector<std::size_t> counts;
    for (Index each : with_hosts) counts.push_back(hosts_on[each]);
    const auto middle = counts.begin() + static_cast<std::ptrdiff_t>(counts.size() / 2);
    std::nth_element(counts.begin(), middle, counts.end());
    std::vector<Index> leaves;
    std::vector<bool> doubtful(graph.switches.size());
    for (Index each : with_hosts) {
        if (hosts_on[each] * few_hosts < *middle)
            doubtful[each] = true;
        else
            leaves.push_back(each);
    }
    if (leaves.size() == with_hosts.size()) return reach_from(std::move(leaves), neighbours, graph.switches.size());

    // A doubtful switch is above the leaves where its neighbours below are not joined without it.
    const Reach sure = reach_from(leaves, neighbours, graph.switches.size());
    UnionFind joined(sure.height);
    for (auto level = level_after({}, sure); !level.empty(); level = level_after(level, sure)) {
        std::vector<Index> above;
        for (Index each : level) {
            if (!doubtful[each]) continue;
            std::optional<Index> part;
            bool joins = false;
            for (Index next : neighbours.of(each)) {
                if (doubtful[next] || sure.height[next] >= sure.height[each]) continue;
                joins |= part.value_or(joined.find(next)) != joined.find(next);
                part = joined.find(next);
            }
            if (joins) above.push_back(each);
        }
        for (Index each : above) doubtful[each] = false;
        for (Index each : level) {
            if (doubtful[each]) continue;
            for (Index next : neighbours.of(each))
                if (sure.height[next] <= sure.height[each] && !doubtful[next]) joined.join(each, next);
        }
    }
    for (Index each : with_hosts)
        if (doubtful[each]) leaves.push_back(each);
    std::sort(leaves.begin(), leaves.end());
    return reach_from(std::move(leaves), neighbours, graph.switches.size());
}

// Hosts that are one on a level: what they hang on, and the switch of the result that stands for them.
struct Group {
    std::vector<Index> parts;          // leaves on level 0, joined sets of switches above; sorted
    std::vector<std::size_t> members;  // of the level below; hosts on level 0
    std::size_t hosts = 0;
    std::string name;
};

// The size that most hosts' sets have, the larger where two are equally common. hosts: behind each set.
std::size_t usual_size(const std::vector<std::vector<Index>>& sets, std::span<const std::size_t> hosts) {
    std::map<std::size_t, std::size_t> count;
    for (std::size_t i = 0; i < sets.size(); ++i) count[sets[i].size()] += hosts[i];
    std::size_t usual = 1, most = 0;
    for (const auto& [size, times] : count)
        if (times >= most) std::tie(usual, most) = std::pair(size, times);
    return usual;
}

// Groups by equal parts. A group with fewer parts than usual that are all among those of one usual group joins that; a
// host with more than usual (a router, say) must not draw others to itself.
std::vector<Group> grouped(const std::vector<std::vector<Index>>& parts_of_members, std::span<const std::size_t> hosts) {
    std::map<std::vector<Index>, std::size_t> known;
    std::vector<Group> groups;
    const std::size_t usual = usual_size(parts_of_members, hosts);
    for (std::size_t member = 0; member < parts_of_members.size(); ++member) {
        const auto [found, is_new] = known.try_emplace(parts_of_members[member], groups.size());
        if (is_new) groups.push_back({parts_of_members[member], {}, 0, {}});
        groups[found->second].members.push_back(member);
        groups[found->second].hosts += hosts[member];
    }
    const auto is_usual = [&](const Group& group) { return group.parts.size() >= usual; };
    if (std::all_of(groups.begin(), groups.end(), is_usual)) return groups;

    std::map<Index, std::vector<std::size_t>> with_part;  // the usual groups
    for (std::size_t i = 0; i < groups.size(); ++i)
        if (groups[i].parts.size() == usual)
            for (Index part : groups[i].parts) with_part[part].push_back(i);
    std::vector<bool> gone(groups.size());
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const auto& parts = groups[i].parts;
        if (parts.size() >= usual) continue;
        const auto& candidates = with_part[*std::min_element(parts.begin(), parts.end(),
                                                             [&](Index a, Index b) { return with_part[a].size() < with_part[b].size(); })];
        std::optional<std::size_t> home;
        std::size_t homes = 0;
        for (std::size_t each : candidates) {
            if (!std::includes(groups[each].parts.begin(), groups[each].parts.end(), parts.begin(), parts.end())) continue;
            home = each;
            if (++homes > 1) break;
        }
        if (homes != 1) continue;
        gone[i] = true;
        Group& into = groups[*home];
        into.members.insert(into.members.end(), groups[i].members.begin(), groups[i].members.end());
        into.hosts += groups[i].hosts;
    }
    std::vector<Group> kept;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        if (gone[i]) continue;
        std::sort(groups[i].members.begin(), groups[i].members.end());
        kept.push_back(std::move(groups[i]));
    }
    return kept;
}

class Namer {
public:
    explicit Namer(const SwitchGraph& graph) : graph_(graph) {}

    // After the first of these switches by name. several: what more than one of them are called.
    std::string name(std::span<const Index> switches, std::string_view several) {
        const Index first = *std::min_element(switches.begin(), switches.end(), [&](Index a, Index b) {
            const auto& x = graph_.switches[a];
            const auto& y = graph_.switches[b];
            return x.name != y.name ? x.name < y.name : x.id < y.id;
        });
        const std::string more =
            switches.size() > 1 ? " (" + std::to_string(switches.size()) + ' ' + std::string(several) + ')' : std::string();
        std::string name = graph_.switches[first].name + more;
        if (used_.insert(name).second) return name;
        name = graph_.switches[first].name + ' ' + graph_.switches[first].id + more;
        for (std::size_t i = 2; !used_.insert(name).second; ++i) name = graph_.switches[first].name + '#' + std::to_string(i) + more;
        return name;
    }

private:
    const SwitchGraph& graph_;
    std::unordered_set<std::string> used_;
};

// "a, b, c and 7 others"
std::string some_of(const std::vector<std::string>& names) {
    constexpr std::size_t shown = 4;
    if (names.size() <= shown) return join(names, ", ");
    return join(std::span(names).first(shown - 1), ", ") + " and " + std::to_string(names.size() - (shown - 1)) + " others";
}

// "3 hosts of 8 have fewer than 2 rails: n1, n2, n3"
void tell_of(const std::vector<std::string>& hosts, const std::string& of_all, const std::string& what, const std::string& file,
             Diagnostics& diagnostics) {
    if (hosts.empty()) return;
    diagnostics.warning({file, 0, 0}, count_of(static_cast<long long>(hosts.size()), "host") + of_all +
                                          (hosts.size() == 1 ? " has " : " have ") + what + ": " + some_of(hosts));
}

}  // namespace

std::vector<int> heights(const SwitchGraph& graph) {
    return reach_of(graph, Neighbours(graph)).height;
}

FabricTopology fabric_of(const SwitchGraph& graph, const std::string& file, Diagnostics& diagnostics) {
    std::vector<std::vector<Index>> leaves;
    std::vector<const std::string*> names;
    std::vector<std::string> unlinked;
    for (const SwitchGraph::Host& host : graph.hosts) {
        if (host.leaves.empty()) {
            unlinked.push_back(host.name);
            continue;
        }
        leaves.push_back(host.leaves);
        std::sort(leaves.back().begin(), leaves.back().end());
        leaves.back().erase(std::unique(leaves.back().begin(), leaves.back().end()), leaves.back().end());
        names.push_back(&host.name);
    }
    const std::vector<std::size_t> one_each(leaves.size(), 1);
    const std::size_t rails = usual_size(leaves, one_each);
    std::vector<std::string> fewer;
    for (std::size_t i = 0; i < leaves.size(); ++i)
        if (leaves[i].size() < rails) fewer.push_back(*names[i]);
    tell_of(fewer, " of " + std::to_string(leaves.size()), "fewer than " + std::to_string(rails) + " rails", file, diagnostics);
    tell_of(unlinked, "", "no link to a switch", file, diagnostics);

    const Neighbours neighbours(graph);
    const Reach reach = reach_of(graph, neighbours);
    FabricBuilder builder;
    Namer namer(graph);
    std::vector<Group> groups = grouped(leaves, one_each);
    for (Group& group : groups) {
        group.name = namer.name(group.parts, "rails");
        std::vector<std::string> hosts;
        for (std::size_t member : group.members) hosts.push_back(*names[member]);
        builder.add_switch(group.name, std::move(hosts), {}, {file, 0, 0});
    }

    UnionFind joined(reach.height);
    std::vector<Index> leading;  // switches with hosts that no other one leads
    for (const auto& each : leaves) leading.insert(leading.end(), each.begin(), each.end());
    std::sort(leading.begin(), leading.end());
    leading.erase(std::unique(leading.begin(), leading.end()), leading.end());
    for (auto level = level_after({}, reach); !level.empty() && groups.size() > 1; level = level_after(level, reach)) {
        const int height = reach.height[level.front()];
        join_level(joined, reach, neighbours, level);
        // A fabric as deep as it is large stays quick: levels that join no two switches with hosts change no group.
        const auto is_led_by_another = [&](Index each) { return joined.find(each) != each; };
        if (std::erase_if(leading, is_led_by_another) == 0) continue;
        std::vector<std::vector<Index>> parts;
        std::vector<std::size_t> hosts;
        for (const Group& group : groups) {
            hosts.push_back(group.hosts);
            auto& mine = parts.emplace_back();
            for (Index each : group.parts) mine.push_back(joined.find(each));
            std::sort(mine.begin(), mine.end());
            mine.erase(std::unique(mine.begin(), mine.end()), mine.end());
        }
        std::vector<Group> above = grouped(parts, hosts);
        if (above.size() == groups.size()) {  // no two groups are
            for (std::size_t i = 0; i < groups.size(); ++i) groups[i].parts = std::move(parts[i]);
            continue;
        }
        std::map<Index, std::vector<Index>> of_part;  // this level's switches
        for (Index each : level) of_part[joined.find(each)].push_back(each);
        for (Group& group : above) {
            std::vector<Index> switches;
            for (Index part : group.parts)
                if (const auto found = of_part.find(part); found != of_part.end())
                    switches.insert(switches.end(), found->second.begin(), found->second.end());
            if (group.members.size() == 1 && (switches.empty() || height == 0)) {
                group.name = groups[group.members.front()].name;  // stays what it is until something is above it
                continue;
            }
            if (switches.empty()) switches = group.parts;
            std::vector<std::string> below;
            for (std::size_t member : group.members) below.push_back(groups[member].name);
            group.name = namer.name(switches, "switches");
            builder.add_switch(group.name, {}, std::move(below), {file, 0, 0});
        }
        groups = std::move(above);
    }
    FabricTopology fabric = std::move(builder).build(diagnostics);
    fabric.rails = static_cast<int>(rails);
    return fabric;
}

}  // namespace paced::topology
