// SPDX-License-Identifier: BSD-3-Clause
// Communicators are told apart on every rank alike: twins, reused handles, halves, threads.
#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "tests/mpi/job.h"

namespace paced::test {
namespace {

using report::Operation;

class Communicators : public testing::TestWithParam<Mpi> {
protected:
    void SetUp() override {
        if (!is_installed(GetParam())) GTEST_SKIP() << name_of(GetParam()) << " is not installed";
    }
    int ranks() const { return GetParam() == Mpi::open_mpi ? 4 : 2; }
};

// Communicators that several ranks know, by id: what each says of it.
std::map<std::uint64_t, std::vector<report::CommunicatorTrace>> by_id(const std::vector<report::RankTrace>& ranks) {
    std::map<std::uint64_t, std::vector<report::CommunicatorTrace>> found;
    for (const auto& rank : ranks)
        for (const auto& communicator : rank.communicators) found[communicator.id].push_back(communicator);
    return found;
}

TEST_P(Communicators, AreTheSameOnAllMembers) {
    Job job(GetParam(), ranks());
    const Outcome outcome = job.run("communicators");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    const auto recorded = ranks_of(job.trace());
    ASSERT_EQ(recorded.size(), static_cast<std::size_t>(ranks()));
    const auto found = by_id(recorded);
    std::multiset<std::uint64_t> whole_calls, half_calls;
    for (const auto& [id, members] : found) {
        SCOPED_TRACE(id);
        ASSERT_EQ(members.size(), members[0].size) << "not all members know it by this id";
        std::set<std::uint32_t> member_ranks;
        for (const auto& member : members) {
            EXPECT_EQ(member.calls, members[0].calls);
            EXPECT_EQ(member.size, members[0].size);
            member_ranks.insert(member.rank);
        }
        EXPECT_EQ(member_ranks.size(), members.size());
        if (members[0].size == static_cast<std::uint32_t>(ranks())) whole_calls.insert(members[0].calls);
        // alone: counted, no records
        if (members[0].size == 1 && members[0].calls_by_operation.contains(Operation::allreduce) && members[0].calls == 4) {
            EXPECT_TRUE(members[0].records.empty());
        }
        if (members[0].size == static_cast<std::uint32_t>(ranks()) / 2) half_calls.insert(members[0].calls);
    }
    // the twins: 1 broadcast and 5 barriers, 6 unrecorded and 1 more; 1 broadcast and 7 barriers
    EXPECT_EQ(whole_calls.count(13), 1u);
    EXPECT_EQ(whole_calls.count(8), 1u);
    // ten lives of one handle, on either half
    for (std::uint64_t i = 1; i <= 10; ++i) EXPECT_GE(half_calls.count(i), 2u) << i;
    for (const auto& rank : recorded) {
        EXPECT_EQ(rank.not_recorded.at("collectives on intercommunicators"), 3u);
        // 2 twins, 10 halves, merged, self: the rest of 64 entries serves 50 of the 80 that follow
        EXPECT_EQ(rank.communicators.size(), 64u);
        EXPECT_EQ(rank.dropped, 30u);
        std::uint64_t calls = 0;
        for (const auto& communicator : rank.communicators) calls += communicator.calls;
        EXPECT_EQ(rank.recording_calls, calls - 6);
    }
    // MPI_Pcontrol(0): counted, but no record
    for (const auto& [id, members] : found)
        for (const auto& member : members)
            if (member.size == static_cast<std::uint32_t>(ranks()) && member.calls == 13) {
                EXPECT_EQ(member.records.size(), 7u);
            }
}

TEST_P(Communicators, OfEightThreads) {
    Job job(GetParam(), 2);
    const Outcome outcome = job.run("threads");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    if (outcome.out.starts_with("no MPI_THREAD_MULTIPLE")) GTEST_SKIP() << outcome.out;
    const Outcome without = job.run_without("threads");
    std::string with_lines = outcome.out, without_lines = without.out;
    std::ranges::sort(with_lines);
    std::ranges::sort(without_lines);
    EXPECT_EQ(with_lines, without_lines);
    const auto recorded = ranks_of(job.trace());
    ASSERT_EQ(recorded.size(), 2u);
    for (const auto& rank : recorded) {
        std::set<std::uint64_t> calls;
        for (const auto& communicator : rank.communicators) {
            calls.insert(communicator.calls);
            EXPECT_EQ(communicator.records.size(), communicator.calls);  // 64 blocks are enough for all
        }
        EXPECT_EQ(calls, (std::set<std::uint64_t>{300, 320, 340, 360, 380, 400, 420, 440}));
        EXPECT_EQ(rank.dropped, 0u);
    }
    for (const auto& [id, members] : by_id(recorded)) {
        ASSERT_EQ(members.size(), 2u) << "not all members know it by this id";
        EXPECT_EQ(members[0].calls, members[1].calls);
    }
}

INSTANTIATE_TEST_SUITE_P(All, Communicators, testing::Values(Mpi::open_mpi, Mpi::mpich), [](const auto& test) { return name_of(test.param); });

}  // namespace
}  // namespace paced::test
