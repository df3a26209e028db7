// SPDX-License-Identifier: BSD-3-Clause
#include "policy/placement/order/contiguous.h"

#include <algorithm>
#include <utility>

#include "policy/placement/order/order_ring.h"

namespace paced::placement {

namespace {

enum class BySize { larger_first, smaller_first };

// Like the walk, but the groups below each group by their size; the first host's groups stay first, ties keep the walk.
LeafSequence by_size(const FabricGroups& groups, BySize which) {
    std::vector<Leaf> leaves(groups.leaves.size());
    for (std::size_t i = 0; i < leaves.size(); ++i) leaves[i] = static_cast<Leaf>(i);
    for (auto level = groups.levels.rbegin(); level != groups.levels.rend(); ++level)
        std::stable_sort(leaves.begin(), leaves.end(), [&](Leaf a, Leaf b) {
            const Group x = level->of_leaf[a], y = level->of_leaf[b];
            if (x == y || x == 0 || y == 0) return x != y && x == 0;
            const std::size_t left = level->size[x], right = level->size[y];
            if (left != right) return which == BySize::larger_first ? left > right : left < right;
            return x < y;
        });
    LeafSequence sequence;
    for (Leaf leaf : leaves) sequence.insert(sequence.end(), groups.leaf_level().size[leaf], leaf);
    return sequence;
}

}  // namespace

std::vector<Candidate> contiguous_orders(const FabricGroups& groups) {
    std::vector<Candidate> all;
    const auto add = [&](LeafSequence sequence, std::string what) {
        if (std::none_of(all.begin(), all.end(), [&](const Candidate& each) { return each.sequence == sequence; }))
            all.push_back({std::move(sequence), std::move(what)});
    };
    const std::string name = leaf_by_leaf(groups);
    add(walk(groups), name);
    add(by_size(groups, BySize::larger_first), name + ", large ones first");
    add(by_size(groups, BySize::smaller_first), name + ", small ones first");
    // Turned: binary trees like groups that begin half a group away from a power of two.
    const std::size_t first = groups.leaf_level().size[0], unturned = all.size();
    constexpr std::size_t most_turns = 8;
    for (std::size_t i = 0; i < unturned; ++i)
        for (std::size_t turn = 1; turn <= std::min(first - 1, most_turns); ++turn) {
            LeafSequence sequence = all[i].sequence;
            const std::size_t by = first - 1 <= most_turns ? turn : turn * (first - 1) / most_turns;
            std::rotate(sequence.begin(), sequence.begin() + static_cast<std::ptrdiff_t>(by), sequence.end());
            add(std::move(sequence),
                all[i].what + ", of which " + (by == 1 ? "1 host comes" : std::to_string(by) + " hosts come") + " last");
        }
    return all;
}

}  // namespace paced::placement
