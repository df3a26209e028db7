// SPDX-License-Identifier: BSD-3-Clause
#include "policy/placement/order/double_tree.h"

#include <bit>

#include <gtest/gtest.h>

namespace paced::placement {
namespace {

std::vector<int> children(const std::vector<Position>& parent) {
    std::vector<int> count(parent.size(), 0);
    for (std::size_t node = 0; node < parent.size(); ++node)
        if (parent[node] != node) ++count[parent[node]];
    return count;
}

TEST(DoubleTree, SmallOnesDrawnByHand) {
    using Parents = std::vector<Position>;
    const auto four = double_binary_tree(4);
    EXPECT_EQ(four[0], (Parents{0, 2, 0, 2}));  // 0 - 2 - (1, 3)
    EXPECT_EQ(four[1], (Parents{1, 3, 1, 3}));  // 3 - 1 - (2, 0)
    const auto five = double_binary_tree(5);
    EXPECT_EQ(five[0], (Parents{0, 2, 4, 2, 0}));  // 0 - 4 - 2 - (1, 3)
    EXPECT_EQ(five[1], (Parents{1, 1, 3, 0, 3}));  // 1 - 0 - 3 - (2, 4)
    EXPECT_EQ(double_binary_tree(1)[0], Parents{0});
    EXPECT_TRUE(double_binary_tree(0)[1].empty());
}

TEST(DoubleTree, EachIsOneBinaryTreeOfLogarithmicDepth) {
    for (std::size_t n = 1; n <= 300; ++n) {
        for (const auto& parent : double_binary_tree(n)) {
            std::size_t roots = 0;
            for (std::size_t node = 0; node < n; ++node) {
                roots += parent[node] == node;
                std::size_t steps = 0, at = node;
                for (; parent[at] != at && steps <= n; ++steps) at = parent[at];
                ASSERT_LE(steps, static_cast<std::size_t>(std::bit_width(n))) << n;  // so every node reaches a root
            }
            ASSERT_EQ(roots, 1u) << n;  // and there are n - 1 edges
            for (int count : children(parent)) ASSERT_LE(count, 2) << n;
        }
    }
}

// What makes two trees worth having: each node sends on in one of them only.
TEST(DoubleTree, NoNodeHasChildrenInBothTreesButTheFirstOfAnOddNumber) {
    for (std::size_t n = 2; n <= 300; ++n) {
        const auto trees = double_binary_tree(n);
        const auto first = children(trees[0]), second = children(trees[1]);
        for (std::size_t node = 0; node < n; ++node) {
            const bool both = first[node] > 0 && second[node] > 0;
            ASSERT_EQ(both, node == 0 && n % 2 == 1) << n << ' ' << node;
        }
    }
}

}  // namespace
}  // namespace paced::placement
