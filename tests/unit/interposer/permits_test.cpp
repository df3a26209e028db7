// SPDX-License-Identifier: BSD-3-Clause
// Ranks and the permits' server over loopback: threads stand for ranks, one header for each node.
#include <atomic>
#include <cstring>
#include <memory>
#include <thread>

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "plugin/interposer/exchange/permit_server.h"
#include "plugin/interposer/pacing/permits.h"
#include "plugin/interposer/shared.h"

namespace paced::interposer {
namespace {

constexpr std::uint64_t ms = 1'000'000;
constexpr std::uint8_t job_key[32] = {1, 2, 3}, other_key[32] = {9};

Secrets secrets(const char* session = "job.0") { return Secrets(job_key, session); }

class PermitsTest : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_TRUE(server.open(secrets(), 0));
        prepare_permits("self", PermitKey(secrets()));
        header = std::make_unique<segment::Header>();
        header->permits_port = server.port();
        for (std::uint32_t i = 0; i < 4; ++i) header->communicators[i].id = 100 + i, header->communicators[i].size = header->communicators[i].local = 1;
    }
    void TearDown() override { server.stop(); }

    PermitCall call(std::uint32_t communicator, std::uint64_t sequence, std::uint32_t rank = 0, pacing::Arm arm = pacing::Arm::admit) {
        PermitCall made{&header->communicators[communicator], {}, sequence, 1, rank};
        made.setting.arm = arm;
        made.setting.width = 1;
        made.setting.cap_ns = 50 * ms;
        return made;
    }
    // Asks and waits.
    bool enter(const PermitCall& made, std::uint64_t limit_ns = 500 * ms) {
        EXPECT_TRUE(permit_request(*header, made));
        return wait_for_grant(*header, made, now_ns() + limit_ns);
    }

    PermitServer server;
    std::unique_ptr<segment::Header> header;
};

TEST_F(PermitsTest, ARankIsGrantedAndGivesBack) {
    ASSERT_TRUE(server.start());
    for (std::uint64_t sequence = 0; sequence < 20; ++sequence) {
        const PermitCall made = call(0, sequence);
        EXPECT_TRUE(enter(made));
        permit_done(*header, made);
    }
    server.stop();
    EXPECT_GE(server.counts().received, 39u);  // the last done may come after the end
    EXPECT_LE(server.counts().received, 45u);  // asked again where the machine is busy
    EXPECT_GE(server.counts().granted, 20u);
    EXPECT_EQ(server.counts().dropped, 0u);
}

TEST_F(PermitsTest, TheSecondWaitsUntilTheFirstIsDone) {
    ASSERT_TRUE(server.start());
    const PermitCall first = call(0, 0), second = call(1, 0);
    ASSERT_TRUE(enter(first));
    std::atomic<bool> entered = false;
    std::thread other([&] {
        EXPECT_TRUE(enter(second));
        entered = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    EXPECT_FALSE(entered);
    permit_done(*header, first);
    other.join();
    permit_done(*header, second);
}

TEST_F(PermitsTest, TheMembersOfANodeSpeakWithOneVoice) {
    constexpr std::uint32_t local = 4, calls = 50;
    header->communicators[2].size = header->communicators[2].local = local;
    ASSERT_TRUE(server.start());
    // Ranks are processes, each with a socket of its own; these threads share one, and while one of them opens it the others do without.
    const PermitCall opening = call(0, 0);
    ASSERT_TRUE(enter(opening));
    permit_done(*header, opening);
    std::atomic<std::uint32_t> inside = 0, wrong = 0, timeouts = 0;
    std::atomic<std::uint32_t> turn = 0;
    std::vector<std::thread> ranks;
    for (std::uint32_t rank = 0; rank < local; ++rank)
        ranks.emplace_back([&, rank] {
            for (std::uint64_t sequence = 0; sequence < calls; ++sequence) {
                const PermitCall made = call(2, sequence, rank);
                turn.fetch_add(1);
                if (!permit_request(*header, made) || !wait_for_grant(*header, made, now_ns() + 2000 * ms)) timeouts.fetch_add(1);
                if (turn.load() < local * (sequence + 1)) wrong.fetch_add(1);  // in before all have come
                inside.fetch_add(1);
                // the collective: all leave together
                while (inside.load() < local * (sequence + 1)) std::this_thread::yield();
                permit_done(*header, made);
            }
        });
    for (std::thread& rank : ranks) rank.join();
    server.stop();
    EXPECT_EQ(wrong, 0u);
    EXPECT_EQ(timeouts, 0u);
    // one request and one done for each call; a repeated request is possible on a busy machine
    EXPECT_GE(server.counts().received, 2 * calls + 2);
    EXPECT_LT(server.counts().received, 4 * calls);
}

TEST_F(PermitsTest, ABarrierWaitsForTheOtherNode) {
    auto other_node = std::make_unique<segment::Header>(*header);
    header->communicators[0].size = other_node->communicators[0].size = 2;
    ASSERT_TRUE(server.start());
    PermitCall here = call(0, 0, 0, pacing::Arm::barrier), there = call(0, 0, 1, pacing::Arm::barrier);
    there.entry = &other_node->communicators[0];
    ASSERT_TRUE(permit_request(*header, here));
    EXPECT_FALSE(wait_for_grant(*header, here, now_ns() + 20 * ms));
    ASSERT_TRUE(permit_request(*other_node, there));
    EXPECT_TRUE(wait_for_grant(*other_node, there, now_ns() + 500 * ms));
}

// A server of the test's own, that answers as it likes.
class Puppet {
public:
    Puppet() : socket_(bind_datagrams(0)) {}
    ~Puppet() { close(socket_); }
    std::uint16_t port() const { return port_of(socket_); }
    bool receive(int limit_ms = 1000) {
        pollfd waited{socket_, POLLIN, 0};
        socklen_t size = sizeof from_;
        return poll(&waited, 1, limit_ms) > 0 && recvfrom(socket_, seen, sizeof seen, 0, &from_.any, &size) == static_cast<ssize_t>(sizeof seen);
    }
    void send(const std::uint8_t* datagram, std::size_t size) { sendto(socket_, datagram, size, 0, &from_.any, size_of(from_)); }
    std::uint16_t from_port() const { return ntohs(from_.any.sa_family == AF_INET6 ? from_.six.sin6_port : from_.four.sin_port); }
    void grant(std::uint64_t communicator, std::uint64_t sequence, const PermitKey& key) {
        const PermitMessage message{PermitMessage::Type::grant, 0, 0, 0, 0, communicator, sequence, 1, 0};
        std::uint8_t datagram[permit_datagram];
        key.seal(message, datagram);
        send(datagram, sizeof datagram);
    }
    std::uint8_t seen[permit_datagram];

private:
    int socket_;
    Address from_{};
};

// Between ranks and server: passes datagrams on, both ways, but every n-th.
class LossyWay {
public:
    LossyWay(std::uint16_t server, std::uint32_t loses) : loses_(loses), near_(bind_datagrams(0)) {
        read_address("self", server, server_);
        far_ = open_datagrams(server_);
        thread_ = std::thread([this] { run(); });
    }
    ~LossyWay() {
        stopping_ = true;
        thread_.join();
        close(near_), close(far_);
    }
    std::uint16_t port() const { return port_of(near_); }
    std::uint32_t lost() const { return lost_; }

private:
    void run() {
        Address rank{};
        std::uint32_t count = 0;
        while (!stopping_) {
            pollfd waited[2] = {{near_, POLLIN, 0}, {far_, POLLIN, 0}};
            if (poll(waited, 2, 5) <= 0) continue;
            std::uint8_t datagram[256];
            socklen_t size = sizeof rank;
            if ((waited[0].revents & POLLIN) != 0) {
                const ssize_t got = recvfrom(near_, datagram, sizeof datagram, 0, &rank.any, &size);
                if (got > 0 && (++count % loses_ != 0 || (++lost_, false))) sendto(far_, datagram, static_cast<std::size_t>(got), 0, &server_.any, size_of(server_));
            }
            if ((waited[1].revents & POLLIN) != 0) {
                const ssize_t got = recv(far_, datagram, sizeof datagram, 0);
                if (got > 0 && (++count % loses_ != 0 || (++lost_, false))) sendto(near_, datagram, static_cast<std::size_t>(got), 0, &rank.any, size_of(rank));
            }
        }
    }
    const std::uint32_t loses_;
    const int near_;
    int far_ = -1;
    Address server_{};
    std::atomic<bool> stopping_ = false;
    std::atomic<std::uint32_t> lost_ = 0;
    std::thread thread_;
};

TEST_F(PermitsTest, WhatIsLostIsSentAgain) {
    LossyWay way(server.port(), 3);
    header->permits_port = way.port();
    ASSERT_TRUE(server.start());
    for (std::uint64_t sequence = 0; sequence < 30; ++sequence) {
        const PermitCall made = call(0, sequence);
        EXPECT_TRUE(enter(made, 2000 * ms)) << sequence;
        permit_done(*header, made);
    }
    EXPECT_GT(way.lost(), 10u);
}

TEST_F(PermitsTest, AWaitEndsAtItsDeadlineWhereNobodyAnswers) {
    server.stop();  // died
    const PermitCall made = call(0, 0);
    ASSERT_TRUE(permit_request(*header, made));
    const std::uint64_t before = now_ns(), deadline = before + 30 * ms;
    EXPECT_FALSE(wait_for_grant(*header, made, deadline));
    const std::uint64_t after = now_ns();
    EXPECT_GE(after, deadline);
    EXPECT_LT(after, deadline + 500 * ms);  // a busy machine may be late; never by a multiple
}

TEST_F(PermitsTest, ARankStopsAskingUntilTheNextDirective) {
    server.stop();
    std::uint64_t sequence = 0;
    for (std::uint32_t i = 0; i < timeouts_limit; ++i) EXPECT_FALSE(enter(call(0, sequence++), 2 * ms));
    EXPECT_FALSE(permit_request(*header, call(0, sequence)));
    PermitCall next = call(0, sequence);
    next.epoch = 2;
    EXPECT_TRUE(permit_request(*header, next));
}

TEST_F(PermitsTest, NeighboursWaitNoLongerThanTheirOwnDeadline) {
    header->communicators[0].size = header->communicators[0].local = 2;
    const PermitCall made = call(0, 0, 0);  // rank 1 never comes
    ASSERT_TRUE(permit_request(*header, made));
    const std::uint64_t deadline = now_ns() + 20 * ms;
    EXPECT_FALSE(wait_for_grant(*header, made, deadline));
    EXPECT_GE(now_ns(), deadline);
    EXPECT_EQ(server.counts().received, 0u);
}

TEST_F(PermitsTest, OnlyAGrantOfThisSessionAndThisCallEndsAWait) {
    Puppet puppet;
    header->permits_port = puppet.port();
    const PermitKey good(secrets()), of_another_step(secrets("job.1")), of_another_job(Secrets(other_key, "job.0"));
    PermitCall made = call(0, 7);
    ASSERT_TRUE(permit_request(*header, made));
    ASSERT_TRUE(puppet.receive());
    const auto still_waits = [&] {
        PermitCall again = made;
        return !wait_for_grant(*header, again, now_ns() + 5 * ms);
    };
    puppet.send(reinterpret_cast<const std::uint8_t*>("garbage"), 7);
    puppet.grant(100, 7, of_another_step);
    puppet.grant(100, 7, of_another_job);
    puppet.send(puppet.seen, sizeof puppet.seen);  // its own request, sent back
    EXPECT_TRUE(still_waits());
    puppet.grant(100, 6, good);  // of an older call
    EXPECT_TRUE(still_waits());
    puppet.grant(100, 7, good);
    EXPECT_FALSE(still_waits());
}

TEST_F(PermitsTest, AGrantForANeighbouringCommunicatorIsHandedOn) {
    Puppet puppet;
    header->permits_port = puppet.port();
    const PermitCall made = call(0, 0);
    ASSERT_TRUE(permit_request(*header, made));
    ASSERT_TRUE(puppet.receive());
    const PermitKey good(secrets());
    puppet.grant(101, 4, good);
    puppet.grant(100, 0, good);
    EXPECT_TRUE(wait_for_grant(*header, made, now_ns() + 500 * ms));
    EXPECT_EQ(header->communicators[1].granted, 5u);
}

TEST_F(PermitsTest, TheServerDropsWhatNoRankOfTheStepSent) {
    Puppet stranger;
    const PermitKey good(secrets()), of_another_step(secrets("job.1"));
    const PermitMessage message{PermitMessage::Type::request, 0, 0, 1, 1, 100, 0, 1, 50 * ms};
    std::uint8_t datagram[permit_datagram + 4] = {};
    std::uint8_t sealed[permit_datagram];
    Address to;
    ASSERT_TRUE(read_address("self", server.port(), to));
    const int socket = open_datagrams(to);
    const auto send = [&](const void* data, std::size_t size) { sendto(socket, data, size, 0, &to.any, size_of(to)); };
    of_another_step.seal(message, sealed);
    send(sealed, sizeof sealed);
    good.seal(message, sealed);
    std::memcpy(datagram, sealed, sizeof sealed);
    send(datagram, sizeof datagram);  // too long
    send(sealed, sizeof sealed - 1);  // too short
    for (std::size_t bit = 0; bit < 8 * permit_datagram; bit += 37) {
        std::memcpy(datagram, sealed, sizeof sealed);
        datagram[bit / 8] = static_cast<std::uint8_t>(datagram[bit / 8] ^ 1u << bit % 8);
        send(datagram, permit_datagram);
    }
    server.serve(now_ns());
    EXPECT_GT(server.counts().received, 10u);
    EXPECT_EQ(server.counts().dropped, server.counts().received);
    EXPECT_EQ(server.counts().granted, 0u);
    send(sealed, sizeof sealed);
    server.serve(now_ns());
    EXPECT_EQ(server.counts().granted, 1u);
    close(socket);
}

TEST_F(PermitsTest, AnOldRequestHeardAgainGetsNoPermit) {
    const PermitKey good(secrets());
    Address to;
    ASSERT_TRUE(read_address("self", server.port(), to));
    const int rank = open_datagrams(to), eavesdropper = open_datagrams(to);
    std::uint8_t old[permit_datagram], datagram[permit_datagram];
    const auto send = [&](int from, const std::uint8_t (&data)[permit_datagram]) {
        sendto(from, data, sizeof data, 0, &to.any, size_of(to));
        server.serve(now_ns());
    };
    good.seal({PermitMessage::Type::request, 0, 0, 1, 1, 100, 0, 1, 50 * ms}, old);
    send(rank, old);
    good.seal({PermitMessage::Type::done, 0, 0, 1, 1, 100, 0, 1, 50 * ms}, datagram);
    send(rank, datagram);
    good.seal({PermitMessage::Type::request, 0, 0, 1, 1, 100, 1, 1, 50 * ms}, datagram);
    send(rank, datagram);
    good.seal({PermitMessage::Type::done, 0, 0, 1, 1, 100, 1, 1, 50 * ms}, datagram);
    send(rank, datagram);
    ASSERT_EQ(server.counts().granted, 2u);
    for (int i = 0; i < 100; ++i) send(eavesdropper, old);
    good.seal({PermitMessage::Type::request, 0, 0, 1, 1, 101, 0, 1, 50 * ms}, datagram);
    send(rank, datagram);
    EXPECT_EQ(server.counts().granted, 3u) << "the one permit is free for communicator 101";
    std::uint8_t answer[permit_datagram];
    EXPECT_LT(recv(eavesdropper, answer, sizeof answer, MSG_DONTWAIT), 0);
    close(rank), close(eavesdropper);
}

TEST_F(PermitsTest, AFloodKeepsNobodyOut) {
    ASSERT_TRUE(server.start());
    std::atomic<bool> stop = false;
    std::thread flood([&] {
        Address to;
        read_address("self", server.port(), to);
        const int socket = open_datagrams(to);
        const std::uint8_t garbage[permit_datagram] = {};
        while (!stop) {
            for (int i = 0; i < 20; ++i) sendto(socket, garbage, sizeof garbage, 0, &to.any, size_of(to));
            std::this_thread::sleep_for(std::chrono::microseconds(200));
        }
        close(socket);
    });
    for (std::uint64_t sequence = 0; sequence < 20; ++sequence) {
        const PermitCall made = call(0, sequence);
        EXPECT_TRUE(enter(made, 2000 * ms));
        permit_done(*header, made);
    }
    stop = true;
    flood.join();
}

TEST_F(PermitsTest, NothingGoesToADescriptorThatTheHostHasTakenOver) {
    Puppet puppet, of_the_host;
    header->permits_port = puppet.port();
    ASSERT_TRUE(permit_request(*header, call(0, 0)));
    ASSERT_TRUE(puppet.receive());
    // the host closes everything and opens a connection of its own: the same number
    int pair[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, pair), 0);
    int ours = -1;
    for (int descriptor = 512; descriptor < 600 && ours < 0; ++descriptor) {
        Address name{};
        socklen_t size = sizeof name;
        // the one that is bound to the port that the puppet saw
        if (getsockname(descriptor, &name.any, &size) == 0 && port_of(descriptor) == puppet.from_port()) ours = descriptor;
    }
    ASSERT_GE(ours, 0);
    ASSERT_EQ(dup2(pair[0], ours), ours);
    EXPECT_FALSE(permit_request(*header, call(0, 1)));
    char byte;
    EXPECT_LT(recv(pair[1], &byte, 1, MSG_DONTWAIT), 0);
    EXPECT_FALSE(permit_request(*header, call(0, 2))) << "never again";
    close(pair[0]), close(pair[1]), close(ours);
}

}  // namespace
}  // namespace paced::interposer
