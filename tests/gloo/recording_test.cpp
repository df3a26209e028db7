// SPDX-License-Identifier: BSD-3-Clause
// A program on Gloo with the interposer and without: the same output and the same end, and every call recorded.
#include <algorithm>
#include <csignal>
#include <future>
#include <set>

#include <gtest/gtest.h>

#include <unistd.h>

#include "policy/io/segment_reader.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/mpi/job.h"

namespace paced::test {
namespace {

namespace fs = std::filesystem;
using report::Operation;

class GlooJob {
public:
    explicit GlooJob(int ranks, int nodes = 1) : ranks_(ranks), nodes_(nodes) {
        fs::create_symlink(PACED_FABRIC_LIB_DIR "/libpaced_fabric.so", root_ / "libpaced_fabric.so");
        for (int node = 0; node < nodes; ++node) {
            fs::create_directory(folder(node));
            fs::permissions(folder(node), fs::perms::owner_all);
            std::ofstream(folder(node) / "key") << "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n";
            fs::permissions(folder(node) / "key", fs::perms::owner_read | fs::perms::owner_write);
        }
    }

    std::vector<Outcome> run(const std::string& what) { return start(what, true); }
    std::vector<Outcome> run_without(const std::string& what) { return start(what, false); }

    report::Trace trace() const {
        auto trace = io::read_run_folder(folder(0).string());
        if (trace) return *trace;
        ADD_FAILURE() << trace.error().message;
        return {};
    }
    bool recorded() const { return fs::exists(folder(0) / "segment"); }
    void set(const std::string& name, const std::string& value) { extra_[name] = value; }

private:
    fs::path folder(int node) const { return root_ / ("n" + std::to_string(node)); }

    std::vector<Outcome> start(const std::string& what, bool with) {
        const fs::path store = root_ / ("store" + std::to_string(++runs_));
        fs::create_directory(store);
        std::vector<std::future<Outcome>> running;
        for (int rank = 0; rank < ranks_; ++rank) {
            const int node = rank % nodes_;
            std::map<std::string, std::string> environment{{"RANK", std::to_string(rank)}, {"WORLD_SIZE", std::to_string(ranks_)}};
            if (with) {
                environment.insert({{"LD_PRELOAD", (root_ / "libpaced_fabric.so").string()},
                                    {"PACED_FABRIC_STEP_MODE", "observe"},
                                    {"PACED_FABRIC_STEP_STAMP", "alone:" + std::to_string(::getpid())},
                                    {"PACED_FABRIC_STEP_RUN_DIR", folder(node).string()},
                                    {"PACED_FABRIC_STEP_NODE", "n" + std::to_string(node)},
                                    {"PACED_FABRIC_STEP_NODE_COUNT", std::to_string(nodes_)},
                                    {"PACED_FABRIC_STEP_SESSION", root_.filename().string()},
                                    {"PACED_FABRIC_STEP_PORTS", "62000-62999"},
                                    {"PACED_FABRIC_STEP_KEY_FILE", (folder(node) / "key").string()},
                                    {"PACED_FABRIC_STEP_LEADER", nodes_ == 1 ? "" : node == 0 ? "self" : "127.0.0.1"}});
                for (const auto& [name, value] : extra_) environment[name] = value;
            }
            running.push_back(std::async(std::launch::async, [=] {
                return execute({PACED_FABRIC_BUILD_DIR "/tests/gloo/gloo_collectives", what, store.string()}, environment);
            }));
        }
        std::vector<Outcome> outcomes;
        for (auto& outcome : running) outcomes.push_back(outcome.get());
        return outcomes;
    }

    int ranks_, nodes_, runs_ = 0;
    TemporaryFolder temporary_;
    fs::path root_ = temporary_.path();
    std::map<std::string, std::string> extra_;
};

void expect_same(const std::vector<Outcome>& with, const std::vector<Outcome>& without) {
    ASSERT_EQ(with.size(), without.size());
    for (std::size_t i = 0; i < with.size(); ++i) {
        EXPECT_EQ(with[i].exit_code, without[i].exit_code) << with[i].err;
        EXPECT_EQ(with[i].out, without[i].out);
        EXPECT_EQ(with[i].err, without[i].err);
    }
}

const report::CommunicatorTrace& of_size(const report::RankTrace& rank, std::uint32_t size) {
    const auto found = std::ranges::find(rank.communicators, size, &report::CommunicatorTrace::size);
    if (found != rank.communicators.end()) return *found;
    ADD_FAILURE() << "rank " << rank.rank << " has no communicator of " << size;
    static const report::CommunicatorTrace none;
    return none;
}

TEST(GlooRecording, EveryCollective) {
    GlooJob job(4, 2);
    expect_same(job.run("all"), job.run_without("all"));
    const report::Trace trace = job.trace();
    ASSERT_EQ(trace.nodes.size(), 2u);
    const auto ranks = ranks_of(trace);
    ASSERT_EQ(ranks.size(), 4u);
    for (std::size_t r = 0; r < 4; ++r) {
        const report::RankTrace& rank = ranks[r];
        EXPECT_EQ(rank.rank, static_cast<int>(r));
        EXPECT_EQ(rank.world_size, 4);
        EXPECT_EQ(rank.library, "Gloo (libgloo.so.0)");
        EXPECT_GT(rank.finished_ns, rank.started_ns);
        EXPECT_EQ(rank.dropped, 0u);
        EXPECT_TRUE(rank.not_recorded.empty());
        ASSERT_EQ(rank.communicators.size(), 2u);
        for (const report::CommunicatorTrace& communicator : rank.communicators) {
            const std::uint64_t n = communicator.size, own = communicator.rank;
            EXPECT_EQ(own, n == 4 ? r : r % 2);
            EXPECT_EQ(communicator.calls, 100u);
            EXPECT_EQ(communicator.calls_by_operation.size(), 10u);
            const std::map<Operation, std::uint64_t> bytes{
                {Operation::allreduce, 400}, {Operation::reduce, 400}, {Operation::bcast, 400}, {Operation::barrier, 0},
                {Operation::allgather, 400}, {Operation::allgatherv, 4 * (own + 1)}, {Operation::gather, 400}, {Operation::scatter, 400},
                {Operation::alltoall, 400 * n}, {Operation::alltoallv, 4 * n * (own + 1)}};
            std::uint64_t total = 0;
            for (const auto& [operation, each] : bytes) {
                EXPECT_EQ(communicator.calls_by_operation.at(operation), 10u);
                total += 10 * each;
            }
            EXPECT_EQ(communicator.bytes, total);
            ASSERT_EQ(communicator.records.size(), 100u);
            for (const auto& record : communicator.records) {
                EXPECT_EQ(record.bytes, bytes.at(record.operation));
                EXPECT_GE(record.completion_ns, record.arrival_ns);
            }
        }
    }
    // Ids: one for the world, one for each half, alike on all members.
    std::set<std::uint64_t> worlds, low, high;
    for (std::size_t r = 0; r < 4; ++r) {
        worlds.insert(of_size(ranks[r], 4).id);
        (r < 2 ? low : high).insert(of_size(ranks[r], 2).id);
    }
    EXPECT_EQ(worlds.size(), 1u);
    EXPECT_EQ(low.size(), 1u);
    EXPECT_EQ(high.size(), 1u);
    EXPECT_NE(low, high);
}

// The exception of a time-out passes through, the thread goes on to be recorded, and so does the next context.
TEST(GlooRecording, Timeout) {
    GlooJob job(2);
    const auto with = job.run("timeout");
    EXPECT_EQ(with[0].exit_code, 0) << with[0].out << with[0].err;
    EXPECT_NE(with[0].out.find("caught"), std::string::npos) << with[0].out;
    expect_same(with, job.run_without("timeout"));
    const auto ranks = ranks_of(job.trace());
    ASSERT_EQ(ranks.size(), 2u);
    ASSERT_EQ(ranks[0].communicators.size(), 2u);
    EXPECT_EQ(ranks[0].communicators[0].calls, 2u);
    EXPECT_EQ(ranks[1].communicators[0].calls, 1u);
    for (const auto& rank : ranks) EXPECT_EQ(rank.communicators[1].calls, 5u);
    EXPECT_EQ(ranks[0].communicators[1].id, ranks[1].communicators[1].id);
    EXPECT_NE(ranks[0].communicators[1].id, ranks[0].communicators[0].id);
}

TEST(GlooRecording, TwoThreadsOnOneContext) {
    GlooJob job(2);
    expect_same(job.run("threads"), job.run_without("threads"));
    for (const auto& rank : ranks_of(job.trace())) {
        ASSERT_EQ(rank.communicators.size(), 1u);
        EXPECT_EQ(rank.communicators[0].calls, 600u);
        EXPECT_EQ(rank.communicators[0].bytes, 600u * 256);
        EXPECT_GT(rank.communicators[0].records.size(), 590u);
    }
}

// An address is used again for the next context: each has an entry of its own until there is no more room, and what
// comes then is counted as dropped.
TEST(GlooRecording, ContextsThatComeAndGo) {
    GlooJob job(2);
    expect_same(job.run("renewed"), job.run_without("renewed"));
    const auto ranks = ranks_of(job.trace());
    ASSERT_EQ(ranks.size(), 2u);
    for (const auto& rank : ranks) {
        ASSERT_EQ(rank.communicators.size(), 64u);
        std::set<std::uint64_t> ids;
        for (std::size_t i = 0; i < 64; ++i) {
            EXPECT_EQ(rank.communicators[i].calls, i % 10 == 0 ? 2u : 1u);
            EXPECT_EQ(rank.communicators[i].id, ranks[0].communicators[i].id);
            ids.insert(rank.communicators[i].id);
        }
        EXPECT_EQ(ids.size(), 64u);
        EXPECT_EQ(rank.dropped, 6u);
        EXPECT_GT(rank.finished_ns, rank.started_ns);
    }
}

TEST(GlooRecording, ContextWithoutAStore) {
    GlooJob job(2);
    expect_same(job.run("factory"), job.run_without("factory"));
    for (const auto& rank : ranks_of(job.trace())) {
        ASSERT_EQ(rank.communicators.size(), 1u);
        EXPECT_EQ(rank.communicators[0].calls, 1u);
        EXPECT_EQ(rank.not_recorded, (std::map<std::string, std::uint64_t>{{"collectives on Gloo contexts without an id", 3}}));
    }
}

// However a rank ends, the others see what they would have seen without us.
class GlooEnd : public ::testing::TestWithParam<std::pair<const char*, int>> {};

TEST_P(GlooEnd, InTheMiddle) {
    const auto& [what, exit_code] = GetParam();
    GlooJob job(3, 3);
    const auto with = job.run(what), without = job.run_without(what);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(with[i].exit_code, i == 1 ? exit_code : 1);
        EXPECT_EQ(with[i].exit_code, without[i].exit_code);
        EXPECT_EQ(with[i].out, without[i].out);
        EXPECT_LT(with[i].seconds, without[i].seconds + 5);
    }
    EXPECT_EQ(with[0].err, "paced-fabric: the records of 1 of 3 nodes did not arrive, the report lacks them\n");
    EXPECT_EQ(with[1].err, "");
    EXPECT_EQ(with[2].err, "");
    EXPECT_EQ(ranks_of(job.trace()).size(), 2u);
}
INSTANTIATE_TEST_SUITE_P(All, GlooEnd, ::testing::Values(std::pair{"exit", 3}, std::pair{"killed", 128 + SIGKILL}),
                         [](const auto& kind) { return std::string(kind.param.first); });

TEST(GlooRecording, Off) {
    GlooJob job(2);
    job.set("PACED_FABRIC_STEP_MODE", "off");
    expect_same(job.run("all"), job.run_without("all"));
    EXPECT_FALSE(job.recorded());
}

// Not its own step: an inherited environment.
TEST(GlooRecording, AnothersStep) {
    GlooJob job(2);
    job.set("PACED_FABRIC_STEP_STAMP", "slurm:1.0");
    expect_same(job.run("all"), job.run_without("all"));
    EXPECT_FALSE(job.recorded());
}

}  // namespace
}  // namespace paced::test
