// SPDX-License-Identifier: BSD-3-Clause
// Who spins and who does not: ranks counted on the cores that they may use.
#include "plugin/interposer/pacing/crowded.h"

#include <gtest/gtest.h>

namespace paced::interposer {
namespace {

segment::Rank rank_on(std::uint32_t first, std::uint32_t count) {
    segment::Rank rank{};
    for (std::uint32_t cpu = first; cpu < first + count; ++cpu) rank.cpus[cpu / 64] |= std::uint64_t{1} << (cpu % 64);
    return rank;
}

bool crowded(const segment::Rank& own, const std::vector<segment::Rank>& ranks) {
    Crowd crowd(own.cpus);
    for (const auto& rank : ranks) crowd.add(rank);
    return crowd.is_crowded();
}

TEST(Crowded, RanksWithCoresOfTheirOwnAreNot) {
    std::vector<segment::Rank> ranks;
    for (std::uint32_t i = 0; i < 128; ++i) ranks.push_back(rank_on(i, 1));
    EXPECT_FALSE(crowded(ranks[77], ranks));
    ranks.push_back(rank_on(77, 1));
    EXPECT_TRUE(crowded(ranks[77], ranks));
    EXPECT_FALSE(crowded(ranks[76], ranks));
}

TEST(Crowded, RanksThatRunWhereTheyLikeAreCounted) {
    std::vector<segment::Rank> ranks(2, rank_on(0, 2));
    EXPECT_FALSE(crowded(ranks[0], ranks));
    ranks.push_back(rank_on(0, 2));
    EXPECT_TRUE(crowded(ranks[0], ranks));
}

TEST(Crowded, SharesOfWiderRanks) {
    // four ranks on 0-7 and four on 0-3: two and four are expected on the first four CPUs
    std::vector<segment::Rank> ranks(4, rank_on(0, 8));
    EXPECT_FALSE(crowded(rank_on(0, 4), ranks));
    ranks.insert(ranks.end(), 4, rank_on(0, 4));
    EXPECT_TRUE(crowded(rank_on(0, 4), ranks));
    EXPECT_FALSE(crowded(rank_on(0, 8), ranks));
}

TEST(Crowded, WhatCannotBeReadIs) {
    segment::Header header{};
    EXPECT_TRUE(is_crowded("/nonexistent/segment", header, rank_on(0, 64)));
}

}  // namespace
}  // namespace paced::interposer
