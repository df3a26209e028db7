// SPDX-License-Identifier: BSD-3-Clause
#include "policy/simulation/wiring.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "policy/placement/rank_order.h"

namespace paced::simulation {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

// Every level that is not described is like the last one that is.
const Level& level_at(const Fabric& fabric, std::uint32_t level) {
    static const Level one;
    return fabric.levels.empty() ? one : fabric.levels[std::min<std::size_t>(level, fabric.levels.size() - 1)];
}

std::string host_name(const std::vector<std::string>& names, std::uint32_t host) { return names.empty() ? "n" + std::to_string(host) : names[host]; }

// What the rank order is chosen for where nobody says: the traffic that carries most.
config::Order order_of(const Scenario& scenario, std::uint32_t ranks) {
    using Pattern = config::Order::Pattern;
    if (scenario.order.pattern != Pattern::none || scenario.work.traffic.empty()) return scenario.order;
    config::Order order;
    if (scenario.work.grid.size() > 1) {
        std::uint64_t known = 1;
        for (const Axis& axis : scenario.work.grid) known *= axis.size > 0 ? axis.size : 1;
        order.pattern = Pattern::grid;
        for (const Axis& axis : scenario.work.grid) {
            const std::uint64_t size = axis.size > 0 ? axis.size : ranks / known;
            order.axes.push_back({axis.name, static_cast<int>(size)});
        }
        return order;
    }
    const auto heaviest = std::max_element(scenario.work.traffic.begin(), scenario.work.traffic.end(), [](const Traffic& a, const Traffic& b) { return a.bytes < b.bytes; });
    order.pattern = heaviest->operation == Operation::alltoall ? Pattern::alltoall : heaviest->algorithm == Algorithm::tree ? Pattern::tree : Pattern::ring;
    return order;
}

}  // namespace

Wiring::Wiring(const Scenario& scenario, std::uint32_t nodes, std::uint64_t seed)
    : rails_(scenario.fabric.rails), nics_(scenario.node.nics), ranks_(scenario.node.ranks), hash_seed_(mixed(seed, 0x6563'6d70)) {
    if (scenario.fabric.read) read_tree(*scenario.fabric.read);
    else make_tree(scenario);
    place(scenario, nodes, mixed(seed, 0x706c'6163));
    make_links(scenario);
}

void Wiring::make_tree(const Scenario& scenario) {
    const Fabric& fabric = scenario.fabric;
    hosts_ = fabric.nodes;
    const std::uint32_t levels = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(fabric.levels.size()));
    std::uint32_t below = hosts_, first = 0;  // things on the level below, and the first switch among them
    for (std::uint32_t level = 0; level < levels; ++level) {
        const bool top = level + 1 == levels;
        const std::uint32_t each = top ? below : std::max<std::uint32_t>(1, fabric.levels[level].below);
        const std::uint32_t count = (below + each - 1) / each;
        const auto begin = static_cast<std::uint32_t>(switches_.size());
        switches_.resize(begin + count);
        hosts_on_.resize(begin + count);
        for (std::uint32_t i = 0; i < count; ++i) {
            switches_[begin + i].level = level;
            switches_[begin + i].depth = levels - 1 - level;
        }
        for (std::uint32_t i = 0; i < below; ++i) {
            if (level == 0) hosts_on_[begin + i / each].push_back(i);
            else switches_[first + i].parent = static_cast<std::int32_t>(begin + i / each);
        }
        first = begin;
        below = count;
    }
    names_.emplace_back("nic");
    for (std::uint32_t level = 0; level < levels; ++level) names_.push_back(fabric.levels.empty() ? "leaf" : fabric.levels[level].name);
}

void Wiring::read_tree(const topology::FabricTopology& fabric) {
    const auto& all = fabric.switches();
    switches_.resize(all.size());
    hosts_on_.resize(all.size());
    std::uint32_t highest = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].parent) switches_[i].parent = static_cast<std::int32_t>(topology::to_index(*all[i].parent));
        switches_[i].level = static_cast<std::uint32_t>(all[i].level);
        switches_[i].depth = static_cast<std::uint32_t>(fabric.path_to(topology::SwitchIndex{static_cast<std::uint32_t>(i)}).size() - 1);
        highest = std::max(highest, switches_[i].level);
        for (const std::string& host : all[i].hosts) {
            const auto leaf = fabric.leaf_of(host);
            if (!leaf || topology::to_index(*leaf) != i) continue;
            hosts_on_[i].push_back(static_cast<std::uint32_t>(host_names_.size()));
            host_names_.push_back(host);
        }
    }
    hosts_ = static_cast<std::uint32_t>(host_names_.size());
    names_.emplace_back("nic");
    for (std::uint32_t level = 0; level <= highest; ++level) names_.push_back(topology::level_name(fabric.kind, static_cast<int>(level)));
}

void Wiring::place(const Scenario& scenario, std::uint32_t nodes, std::uint64_t seed) {
    std::vector<std::uint32_t> leaf_of_host(hosts_), leaves, all;
    for (std::uint32_t i = 0; i < switches_.size(); ++i) {
        if (!hosts_on_[i].empty()) leaves.push_back(i);
        for (const std::uint32_t host : hosts_on_[i]) leaf_of_host[host] = i, all.push_back(host);
    }
    switch (scenario.placement) {
        case Placement::block: host_.assign(all.begin(), all.begin() + nodes); break;
        case Placement::interleaved: {
            std::size_t used = 0, room = 0;
            while (used < leaves.size() && (used < 2 || room < nodes)) room += hosts_on_[leaves[used++]].size();
            for (std::size_t round = 0; host_.size() < nodes; ++round) {
                for (std::size_t i = 0; i < used && host_.size() < nodes; ++i)
                    if (round < hosts_on_[leaves[i]].size()) host_.push_back(hosts_on_[leaves[i]][round]);
            }
            break;
        }
        case Placement::random:
        case Placement::sorted: {
            Draws draws(seed);
            for (std::uint32_t i = 0; i < nodes; ++i) std::swap(all[i], all[i + draws.below(static_cast<std::uint32_t>(all.size()) - i)]);
            host_.assign(all.begin(), all.begin() + nodes);
            if (scenario.placement == Placement::sorted) std::sort(host_.begin(), host_.end());
            break;
        }
    }
    for (const std::uint32_t host : host_) leaf_.push_back(leaf_of_host[host]);
}

void Wiring::make_links(const Scenario& scenario) {
    const Fabric& fabric = scenario.fabric;
    for (std::uint32_t level = 0; level < names_.size(); ++level) latency_.push_back(level_at(fabric, level).latency_s);
    const auto port = [&](double bytes_s, std::uint32_t level) { return bytes_s * fabric.overload.round_trip_s + level_at(fabric, level).buffer_bytes; };
    const auto plane_switch = [&](std::uint32_t plane, std::uint32_t index) { return static_cast<std::int32_t>(plane * switches_.size() + index); };
    for (std::uint32_t slot = 0; slot < slots(); ++slot) {
        for (std::uint32_t nic = 0; nic < nics_; ++nic) {
            const std::int32_t leaf = plane_switch(plane_of(nic), leaf_[slot]);
            links_.push_back({scenario.node.nic_bytes_s, infinite, -1, leaf, Link::Way::up});  // a host that cannot send waits
            links_.push_back({scenario.node.nic_bytes_s, port(scenario.node.nic_bytes_s, switches_[leaf_[slot]].level), leaf, -1, Link::Way::to_node});
            link_level_.insert(link_level_.end(), 2, 0);
        }
    }
    // What may come from below, the leaves first.
    std::vector<std::uint32_t> by_level(switches_.size());
    std::iota(by_level.begin(), by_level.end(), 0u);
    std::stable_sort(by_level.begin(), by_level.end(), [&](std::uint32_t a, std::uint32_t b) { return switches_[a].level < switches_[b].level; });
    std::vector<double> below(switches_.size());
    const double host_bytes_s = scenario.node.nic_bytes_s * nics_ / rails_;
    std::uint32_t first = 0;
    for (const std::uint32_t index : by_level) {
        Switch& one = switches_[index];
        const Level& level = level_at(fabric, one.level);
        below[index] += host_bytes_s * static_cast<double>(hosts_on_[index].size());
        if (one.parent < 0) continue;
        one.uplinks = std::max<std::uint32_t>(1, level.uplinks);
        // A leaf that is not full has the uplinks of a full one.
        const double full = one.level == 0 && !fabric.read ? host_bytes_s * std::max<std::uint32_t>(1, level.below) : below[index];
        one.uplink_bytes_s = level.uplink_bytes_s > 0 ? level.uplink_bytes_s : full / level.oversubscription / one.uplinks;
        one.first = first;
        first += 2 * one.uplinks;
        below[static_cast<std::size_t>(one.parent)] += one.uplink_bytes_s * one.uplinks;
    }
    for (std::uint32_t plane = 0; plane < rails_; ++plane) {
        plane_first_.push_back(static_cast<std::uint32_t>(links_.size()));
        for (const std::uint32_t index : by_level) {
            const Switch& one = switches_[index];
            if (one.parent < 0) continue;
            const std::int32_t here = plane_switch(plane, index), above = plane_switch(plane, static_cast<std::uint32_t>(one.parent));
            for (std::uint32_t i = 0; i < one.uplinks; ++i) {
                links_.push_back({one.uplink_bytes_s, port(one.uplink_bytes_s, one.level), here, above, Link::Way::up});
                links_.push_back({one.uplink_bytes_s, port(one.uplink_bytes_s, switches_[static_cast<std::size_t>(one.parent)].level), above, here, Link::Way::down});
                link_level_.insert(link_level_.end(), 2, 1 + one.level);
            }
        }
    }
}

std::vector<std::uint32_t> Wiring::links_of_level(const std::string& level) const {
    std::uint32_t wanted = 1;
    for (std::uint32_t i = 1; i < names_.size(); ++i)
        if (names_[i] == level) wanted = i;
    std::vector<std::uint32_t> found;
    for (std::uint32_t i = 0; i < links_.size(); ++i)
        if (link_level_[i] == wanted) found.push_back(i);
    return found;
}

double Wiring::latency(std::uint32_t from, std::uint32_t to) const {
    double sum = latency_[switches_[leaf_[from]].level];
    climb(leaf_[from], leaf_[to], [&](std::uint32_t index, bool up) {
        const std::int32_t parent = switches_[index].parent;
        // the switch at the top is counted once, on the way up
        sum += up ? latency_[switches_[static_cast<std::size_t>(parent)].level] : latency_[switches_[index].level];
    });
    return sum;
}

std::vector<std::uint32_t> Wiring::ordered(const Scenario& scenario, std::vector<std::string>& reasons) const {
    std::vector<std::uint32_t> order(slots());
    std::iota(order.begin(), order.end(), 0u);
    // The switches that the job lies under, and those above them; names that say nothing.
    Diagnostics diagnostics;
    topology::FabricBuilder builder;
    std::vector<std::vector<std::string>> hosts(switches_.size()), children(switches_.size());
    std::vector<bool> known(switches_.size());
    std::vector<std::string> submitted;
    for (std::uint32_t slot = 0; slot < slots(); ++slot) {
        submitted.push_back(host_name(host_names_, host_[slot]));
        hosts[leaf_[slot]].push_back(submitted.back());
        for (std::uint32_t at = leaf_[slot]; !known[at];) {
            known[at] = true;
            if (switches_[at].parent < 0) break;
            children[static_cast<std::size_t>(switches_[at].parent)].push_back("s" + std::to_string(at));
            at = static_cast<std::uint32_t>(switches_[at].parent);
        }
    }
    for (std::uint32_t i = 0; i < switches_.size(); ++i)
        if (known[i]) builder.add_switch("s" + std::to_string(i), hosts[i], children[i], {});
    const topology::FabricTopology fabric = std::move(builder).build(diagnostics);
    const placement::RankOrder chosen = placement::rank_order(fabric, submitted, static_cast<int>(ranks_), order_of(scenario, slots() * ranks_));
    reasons = chosen.reasons;
    if (!chosen.improves) return order;
    std::unordered_map<std::string, std::uint32_t> slot_of;
    for (std::uint32_t slot = 0; slot < slots(); ++slot) slot_of.emplace(submitted[slot], slot);
    for (std::size_t i = 0; i < chosen.hosts.size(); ++i) order[i] = slot_of.at(chosen.hosts[i]);
    return order;
}

}  // namespace paced::simulation
