// SPDX-License-Identifier: BSD-3-Clause
// The workload as users would run it: the same output with us, an injected straggler seen, wrong options refused.
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>

#include <sched.h>

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
    const std::map<std::string, std::vector<std::string>> more{{"groups", {"--groups", "2"}}, {"triad", {"--array-mib", "0.1", "--reduce-every", "2"}}};
    for (const std::string mode : {"allreduce", "alltoall", "ring", "groups", "triad"}) {
        std::vector<std::string> arguments{"--mode", mode, "--iterations", "5", "--compute", "1", "--jitter", "0.1", "--bytes", "4000", "--quiet-times"};
        if (more.contains(mode)) arguments.insert(arguments.end(), more.at(mode).begin(), more.at(mode).end());
        Job job(Mpi::open_mpi, 4);
        const Outcome with = job.run(program, arguments), without = job.run_without(program, arguments);
        EXPECT_EQ(with.exit_code, 0) << with.err;
        EXPECT_EQ(with.out, without.out);
        EXPECT_EQ(with.out.substr(0, 31), "ranks=4 iterations=5 checksum=" + with.out.substr(30, 1));
        checksums[mode] = with.out;
    }
    // its own ring reduces to what MPI_Allreduce does
    EXPECT_EQ(checksums["ring"], checksums["allreduce"]);
    EXPECT_EQ(std::set<std::string>({checksums["allreduce"], checksums["alltoall"], checksums["groups"], checksums["triad"]}).size(), 4u);
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

// Nothing but the end of the job is over all ranks, so that a group can be ahead of the others.
TEST_F(Bsp, IndependentGroupsMeetNoWhere) {
    Job job(Mpi::open_mpi, 4);
    const Outcome outcome = job.run(program, {"--mode", "groups", "--groups", "2", "--iterations", "30", "--warmup", "2", "--compute", "1", "--bytes", "1024", "--buckets", "2"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("\ngroups=2 (the figures above are means over them, max the longest of all)\n"), std::string::npos) << outcome.out;
    std::map<std::uint64_t, std::set<int>> members;
    for (const auto& rank : ranks_of(job.trace()))
        for (const auto& communicator : rank.communicators) {
            members[communicator.id].insert(rank.rank);
            const std::uint64_t reductions = communicator.calls_by_operation.count(report::Operation::allreduce) ? communicator.calls_by_operation.at(report::Operation::allreduce) : 0;
            EXPECT_EQ(reductions, communicator.size == 2 ? 2 * (30 + 2) : 0u);
        }
    std::set<std::set<int>> groups;
    for (const auto& [id, ranks] : members) groups.insert(ranks);
    EXPECT_EQ(groups, (std::set<std::set<int>>{{0, 2}, {1, 3}, {0, 1, 2, 3}}));
}

// A straggler's group is slow and the other is not; both count alike.
TEST_F(Bsp, FiguresAreMeansOverGroups) {
    Job job(Mpi::open_mpi, 4);
    const Outcome outcome = job.run_without(program, {"--mode", "groups", "--groups", "2", "--iterations", "5", "--warmup", "1", "--compute", "0", "--bytes", "4", "--straggler", "rank=3,ms=200"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    double mean = 0;
    ASSERT_EQ(std::sscanf(outcome.out.c_str(), "mean=%lf", &mean), 1) << outcome.out;
    EXPECT_GT(mean, 100);
    EXPECT_LT(mean, 180);
}

// Two ranks on one core: work of 20 ms each takes both 40 ms at least, where time that just passes would take 20.
TEST_F(Bsp, WorkIsCpuTime) {
    if (!std::filesystem::exists("/usr/bin/taskset")) GTEST_SKIP() << "taskset (util-linux) is not installed";
    cpu_set_t allowed;
    ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    int core = 0;
    while (!CPU_ISSET(core, &allowed)) ++core;
    Job job(Mpi::open_mpi, 2);
    const Outcome outcome = job.run_without("/usr/bin/taskset", {"-c", std::to_string(core), program, "--work", "--cpu-time", "--iterations", "5", "--warmup", "0", "--compute", "20", "--buckets", "1", "--bytes", "4"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    double mean = 0, cpu = 0;
    ASSERT_EQ(std::sscanf(outcome.out.c_str(), "mean=%lf", &mean), 1) << outcome.out;
    EXPECT_GE(mean, 36);
    const auto said = outcome.out.find("\ncpu=");
    ASSERT_NE(said, std::string::npos) << outcome.out;
    ASSERT_EQ(std::sscanf(outcome.out.c_str() + said, "\ncpu=%lf s", &cpu), 1) << outcome.out;
    EXPECT_GE(cpu, 2 * 5 * .0199);
    EXPECT_LT(cpu, 2 * 5 * mean / 1000 + .1);
}

TEST_F(Bsp, WrongOptionsEndWithTwo) {
    const std::pair<std::vector<std::string>, std::string> cases[] = {
        {{"--mode", "foo"}, "bsp: --mode: foo not in {allreduce,alltoall,ring,groups,triad}\n"},
        {{"--straggler", "rank=2,ms=1"}, "bsp: --straggler rank=2,ms=1: the rank must be one of 0 to 1 (as in --straggler rank=5,ms=20)\n"},
        {{"--straggler", "rank=0"}, "bsp: --straggler rank=0: the delay is missing or negative (as in --straggler rank=5,ms=20)\n"},
        {{"--straggler", "rank=0,ms=x"}, "bsp: --straggler rank=0,ms=x: 'ms=x' has no number (as in --straggler rank=5,ms=20)\n"},
        {{"--groups", "tp=3"}, "bsp: --groups tp=3: tp x dp must be the number of ranks, 2 (as in --groups tp=2,dp=4)\n"},
        {{"--mode", "groups"}, "bsp: --mode groups needs --groups G, where G divides the number of ranks, 2 (as in --mode groups --groups 4)\n"},
        {{"--mode", "groups", "--groups", "3"}, "bsp: --mode groups needs --groups G, where G divides the number of ranks, 2 (as in --mode groups --groups 4)\n"},
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
