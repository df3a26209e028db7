// SPDX-License-Identifier: BSD-3-Clause
// Iterations are found in what a rank calls: the same on all members, not fooled by equal buckets, and no longer than they are.
#include "policy/pacing/period.h"

#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace paced::pacing {
namespace {

constexpr std::uint32_t allreduce = 3, allgatherv = 5, barrier = 0;

struct Step {
    int communicator;
    std::uint32_t operation;
    std::uint64_t bytes;
};

// One rank: its communicators' finders, fed in the order in which it calls.
class Member {
public:
    void call(const Step& step) {
        PeriodFinder::Ended ended{step.operation, step.operation == allgatherv, step.bytes, sum_, marks};
        sum_ += PeriodFinder::weight_of(static_cast<std::uint64_t>(step.communicator) + id_offset, ended);
        finders_[step.communicator].add(ended, sum_);
    }
    void calls(const std::vector<Step>& steps) {
        for (const Step& step : steps) call(step);
    }
    const PeriodFinder& operator[](int communicator) { return finders_[communicator]; }

    std::uint64_t marks = 0;
    std::uint64_t id_offset = 0;

private:
    std::map<int, PeriodFinder> finders_;
    std::uint64_t sum_ = 0;
};

// contrib/workloads/bsp: equal buckets of one group, then eight bytes of all.
std::vector<Step> bsp(int buckets, std::uint64_t bytes = 131072) {
    std::vector<Step> steps(static_cast<std::size_t>(buckets), Step{1, allreduce, bytes});
    steps.push_back({0, allreduce, 8});
    return steps;
}

TEST(Period, EqualBucketsAreToldApartByWhatLiesBetween) {
    Member member;
    for (int i = 0; i < 20; ++i) member.calls(bsp(4));
    EXPECT_EQ(member[1].period(), 4u);
    EXPECT_EQ(member[0].period(), 1u);
    EXPECT_EQ(member[1].bytes(), 131072u);
    EXPECT_NE(member[1].signature(), 0u);
    EXPECT_NE(member[1].signature(), member[0].signature());
}

TEST(Period, FoundWithinSixteenCalls) {
    Member member;
    for (int i = 0; i < 16; ++i) member.calls(bsp(4));
    EXPECT_EQ(member[0].period(), 1u);
    Member other;
    for (int i = 0; i < 4; ++i) other.calls(bsp(4));
    EXPECT_EQ(other[1].period(), 4u);
}

TEST(Period, EveryLengthUpToTheLongest) {
    for (int length = 1; length <= static_cast<int>(longest_period); ++length) {
        Member member;
        std::mt19937 random(static_cast<unsigned>(length));
        std::vector<Step> steps;
        for (int i = 0; i < length; ++i) steps.push_back({0, allreduce, std::uint64_t{1} << (i == 0 ? 40 : random() % 20)});
        for (int i = 0; i < 320; ++i) member.call(steps[static_cast<std::size_t>(i % length)]);
        EXPECT_EQ(member[0].period(), static_cast<std::uint32_t>(length));
    }
}

TEST(Period, LongerThanTheLongestIsNone) {
    Member member;
    for (int i = 0; i < 2000; ++i) member.call({0, allreduce, std::uint64_t{1} << (i % 65 == 0 ? 40 : i % 3)});
    EXPECT_EQ(member[0].period(), 0u);
    EXPECT_EQ(member[0].signature(), 0u);
    EXPECT_FALSE(member[0].is_data_next());
}

TEST(Period, NoneInRandomCalls) {
    Member member;
    std::mt19937 random(7);
    for (int i = 0; i < 3000; ++i) member.call({0, allreduce, std::uint64_t{1} << random() % 30});
    EXPECT_EQ(member[0].period(), 0u);
}

// What other members and the other groups of the same program find: the same signature, whatever their communicators are called,
// and wherever a group began.
TEST(Period, AlikeInParallelGroupsAndWhereverItBegins) {
    Member one, other, later;
    other.id_offset = 1000;
    later.call({1, allreduce, 131072});
    later.call({1, allreduce, 131072});
    for (int i = 0; i < 40; ++i) {
        one.calls(bsp(4));
        other.calls(bsp(4));
        later.calls(bsp(4));
    }
    EXPECT_EQ(one[1].signature(), other[1].signature());
    EXPECT_EQ(one[1].signature(), later[1].signature());
    Member larger;
    for (int i = 0; i < 40; ++i) larger.calls(bsp(4, 262144));
    EXPECT_NE(one[1].signature(), larger[1].signature());
    Member more;
    for (int i = 0; i < 40; ++i) more.calls(bsp(3));
    EXPECT_NE(one[1].signature(), more[1].signature());
}

TEST(Period, PayloadsThatDifferFromRankToRank) {
    Member one, other;
    std::mt19937 random(3);
    for (int i = 0; i < 100; ++i) {
        one.calls({{0, allgatherv, random() % 100000}, {0, barrier, 0}});
        other.calls({{0, allgatherv, random() % 100}, {0, barrier, 0}});
    }
    EXPECT_EQ(one[0].period(), 2u);
    EXPECT_EQ(one[0].signature(), other[0].signature());
}

// Other communicators that two threads use as they like: then what this one shows by itself.
TEST(Period, WithoutContextWhereThereIsNoOrder) {
    Member member;
    std::mt19937 random(5);
    for (int i = 0; i < 300; ++i) {
        member.calls({{0, allreduce, 8}, {0, allreduce, 4096}});
        for (auto n = random() % 4; n > 0; --n) member.call({1, allreduce, 64});
    }
    EXPECT_EQ(member[0].period(), 2u);
}

TEST(Period, ACheckpointDoesNotEndIt) {
    Member member;
    for (int i = 0; i < 400; ++i) {
        member.calls(bsp(4));
        if (i % 97 == 50) member.call({1, barrier, 0});
        if (i > 20) {
            EXPECT_EQ(member[1].period(), 4u) << i;
        }
    }
}

TEST(Period, AnotherProgramIsFound) {
    Member member;
    for (int i = 0; i < 100; ++i) member.calls(bsp(4));
    for (int i = 0; i < 400; ++i) member.calls(bsp(2));
    EXPECT_EQ(member[1].period(), 2u);
}

TEST(Period, MarksSayWhatAnIterationIs) {
    Member member;
    for (int i = 0; i < 40; ++i) {
        ++member.marks;
        for (int call = 0; call < 6; ++call) member.call({0, allreduce, 1024});
    }
    EXPECT_EQ(member[0].period(), 6u);
    EXPECT_NE(member[0].signature(), 0u);
    // no more marks: after a while what the calls show
    for (int i = 0; i < 2000; ++i) member.call({0, allreduce, 1024});
    EXPECT_EQ(member[0].period(), 1u);
}

TEST(Period, MarksThatAreNotEvenAreIgnored) {
    Member member;
    for (int i = 0; i < 200; ++i) {
        ++member.marks;
        for (int call = 0; call < 3 + i % 2; ++call) member.call({0, allreduce, 1024});
    }
    EXPECT_EQ(member[0].period(), 1u);
}

TEST(Period, DataIsAQuarterOfTheLargest) {
    Member member;
    const std::vector<Step> iteration{{0, allreduce, 1 << 20}, {0, allreduce, 1 << 18}, {0, allreduce, (1 << 18) - 1}, {0, barrier, 0}, {0, allgatherv, 5}};
    const bool data[] = {true, true, false, false, true};
    for (int i = 0; i < 64; ++i) member.calls(iteration);
    ASSERT_EQ(member[0].period(), 5u);
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(member[0].is_data_next(), data[i % 5]) << i;
        member.call(iteration[static_cast<std::size_t>(i % 5)]);
    }
}

}  // namespace
}  // namespace paced::pacing
