// SPDX-License-Identifier: BSD-3-Clause
// Spreading takers over what they may take, as evenly as can be.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <vector>

namespace paced::placement {

// Takers come one by one; after each, no other assignment of those that are there has a lower highest load, nor, that being
// equal, fewer slots with it, and so on down (an optimal semi-matching). Among equals each taker in turn gets its least loaded
// choice, the first named of them.
class Balance {
public:
    explicit Balance(std::size_t slot_count) : load_(slot_count, 0), takers_(slot_count) {}

    // The lowest load of a slot that a taker with these choices can bring one more to, others moving where they must. Of
    // several possible takers the one with the lowest keeps all loads as even as can be. slot_count or more: none.
    std::size_t lowest_load(const std::vector<std::size_t>& choices) const;
    // choices: the slots that it may have, best first; empty: it gets none.
    void add(std::vector<std::size_t> choices);

    // Of each taker, slot_count for none.
    const std::vector<std::size_t>& slots() const { return slot_of_; }
    const std::vector<std::size_t>& loads() const { return load_; }

private:
    struct Search;
    Search search(const std::vector<std::size_t>& choices) const;

    using Takers = std::set<std::size_t>;

    std::size_t kind_of(std::vector<std::size_t> choices);

    std::vector<std::size_t> load_;
    // Takers with the same choices are of one kind: there may be thousands of takers, but not of kinds, and a search looks
    // only at the first of a kind that holds a slot.
    std::map<std::vector<std::size_t>, std::size_t> kinds_;
    std::vector<std::vector<std::size_t>> choices_;           // of each kind
    std::vector<std::map<std::size_t, Takers>> takers_;       // of each slot, by kind: who holds it
    std::vector<std::size_t> kind_of_taker_, slot_of_;
};

// All at once: choices[t] are those of taker t. Returns the slot of each (slot_count for none).
std::vector<std::size_t> balance(const std::vector<std::vector<std::size_t>>& choices, std::size_t slot_count);

}  // namespace paced::placement
