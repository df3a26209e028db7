// SPDX-License-Identifier: BSD-3-Clause
// However a program ends, it ends as it would without us, and what was recorded until then can be read.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "policy/io/segment_reader.h"
#include "tests/mpi/job.h"

namespace paced::test {
namespace {

namespace fs = std::filesystem;

class Life : public testing::TestWithParam<Mpi> {
protected:
    void SetUp() override {
        if (!is_installed(GetParam())) GTEST_SKIP() << name_of(GetParam()) << " is not installed";
    }
};

std::uint64_t calls_of_world(const report::RankTrace& rank) { return rank.communicators.empty() ? 0 : rank.communicators[0].calls; }

std::size_t lines_of_ours(const std::string& text) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find("paced-fabric: ", at)) != std::string::npos; ++at) ++count;
    return count;
}

TEST_P(Life, ForkInTheMiddle) {
    Job job(GetParam(), 2);
    const Outcome outcome = job.run("life", {"fork"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("rank 0 child 3"), std::string::npos);
    EXPECT_NE(outcome.out.find("rank 1 child 3"), std::string::npos);
    for (const auto& rank : ranks_of(job.trace())) EXPECT_EQ(calls_of_world(rank), 20u);
}

TEST_P(Life, ExitWithoutFinalize) {
    Job job(GetParam(), 2);
    const Outcome with = job.run("life", {"exit"}), without = job.run_without("life", {"exit"});
    EXPECT_TRUE(ended_alike(GetParam(), with.exit_code, without.exit_code)) << with.exit_code << " and " << without.exit_code;
    EXPECT_EQ(lines_of_ours(with.err), 0u) << with.err;
    const auto ranks = ranks_of(job.trace());
    ASSERT_EQ(ranks.size(), 2u);
    for (const auto& rank : ranks) {
        EXPECT_EQ(calls_of_world(rank), 10u);
        EXPECT_EQ(rank.finished_ns, 0u);
    }
}

TEST_P(Life, KilledAndAborted) {
    for (const char* how : {"kill", "abort"}) {
        SCOPED_TRACE(how);
        Job job(GetParam(), 2);
        const Outcome with = job.run("life", {how}), without = job.run_without("life", {how});
        EXPECT_TRUE(ended_alike(GetParam(), with.exit_code, without.exit_code)) << with.exit_code << " and " << without.exit_code;
        EXPECT_EQ(lines_of_ours(with.err), 0u) << with.err;
        const auto ranks = ranks_of(job.trace());
        ASSERT_EQ(ranks.size(), 2u);
        for (const auto& rank : ranks) EXPECT_EQ(calls_of_world(rank), 10u);
    }
}

TEST_P(Life, RefusedCallIsRefusedAsWithoutUs) {
    Job job(GetParam(), 2);
    const Outcome with = job.run("life", {"error"}), without = job.run_without("life", {"error"});
    EXPECT_TRUE(ended_alike(GetParam(), with.exit_code, without.exit_code)) << with.exit_code << " and " << without.exit_code << ": " << with.err;
    EXPECT_EQ(with.out.find("refused 1") != std::string::npos, without.out.find("refused 1") != std::string::npos);
}

TEST_P(Life, LongSequenceIsThinnedAlikeOnAllRanks) {
    Job job(GetParam(), 2);
    ASSERT_EQ(job.run("life", {"sequence"}).exit_code, 0);
    const auto ranks = ranks_of(job.trace());
    ASSERT_EQ(ranks.size(), 2u);
    ASSERT_EQ(calls_of_world(ranks[0]), 40010u);
    const auto& a = ranks[0].communicators[0].records;
    const auto& b = ranks[1].communicators[0].records;
    EXPECT_GT(a.size(), 8000u);
    EXPECT_LE(a.size(), 64u * 256);
    EXPECT_TRUE(std::ranges::equal(a, b, {}, &report::CollectiveRecord::sequence, &report::CollectiveRecord::sequence));
    for (const auto& record : a) EXPECT_EQ(record.sequence / 256 % 4, 0u);  // 157 blocks, room for 64: every fourth
}

TEST_P(Life, LateRankIsSeen) {
    Job job(GetParam(), 2);
    ASSERT_EQ(job.run("life", {"late"}).exit_code, 0);
    const auto ranks = ranks_of(job.trace());
    ASSERT_EQ(ranks.size(), 2u);
    const auto& early = ranks[0].communicators[0].records;
    const auto& late = ranks[1].communicators[0].records;
    ASSERT_EQ(early.size(), 60u);
    ASSERT_EQ(late.size(), 60u);
    int last = 0;
    for (std::size_t i = 10; i < 60; ++i) last += late[i].arrival_ns > early[i].arrival_ns ? 1 : 0;
    EXPECT_GE(last, 45);
}

TEST_P(Life, InertWhereTheStepIsAnothers) {
    Job job(GetParam(), 2);
    job.set("TEST_STAMP", "pmix:another");
    const Outcome outcome = job.run("life");
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(lines_of_ours(outcome.err), 0u);
    EXPECT_FALSE(fs::exists(job.folder() + "/segment"));
}

TEST_P(Life, InertWhereItIsOff) {
    Job job(GetParam(), 2);
    job.set("TEST_MODE", "off");
    EXPECT_EQ(job.run("life").exit_code, 0);
    EXPECT_FALSE(fs::exists(job.folder() + "/segment"));
}

TEST_P(Life, MissingRunFolder) {
    Job job(GetParam(), 2);
    job.set("TEST_RUN_DIR", "/nonexistent/folder");
    const Outcome outcome = job.run("life");
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_NE(outcome.err.find("paced-fabric: cannot open the run folder /nonexistent/folder (No such file or directory), nothing is recorded\n"), std::string::npos) << outcome.err;
    EXPECT_EQ(lines_of_ours(outcome.err), 1u);
}

TEST_P(Life, SomethingElseInThePlaceOfTheSegment) {
    Job job(GetParam(), 2);
    std::ofstream(job.folder() + "/segment") << "not a segment";
    const Outcome outcome = job.run("life");
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_NE(outcome.err.find("/segment is not a segment of this version, nothing is recorded\n"), std::string::npos) << outcome.err;
    EXPECT_EQ(lines_of_ours(outcome.err), 1u);
}

class Tiny : public Life {
protected:
    // The job's launcher runs inside a private mount view; as_rank is told the folder there.
    Outcome run(const std::string& mount_options, const std::string& prepare = "true") {
        Job job(GetParam(), 2);
        const std::string folder = "/tmp/paced-tiny." + job.session();
        fs::create_directory(folder);
        const std::string launcher = GetParam() == Mpi::open_mpi ? "mpirun.openmpi --oversubscribe -n 2" : "mpiexec.mpich -n 2";
        const Outcome outcome = execute(
            {"unshare", "-m", "sh", "-c",
             "mount -t tmpfs -o " + mount_options + " none " + folder + " && " + prepare + " && " + launcher + " '" PACED_FABRIC_SOURCE_DIR "/tests/mpi/as_rank' '" PACED_FABRIC_BUILD_DIR "/tests/mpi/life_" + name_of(GetParam()) + "'"},
            {{"TEST_ROOT", folder}, {"TEST_NODES", "1"}, {"TEST_RUN_DIR", folder}, {"TEST_SESSION", job.session()}, {"TEST_LIBRARY", job.library()},
             {"OMPI_ALLOW_RUN_AS_ROOT", "1"}, {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}, {"OMPI_MCA_mpi_yield_when_idle", "1"}, {"FOLDER", folder}});
        fs::remove(folder);
        return outcome;
    }
    void SetUp() override {
        Life::SetUp();
        if (IsSkipped()) return;
        if (execute({"unshare", "-m", "true"}).exit_code != 0) GTEST_SKIP() << "unshare -m is not allowed here";
    }
};

TEST_P(Tiny, NoRoomForAnyRank) {
    const Outcome outcome = run("size=256k");  // two headers, in case both ranks make one, and no slot
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("rank 1 of 2 done"), std::string::npos);
    EXPECT_NE(outcome.err.find("paced-fabric: no room for the records of a rank (No space left on device), it is not recorded\n"), std::string::npos) << outcome.err;
    EXPECT_EQ(lines_of_ours(outcome.err), 1u);
}

TEST_P(Tiny, NoRoomAtAll) {
    const Outcome outcome = run("size=8k", "dd if=/dev/zero of=$FOLDER/filler bs=4k count=2 2>/dev/null");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_NE(outcome.err.find("(No space left on device), nothing is recorded\n"), std::string::npos) << outcome.err;
    EXPECT_EQ(lines_of_ours(outcome.err), 1u);
}

TEST_P(Tiny, ReadOnly) {
    const Outcome outcome = run("size=4m,ro");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_NE(outcome.err.find("(Read-only file system), nothing is recorded\n"), std::string::npos) << outcome.err;
    EXPECT_EQ(lines_of_ours(outcome.err), 1u);
}

TEST_P(Tiny, FileSizeLimit) {
    const Outcome outcome = run("size=4m", "ulimit -f 200000");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_NE(outcome.err.find("paced-fabric: the file size limit (ulimit -f) leaves no room for records, nothing is recorded\n"), std::string::npos) << outcome.err;
    EXPECT_EQ(lines_of_ours(outcome.err), 1u);
}

constexpr auto mpi_name = [](const auto& test) { return name_of(test.param); };
INSTANTIATE_TEST_SUITE_P(All, Life, testing::Values(Mpi::open_mpi, Mpi::mpich), mpi_name);
INSTANTIATE_TEST_SUITE_P(All, Tiny, testing::Values(Mpi::open_mpi, Mpi::mpich), mpi_name);

}  // namespace
}  // namespace paced::test
