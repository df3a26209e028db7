// SPDX-License-Identifier: BSD-3-Clause
// Two pretended nodes on one machine: the leader gets the other node's records, and whatever goes wrong between them costs
// a line and a bounded wait.
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "plugin/interposer/exchange/wire.h"
#include "policy/io/pacing_file.h"
#include "tests/mpi/job.h"

namespace paced::test {
namespace {

namespace fs = std::filesystem;

class Exchange : public testing::Test {
protected:
    void SetUp() override {
        if (!is_installed(Mpi::open_mpi)) GTEST_SKIP() << "Open MPI is not installed";
    }
};

std::size_t files_like(const std::string& folder, const std::string& part) {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(folder)) count += entry.path().filename().string().find(part) != std::string::npos ? 1 : 0;
    return count;
}

TEST_F(Exchange, LeaderGetsTheOtherNode) {
    Job job(Mpi::open_mpi, 4, 2);
    const Outcome outcome = job.run("life", {"late"});
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.err, "");
    const auto trace = job.trace();
    EXPECT_TRUE(trace.warnings.empty());
    ASSERT_EQ(trace.nodes.size(), 2u);
    EXPECT_EQ(trace.nodes[0].node, "n0");
    EXPECT_EQ(trace.nodes[1].node, "n1");
    EXPECT_EQ(trace.nodes[0].plan, "{\"node\": \"n0\"}\n");
    EXPECT_EQ(trace.nodes[1].plan, "{\"node\": \"n1\"}\n");
    EXPECT_TRUE(trace.nodes[0].clock.empty());
    ASSERT_GE(trace.nodes[1].clock.size(), 2u);
    // The same machine, so the same clock: the true offset is 0 and every sample must say so within its own bound.
    for (const auto& sample : trace.nodes[1].clock) EXPECT_LE(std::abs(sample.offset_ns), sample.error_ns);
    const auto ranks = ranks_of(trace);
    ASSERT_EQ(ranks.size(), 4u);
    for (const auto& rank : ranks) {
        ASSERT_EQ(rank.communicators.size(), 1u);
        EXPECT_EQ(rank.communicators[0].records.size(), 60u);
    }
    EXPECT_TRUE(fs::exists(job.folder() + "/merged"));
    EXPECT_EQ(fs::status(job.folder() + "/node-n1.dump").permissions(), fs::perms::owner_read | fs::perms::owner_write);
    EXPECT_EQ(files_like(job.folder(), ".tmp"), 0u);
}

TEST_F(Exchange, AllNodesOfManyComeTogether) {
    Job job(Mpi::open_mpi, 8, 8);
    const Outcome outcome = job.run("life");
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(job.trace().nodes.size(), 8u);
    EXPECT_EQ(ranks_of(job.trace()).size(), 8u);
}

TEST_F(Exchange, WrongKey) {
    Job job(Mpi::open_mpi, 2, 2);
    std::ofstream(job.folder(1) + "/key") << std::string(64, 'f');
    const Outcome outcome = job.run("life");
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_NE(outcome.err.find("paced-fabric: the records of 1 of 2 nodes did not arrive, the report lacks them\n"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("paced-fabric: node n1 could not hand its records to the leader, the report lacks them\n"), std::string::npos) << outcome.err;
    EXPECT_EQ(job.trace().nodes.size(), 1u);
    EXPECT_TRUE(fs::exists(job.folder() + "/merged"));
    EXPECT_LT(outcome.seconds, 6.0);
}

TEST_F(Exchange, KeyThatOthersCanReadIsNoKey) {
    Job job(Mpi::open_mpi, 2, 2);
    fs::permissions(job.folder(1) + "/key", fs::perms::others_read, fs::perm_options::add);
    const Outcome outcome = job.run("life");
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_NE(outcome.err.find("paced-fabric: no usable job key, nodes do not exchange\n"), std::string::npos) << outcome.err;
}

TEST_F(Exchange, DeadLeader) {
    Job job(Mpi::open_mpi, 2, 2);
    fs::remove(job.folder(0) + "/key");
    const Outcome outcome = job.run("life");
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_NE(outcome.err.find("paced-fabric: node n1 could not hand its records to the leader, the report lacks them\n"), std::string::npos) << outcome.err;
    EXPECT_LT(outcome.seconds, 4.0);
}

// Connections that greet with nonsense, with nothing, or with an endless stream, on every candidate port, all the time.
TEST_F(Exchange, GarbageClients) {
    Job job(Mpi::open_mpi, 2, 2);
    std::atomic<bool> stop = false;
    std::atomic<int> connected = 0;
    std::thread garbage([&] {
        std::string flood(200'000, '\xff');
        for (int round = 0; !stop; ++round) {
            for (int attempt = 0; attempt < 2; ++attempt) {
                const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
                sockaddr_in place{};
                place.sin_family = AF_INET;
                place.sin_port = htons(interposer::candidate_port("62000-62999", job.session().c_str(), attempt));
                place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
                ::connect(socket, reinterpret_cast<sockaddr*>(&place), sizeof place);
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
                if (::send(socket, flood.data(), round % 3 == 0 ? 0 : round % 3 == 1 ? 9 : flood.size(), MSG_NOSIGNAL) > 0) ++connected;
                ::close(socket);
            }
        }
    });
    const Outcome outcome = job.run("life", {"late"});
    stop = true;
    garbage.join();
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.err, "");
    EXPECT_GT(connected, 3);
    EXPECT_EQ(job.trace().nodes.size(), 2u);
}

// A socket bound to the session's first port, or -1 where that port is not free: jobs before this one leave theirs waiting out
// the minute after a connection's end.
int squat_on_first_port(const std::string& session) {
    const int squatter = ::socket(AF_INET6, SOCK_STREAM, 0);
    sockaddr_in6 place{};
    place.sin6_family = AF_INET6;
    place.sin6_port = htons(interposer::candidate_port("62000-62999", session.c_str(), 0));
    if (::bind(squatter, reinterpret_cast<sockaddr*>(&place), sizeof place) == 0) return squatter;
    ::close(squatter);
    return -1;
}

// Another program listens on the first port: the leader takes the second, and followers pass by.
TEST_F(Exchange, FirstPortTaken) {
    std::optional<Job> holder;
    int squatter = -1;
    for (int attempt = 0; attempt < 20 && squatter < 0; ++attempt) squatter = squat_on_first_port(holder.emplace(Mpi::open_mpi, 2, 2).session());
    ASSERT_GE(squatter, 0) << std::strerror(errno);
    Job& job = *holder;
    ASSERT_EQ(::listen(squatter, 64), 0);
    const Outcome outcome = job.run("life", {"late"});
    ::close(squatter);
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(job.trace().nodes.size(), 2u);
}

// Under pace the leader decides, and leaves behind what it did; with one node too, where there is no key and no socket.
TEST_F(Exchange, PaceLeavesItsFile) {
    for (const int nodes : {1, 2}) {
        Job job(Mpi::open_mpi, 4, nodes);
        job.set("TEST_MODE", "pace");
        const Outcome outcome = job.run("life", {"late"});
        EXPECT_EQ(outcome.exit_code, 0);
        EXPECT_EQ(outcome.err, "");
        std::ifstream file(job.folder() + "/pacing", std::ios::binary);
        segment::PacingHeader header{};
        ASSERT_TRUE(file.read(reinterpret_cast<char*>(&header), sizeof header)) << nodes;
        EXPECT_EQ(header.magic, segment::pacing_magic);
        EXPECT_EQ(header.finished, 1u);
        EXPECT_EQ(header.nodes, static_cast<std::uint32_t>(nodes));
        EXPECT_EQ(header.most_nodes, static_cast<std::uint32_t>(nodes));
        EXPECT_EQ(header.communicators, 1u);
        EXPECT_EQ(header.all_faults, 0u);
        EXPECT_EQ(header.messages > 0, nodes > 1);
        EXPECT_EQ(fs::status(job.folder() + "/pacing").permissions(), fs::perms::owner_read | fs::perms::owner_write);
        if (nodes > 1) {
            EXPECT_FALSE(fs::exists(job.folder(1) + "/pacing"));
        }
        EXPECT_EQ(files_like(job.folder(), ".tmp"), 0u);
        EXPECT_EQ(ranks_of(job.trace()).size(), 4u) << "and all is recorded as under observe";
    }
}

TEST_F(Exchange, ObserveLeavesNone) {
    Job job(Mpi::open_mpi, 2, 2);
    EXPECT_EQ(job.run("life", {"late"}).exit_code, 0);
    EXPECT_FALSE(fs::exists(job.folder() + "/pacing"));
}

TEST_F(Exchange, ReporterIsStartedUnseen) {
    Job job(Mpi::open_mpi, 2, 1);
    const std::string reporter = job.folder() + "/reporter";
    std::ofstream(reporter) << "#!/bin/sh\necho \"report $1 $2 preload=$LD_PRELOAD\" >&2\necho unseen\n";
    fs::permissions(reporter, fs::perms::owner_all);
    job.set("PACED_FABRIC_STEP_REPORTER", reporter);
    const Outcome outcome = job.run("life", {"wait"});
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.err, "report finish --stderr preload=\n");
    EXPECT_EQ(outcome.out.find("unseen"), std::string::npos);
    EXPECT_NE(outcome.out.find("rank 0 signals 0 children 0"), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.out.find("rank 1 signals 0 children 0"), std::string::npos) << outcome.out;
    EXPECT_TRUE(fs::exists(job.folder() + "/merged"));
}

TEST_F(Exchange, ReporterThatHangsIsEnded) {
    Job job(Mpi::open_mpi, 2, 1);
    const std::string reporter = job.folder() + "/reporter";
    std::ofstream(reporter) << "#!/bin/sh\nexec sleep 60\n";
    fs::permissions(reporter, fs::perms::owner_all);
    job.set("PACED_FABRIC_STEP_REPORTER", reporter);
    const Outcome outcome = job.run("life");
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.err, "paced-fabric: the report could not be printed in time\n");
    EXPECT_LT(outcome.seconds, 9.0);
}

}  // namespace
}  // namespace paced::test
