// SPDX-License-Identifier: BSD-3-Clause
// The algorithm is ASM1 of Harvey, Ladner, Lovasz, Tamir, "Semi-matchings for bipartite graphs and load balancing"
// (2003): takers come one by one, and each takes the least loaded slot that it can reach by moving others. It is the
// successive shortest path of a flow whose cost at a slot grows with its load, so the cheapest newcomer may also be chosen.
#include "policy/placement/binding/balance.h"

#include <algorithm>
#include <utility>

namespace paced::placement {

namespace {
constexpr auto nobody = static_cast<std::size_t>(-1);
}

struct Balance::Search {
    std::vector<std::size_t> came_by;  // of each slot: the taker that would move there; the newcomer is one past the last
    std::vector<std::size_t> reached;  // nearest first
    std::size_t best = nobody;         // the least loaded of them; of equals the first, which needs the fewest moves
};

// Breadth first over "taker may have slot" and "slot is held by taker".
Balance::Search Balance::search(const std::vector<std::size_t>& choices) const {
    Search found;
    found.came_by.assign(load_.size(), nobody);
    const auto reach_from = [&](std::size_t taker, const std::vector<std::size_t>& slots) {
        for (std::size_t slot : slots) {
            if (found.came_by[slot] != nobody) continue;
            found.came_by[slot] = taker;
            found.reached.push_back(slot);
        }
    };
    reach_from(slot_of_.size(), choices);
    std::vector<bool> followed(choices_.size(), false);  // kinds of which all choices have been reached
    std::vector<std::pair<std::size_t, std::size_t>> holders;  // the first of each kind, and the kind
    for (std::size_t i = 0; i < found.reached.size(); ++i) {
        holders.clear();
        for (const auto& [kind, takers] : takers_[found.reached[i]])
            if (!followed[kind]) holders.emplace_back(*takers.begin(), kind);
        std::sort(holders.begin(), holders.end());
        for (const auto& [taker, kind] : holders) {
            followed[kind] = true;
            reach_from(taker, choices_[kind]);
        }
    }
    for (std::size_t slot : found.reached)
        if (found.best == nobody || load_[slot] < load_[found.best]) found.best = slot;
    return found;
}

std::size_t Balance::lowest_load(const std::vector<std::size_t>& choices) const {
    const Search found = search(choices);
    return found.best == nobody ? nobody : load_[found.best];
}

std::size_t Balance::kind_of(std::vector<std::size_t> choices) {
    const auto [found, is_new] = kinds_.try_emplace(choices, choices_.size());
    if (is_new) choices_.push_back(std::move(choices));
    return found->second;
}

void Balance::add(std::vector<std::size_t> choices) {
    const Search found = search(choices);
    const std::size_t newcomer = slot_of_.size();
    kind_of_taker_.push_back(kind_of(std::move(choices)));
    slot_of_.push_back(load_.size());
    if (found.best == nobody) return;
    ++load_[found.best];
    for (std::size_t slot = found.best, taker;;) {
        taker = found.came_by[slot];
        takers_[slot][kind_of_taker_[taker]].insert(taker);
        std::swap(slot, slot_of_[taker]);
        if (taker != newcomer) {
            auto& left = takers_[slot];
            const auto kind = left.find(kind_of_taker_[taker]);
            kind->second.erase(taker);
            if (kind->second.empty()) left.erase(kind);
        }
        if (taker == newcomer) break;
    }
}

std::vector<std::size_t> balance(const std::vector<std::vector<std::size_t>>& choices, std::size_t slot_count) {
    Balance takers(slot_count);
    for (const auto& each : choices) takers.add(each);
    return takers.slots();
}

}  // namespace paced::placement
