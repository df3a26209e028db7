// SPDX-License-Identifier: BSD-3-Clause
// The k-ary tree of nodes as numbers: 0 is the leader, and node i hangs from (i - 1) / k. The first nodes are the inner ones.
#pragma once

#include <cstdint>

namespace paced::interposer {

constexpr std::uint32_t parent_of(std::uint32_t index, std::uint32_t arity) { return index == 0 ? 0 : (index - 1) / arity; }

constexpr std::uint32_t children_of(std::uint32_t index, std::uint32_t arity, std::uint32_t nodes) {
    const std::uint64_t first = std::uint64_t{index} * arity + 1;
    if (first >= nodes) return 0;
    return nodes - first < arity ? static_cast<std::uint32_t>(nodes - first) : arity;
}

// Steps from the last node, which is one of the deepest, to the leader.
constexpr std::uint32_t depth_of(std::uint32_t nodes, std::uint32_t arity) {
    std::uint32_t depth = 0;
    for (std::uint32_t index = nodes > 0 ? nodes - 1 : 0; index != 0; index = parent_of(index, arity)) ++depth;
    return depth;
}

}  // namespace paced::interposer
