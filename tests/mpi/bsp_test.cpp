// SPDX-License-Identifier: BSD-3-Clause
// The workload as users would run it: the same output with us, an injected straggler seen, wrong options refused.
#include <filesystem>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "tests/mpi/job.h"

namespace paced::test {
namespace {

constexpr char program[] = PACED_FABRIC_BIN_DIR "/bsp";

class Bsp : public testing::Test {
protected:
    void SetUp() override {
        if (!std::filesystem::exists(program)) GTEST_SKIP() << "Open MPI is not installed";
    }
};

TEST_F(Bsp, OutputIsByteIdenticalInEveryMode) {
    std::map<std::string, std::string> checksums;
    for (const char* mode : {"allreduce", "alltoall", "ring"}) {
        const std::vector<std::string> arguments{"--mode", mode, "--iterations", "5", "--compute", "1", "--jitter", "0.1", "--bytes", "4000", "--quiet-times"};
        Job job(Mpi::open_mpi, 4);
        const Outcome with = job.run(program, arguments), without = job.run_without(program, arguments);
        EXPECT_EQ(with.exit_code, 0) << with.err;
        EXPECT_EQ(with.out, without.out);
        EXPECT_EQ(with.out.substr(0, 31), "ranks=4 iterations=5 checksum=" + with.out.substr(30, 1));
        checksums[mode] = with.out;
    }
    // its own ring reduces to what MPI_Allreduce does
    EXPECT_EQ(checksums["ring"], checksums["allreduce"]);
    EXPECT_NE(checksums["alltoall"], checksums["allreduce"]);
}

TEST_F(Bsp, StragglerIsLastAlmostAlways) {
    Job job(Mpi::open_mpi, 4, 2);
    const Outcome outcome = job.run(program, {"--iterations", "20", "--warmup", "0", "--compute", "5", "--straggler", "rank=2,ms=200", "--buckets", "1", "--bytes", "1024"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_NE(outcome.out.find(" ms cv="), std::string::npos);
    EXPECT_NE(outcome.out.find("throughput="), std::string::npos);
    const auto ranks = ranks_of(job.trace());
    ASSERT_EQ(ranks.size(), 4u);
    // Of the largest communicator with buckets: two pretended nodes, one clock, so arrivals compare directly.
    std::map<int, int> last;
    int calls = 0;
    const auto& buckets = ranks[0].communicators[0];
    for (std::size_t i = 0; i < buckets.records.size(); ++i, ++calls) {
        int latest = 0;
        for (int r = 1; r < 4; ++r)
            if (ranks[static_cast<std::size_t>(r)].communicators[0].records[i].arrival_ns > ranks[static_cast<std::size_t>(latest)].communicators[0].records[i].arrival_ns) latest = r;
        ++last[latest];
    }
    EXPECT_EQ(calls, 20);
    EXPECT_GT(last[2], 18);
}

TEST_F(Bsp, GroupsAreTheirOwnCommunicators) {
    Job job(Mpi::open_mpi, 4);
    ASSERT_EQ(job.run(program, {"--iterations", "3", "--warmup", "0", "--compute", "1", "--groups", "tp=2,dp=2", "--bytes", "1024"}).exit_code, 0);
    std::map<std::uint64_t, std::set<int>> members;
    for (const auto& rank : ranks_of(job.trace()))
        for (const auto& communicator : rank.communicators) members[communicator.id].insert(rank.rank);
    std::set<std::set<int>> groups;
    for (const auto& [id, ranks] : members) groups.insert(ranks);
    EXPECT_EQ(groups, (std::set<std::set<int>>{{0, 1}, {2, 3}, {0, 2}, {1, 3}, {0, 1, 2, 3}}));
}

TEST_F(Bsp, WrongOptionsEndWithTwo) {
    const std::pair<std::vector<std::string>, std::string> cases[] = {
        {{"--mode", "foo"}, "bsp: --mode: foo not in {allreduce,alltoall,ring}\n"},
        {{"--straggler", "rank=2,ms=1"}, "bsp: --straggler rank=2,ms=1: the rank must be one of 0 to 1 (as in --straggler rank=5,ms=20)\n"},
        {{"--straggler", "rank=0"}, "bsp: --straggler rank=0: the delay is missing or negative (as in --straggler rank=5,ms=20)\n"},
        {{"--straggler", "rank=0,ms=x"}, "bsp: --straggler rank=0,ms=x: 'ms=x' has no number (as in --straggler rank=5,ms=20)\n"},
        {{"--groups", "tp=3"}, "bsp: --groups tp=3: tp x dp must be the number of ranks, 2 (as in --groups tp=2,dp=4)\n"},
        {{"--bogus"}, "bsp: The following argument was not expected: --bogus\n"},
    };
    for (const auto& [arguments, expected] : cases) {
        Job job(Mpi::open_mpi, 2);
        const Outcome outcome = job.run_without(program, arguments);
        EXPECT_EQ(outcome.exit_code, 2);
        EXPECT_NE(outcome.err.find(expected), std::string::npos) << outcome.err;
        EXPECT_EQ(outcome.out, "");
    }
}

}  // namespace
}  // namespace paced::test
