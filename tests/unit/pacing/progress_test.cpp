// SPDX-License-Identifier: BSD-3-Clause
#include "policy/pacing/progress.h"

#include <algorithm>
#include <array>

#include <gtest/gtest.h>

namespace paced::pacing {
namespace {

Progress said(std::uint64_t leaf) {
    Progress made{};
    made.communicator = 1;
    made.signature = 5;
    made.period = 1;
    made.size = 4;
    made.local = made.members = made.most_local = 1;
    made.leaves = 1;
    made.leaf = leaf;
    made.leaf_set = leaf != 0 ? std::uint64_t{1} << leaf % 64 : 0;
    return made;
}

TEST(Progress, LeavesAddUpInAnyOrder) {
    std::array<std::uint64_t, 4> leaves{0, 7, 7, 70};
    do {
        Progress all = said(leaves[0]);
        for (int i = 1; i < 4; ++i) join(all, said(leaves[i]));
        EXPECT_EQ(all.leaves, 2u);
        EXPECT_EQ(all.leaf, 0u);
        EXPECT_EQ(all.leaf_set, std::uint64_t{1} << 7 | std::uint64_t{1} << 6);
        EXPECT_EQ(all.members, 4u);
        EXPECT_EQ(all.signature, 5u);
    } while (std::ranges::next_permutation(leaves).found);
}

TEST(Progress, OneLeafIsNoCrossing) {
    Progress all = said(7);
    join(all, said(0));
    join(all, said(7));
    EXPECT_EQ(all.leaves, 1u);
    EXPECT_EQ(all.leaf, 7u);
    EXPECT_EQ(all.leaf_set, 128u);
}

TEST(Progress, TheBusiestSocketIsThatOfAnyMember) {
    Progress all = said(7), other = said(8);
    all.socket_bytes = 100;
    other.socket_bytes = 300;
    join(all, other);
    join(all, said(7));
    EXPECT_EQ(all.socket_bytes, 300u);
}

TEST(Progress, MembersThatDisagreeHaveNoSignature) {
    Progress all = said(7), other = said(8);
    other.signature = 6;
    join(all, other);
    join(all, said(7));
    EXPECT_EQ(all.signature, 0u);
    EXPECT_EQ(all.period, 0u);
}

}  // namespace
}  // namespace paced::pacing
