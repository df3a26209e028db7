// SPDX-License-Identifier: BSD-3-Clause
// Every small tree, and what an order of hosts costs on it, worked out from the definitions in docs/rank-order.md: by the
// lowest common switch of two hosts and by ranks, without anything of the code that is tested.
#pragma once

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "policy/placement/rank_order.h"
#include "policy/topology/fabric_topology.h"

namespace paced::placement::test {

using Hosts = std::vector<std::string>;
using topology::FabricTopology;

// Hosts of each leaf of each spine: {{3, 2}, {2}} is one spine over leaves of 3 and 2 hosts, one over a leaf of 2.
using Shape = std::vector<std::vector<int>>;

// Ways to write n as a sum of parts that do not grow.
inline std::vector<std::vector<int>> partitions(int n, int most) {
    if (n == 0) return {{}};
    std::vector<std::vector<int>> all;
    for (int part = std::min(n, most); part >= 1; --part)
        for (auto rest : partitions(n - part, part)) {
            rest.insert(rest.begin(), part);
            all.push_back(std::move(rest));
        }
    return all;
}

// Leaves under one root.
inline std::vector<Shape> one_level_trees(int hosts) {
    std::vector<Shape> shapes;
    for (auto& leaves : partitions(hosts, hosts)) shapes.push_back({leaves});
    return shapes;
}

// Spines over leaves under one root, at least two spines.
inline std::vector<Shape> two_level_trees(int hosts) {
    std::vector<Shape> shapes;
    for (const auto& spines : partitions(hosts, hosts)) {
        if (spines.size() < 2) continue;
        std::vector<Shape> partial{{}};
        for (int spine : spines) {
            std::vector<Shape> next;
            for (const Shape& head : partial)
                for (const auto& leaves : partitions(spine, spine)) {
                    if (!head.empty() && std::accumulate(head.back().begin(), head.back().end(), 0) == spine && head.back() < leaves)
                        continue;  // the same spines in another order
                    Shape shape = head;
                    shape.push_back(leaves);
                    next.push_back(std::move(shape));
                }
            partial = std::move(next);
        }
        shapes.insert(shapes.end(), partial.begin(), partial.end());
    }
    return shapes;
}

inline std::string to_text(const Shape& shape) {
    std::string text;
    for (const auto& spine : shape) {
        text += text.empty() ? "" : " | ";
        for (int leaf : spine) text += std::to_string(leaf) + ' ';
    }
    return text;
}

struct Built {
    FabricTopology fabric;
    std::vector<Hosts> leaves;  // the hosts of each leaf
};

// With one spine the leaves hang on the root itself. order: of the switches in the fabric, a permutation seed (0: as built).
inline Built build(const Shape& shape, const std::string& prefix = "h", unsigned order = 0) {
    struct Entry {
        std::string name;
        Hosts hosts, children;
    };
    std::vector<Entry> entries;
    Built built;
    Hosts spines;
    int host = 0;
    for (const auto& spine : shape) {
        Hosts leaves;
        for (int size : spine) {
            Hosts hosts;
            for (int i = 0; i < size; ++i) hosts.push_back(prefix + std::to_string(host++));
            leaves.push_back(prefix + "leaf" + std::to_string(built.leaves.size()));
            entries.push_back({leaves.back(), hosts, {}});
            built.leaves.push_back(std::move(hosts));
        }
        spines.push_back(prefix + "spine" + std::to_string(spines.size()));
        entries.push_back({spines.back(), {}, std::move(leaves)});
    }
    if (shape.size() > 1) entries.push_back({prefix + "root", {}, spines});
    if (order != 0) std::shuffle(entries.begin(), entries.end(), std::mt19937(order));
    topology::FabricBuilder builder;
    for (Entry& each : entries) builder.add_switch(std::move(each.name), std::move(each.hosts), std::move(each.children), {});
    Diagnostics diagnostics;
    built.fabric = std::move(builder).build(diagnostics);
    return built;
}

// One host of each leaf in turn: what Slurm's alphabetical order does to a job in the worst case.
inline Hosts interleaved(const Built& built) {
    Hosts hosts;
    for (std::size_t i = 0;; ++i) {
        const std::size_t before = hosts.size();
        for (const Hosts& leaf : built.leaves)
            if (i < leaf.size()) hosts.push_back(leaf[i]);
        if (hosts.size() == before) return hosts;
    }
}

inline Hosts contiguous(const Built& built) {
    Hosts hosts;
    for (const Hosts& leaf : built.leaves) hosts.insert(hosts.end(), leaf.begin(), leaf.end());
    return hosts;
}

inline Hosts shuffled(const Built& built, unsigned seed) {
    Hosts hosts = contiguous(built);
    std::shuffle(hosts.begin(), hosts.end(), std::mt19937(seed));
    return hosts;
}

// The level that a message between hosts a and b climbs to: -1 on one switch, very high without a common one.
class Climb {
public:
    Climb(const FabricTopology& fabric, const Hosts& hosts) : fabric_(fabric), hosts_(hosts), height_(hosts.size() * hosts.size()) {
        for (std::size_t a = 0; a < hosts.size(); ++a)
            for (std::size_t b = 0; b < hosts.size(); ++b)
                height_[a * hosts.size() + b] = climb(*fabric.leaf_of(hosts[a]), *fabric.leaf_of(hosts[b]));
    }
    int operator()(std::size_t a, std::size_t b) const { return height_[a * hosts_.size() + b]; }

    // Levels on which there is something to tell, the top one first; always that of the leaves.
    std::vector<int> levels() const {
        std::vector<int> levels;
        for (int k = fabric_.levels() - 1; k >= 0; --k)
            if (k == 0 || std::any_of(height_.begin(), height_.end(), [&](int each) { return each > k; })) levels.push_back(k);
        return levels;
    }

private:
    int climb(topology::SwitchIndex a, topology::SwitchIndex b) const {
        if (a == b) return -1;
        const auto path = fabric_.path_to(a), other = fabric_.path_to(b);
        int height = 1000;
        for (std::size_t i = 0; i < std::min(path.size(), other.size()) && path[i] == other[i]; ++i) height = fabric_.at(path[i]).level;
        return height;
    }
    const FabricTopology& fabric_;
    const Hosts& hosts_;
    std::vector<int> height_;
};

using Costs = std::vector<long long>;  // by level, the top level first

inline Costs chosen(const RankOrder& order) {
    Costs costs;
    for (const LevelCost& each : order.levels) costs.push_back(each.chosen);
    return costs;
}
inline Costs submitted(const RankOrder& order) {
    Costs costs;
    for (const LevelCost& each : order.levels) costs.push_back(each.submitted);
    return costs;
}
inline Costs lower_bound(const RankOrder& order) {
    Costs costs;
    for (const LevelCost& each : order.levels) costs.push_back(each.lower_bound);
    return costs;
}

// Over all orders that leave host 0 in front, by cost_of(positions): the cheapest, and each level's own cheapest.
struct Optimum {
    Costs best, each_level;
};
template <class CostOf>
Optimum brute_force(const Climb& climb, std::size_t hosts, const CostOf& cost_of) {
    // Hosts of one switch are alike, so of orders that only swap such hosts one is looked at: each host goes by the first
    // one of its switch, and these names are permuted.
    std::vector<std::size_t> names(hosts), order(hosts), next(hosts);
    for (std::size_t i = 0; i < hosts; ++i)
        while (names[i] < i && climb(names[i], i) >= 0) ++names[i];
    const std::vector<std::size_t> as_submitted = names;
    std::sort(names.begin() + 1, names.end());
    Optimum optimum;
    do {
        std::fill(next.begin(), next.end(), 0);
        for (std::size_t i = 0; i < hosts; ++i) {
            std::size_t& from = next[names[i]];
            while (as_submitted[from] != names[i]) ++from;
            order[i] = from++;
        }
        Costs costs = cost_of(order);
        if (optimum.best.empty()) optimum = {costs, costs};
        for (std::size_t i = 0; i < costs.size(); ++i) optimum.each_level[i] = std::min(optimum.each_level[i], costs[i]);
        optimum.best = std::min(optimum.best, std::move(costs));
    } while (std::next_permutation(names.begin() + 1, names.end()));
    return optimum;
}

// The positions, in the submitted list, of the hosts of an order.
inline std::vector<std::size_t> positions(const Hosts& submitted, const Hosts& order) {
    std::vector<std::size_t> result;
    for (const std::string& host : order)
        result.push_back(static_cast<std::size_t>(std::find(submitted.begin(), submitted.end(), host) - submitted.begin()));
    return result;
}

inline Costs ring_cost(const Climb& climb, const std::vector<std::size_t>& order) {
    Costs costs;
    for (int k : climb.levels()) {
        long long steps = 0;
        for (std::size_t i = 0; i < order.size(); ++i) steps += climb(order[i], order[(i + 1) % order.size()]) > k;
        costs.push_back(steps);
    }
    return costs;
}

}  // namespace paced::placement::test
