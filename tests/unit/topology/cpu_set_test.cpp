// SPDX-License-Identifier: BSD-3-Clause
#include "policy/topology/cpu_set.h"

#include <gtest/gtest.h>

namespace paced::topology {
namespace {

TEST(CpuSet, TextIsTheShortestList) {
    const struct {
        const char *text, *list;
        int count;
    } cases[] = {
        {"", "", 0},           {"0", "0", 1},           {"0-7,16-23", "0-7,16-23", 16},
        {"3,1,2", "1-3", 3},   {"1-5,3-8", "1-8", 8},   {" 4 , 6 - 7 ", "4,6-7", 3},
        {"63,64", "63-64", 2}, {"0-255", "0-255", 256}, {"65535", "65535", 1},
        {"0,2,4", "0,2,4", 3},
    };
    for (const auto& each : cases) {
        const auto cpus = CpuSet::parse(each.text);
        ASSERT_TRUE(cpus) << each.text;
        EXPECT_EQ(to_string(*cpus), each.list);
        EXPECT_EQ(cpus->count(), each.count);
    }
}

TEST(CpuSet, RefusesWhatIsNoList) {
    for (const char* text : {"a", "1,", ",1", "1--2", "2-1", "-1", "1-", "65536", "0-65536", "99999999999999999999", "1 2", "0x3"})
        EXPECT_FALSE(CpuSet::parse(text)) << text;
}

TEST(CpuSet, Algebra) {
    const CpuSet a = CpuSet::range(0, 9), b = CpuSet::range(5, 129);
    EXPECT_EQ(to_string(a | b), "0-129");
    EXPECT_EQ(to_string(a & b), "5-9");
    EXPECT_EQ(to_string(b - a), "10-129");
    EXPECT_EQ(to_string(a - b), "0-4");
    EXPECT_TRUE(a.intersects(b));
    EXPECT_FALSE((a - b).intersects(b));
    EXPECT_TRUE((a & b).is_subset_of(a));
    EXPECT_FALSE(b.is_subset_of(a));
    EXPECT_TRUE(CpuSet{}.is_subset_of(a));
    EXPECT_FALSE(CpuSet{}.intersects(a));
}

TEST(CpuSet, EqualityIsThatOfSets) {
    CpuSet high{200, 3};
    high -= CpuSet{200};
    EXPECT_EQ(high, CpuSet{3});  // the words that became 0 do not count
    EXPECT_NE(high, CpuSet{4});
    high &= CpuSet{1};
    EXPECT_TRUE(high.empty());
    EXPECT_EQ(high, CpuSet{});
}

TEST(CpuSet, WalksItsMembers) {
    const CpuSet cpus{0, 63, 64, 127, 128};
    EXPECT_EQ(cpus.members(), (std::vector{0, 63, 64, 127, 128}));
    EXPECT_EQ(cpus.first(), 0);
    EXPECT_EQ(cpus.next(64), 127);
    EXPECT_EQ(cpus.next(128), -1);
    EXPECT_EQ(CpuSet{}.first(), -1);
    EXPECT_FALSE(cpus.contains(-1));
    EXPECT_FALSE(cpus.contains(100000));
}

}  // namespace
}  // namespace paced::topology
