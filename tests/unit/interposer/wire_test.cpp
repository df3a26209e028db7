// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/interposer/exchange/wire.h"

#include <cstring>
#include <random>
#include <set>

#include <gtest/gtest.h>

namespace paced::interposer {
namespace {

using Status = Channel::Status;

Digest digest_of(std::uint8_t value) {
    Digest digest;
    std::memset(digest.bytes, value, sizeof digest.bytes);
    return digest;
}

struct Pair {
    Channel a, b;
    Pair() {
        a.protect(digest_of(1), digest_of(2));
        b.protect(digest_of(2), digest_of(1));
    }
};

TEST(Wire, FramesArriveInOrder) {
    Pair pair;
    std::uint8_t frame[frame_limit];
    for (int i = 0; i < 3; ++i) {
        const std::size_t size = pair.a.encode(Message::ping, "12345678", 8, frame);
        ASSERT_EQ(size, 8u + 8 + mac_size);
        Channel::Frame got;
        for (std::size_t have = 0; have < size; ++have) ASSERT_EQ(pair.b.decode(frame, have, got), Status::incomplete);
        ASSERT_EQ(pair.b.decode(frame, size, got), Status::complete);
        EXPECT_EQ(got.type, Message::ping);
        EXPECT_EQ(got.size, 8u);
        EXPECT_EQ(got.whole, size);
        EXPECT_EQ(std::memcmp(got.payload, "12345678", 8), 0);
    }
}

TEST(Wire, NothingCanBeAltered) {
    for (std::size_t byte = 0; byte < 8 + 8 + mac_size; ++byte) {
        Pair pair;
        std::uint8_t frame[frame_limit];
        const std::size_t size = pair.a.encode(Message::ping, "12345678", 8, frame);
        frame[byte] ^= 0x01;
        Channel::Frame got;
        EXPECT_NE(pair.b.decode(frame, size, got), Status::complete) << "byte " << byte;
    }
}

TEST(Wire, NothingCanBeRepeatedOrLeftOut) {
    Pair pair;
    std::uint8_t first[frame_limit], second[frame_limit];
    const std::size_t size = pair.a.encode(Message::ping, "1", 1, first);
    pair.a.encode(Message::ping, "2", 1, second);
    Channel::Frame got;
    {
        Pair skipping = pair;
        EXPECT_EQ(skipping.b.decode(second, size, got), Status::refused);
    }
    ASSERT_EQ(pair.b.decode(first, size, got), Status::complete);
    EXPECT_EQ(pair.b.decode(first, size, got), Status::refused);
}

TEST(Wire, NothingCanBeSentBack) {
    Pair pair;
    std::uint8_t frame[frame_limit];
    const std::size_t size = pair.a.encode(Message::ping, "1", 1, frame);
    Channel::Frame got;
    EXPECT_EQ(pair.a.decode(frame, size, got), Status::refused);
}

TEST(Wire, LongFramesAreRefusedAtTheirHeader) {
    const struct {
        bool known;
        std::uint32_t size;
        Status expected;
    } cases[] = {{false, early_payload_limit, Status::incomplete}, {false, early_payload_limit + 1, Status::refused},
                 {true, payload_limit, Status::incomplete}, {true, payload_limit + 1, Status::refused}, {true, 0xffffffff, Status::refused}};
    for (const auto& c : cases) {
        Channel channel;
        if (c.known) channel.protect(digest_of(1), digest_of(2));
        const FrameHeader header{c.size, Message::chunk, 0};
        Channel::Frame got;
        EXPECT_EQ(channel.decode(reinterpret_cast<const std::uint8_t*>(&header), sizeof header, got), c.expected) << c.size;
    }
}

TEST(Wire, GarbageIsNeverComplete) {
    std::mt19937 random(1);
    for (int round = 0; round < 2000; ++round) {
        Channel channel;
        channel.protect(digest_of(1), digest_of(2));
        std::uint8_t bytes[512];
        for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
        const std::uint32_t length = static_cast<std::uint32_t>(random() % 400);
        std::memcpy(bytes, &length, sizeof length);
        Channel::Frame got;
        EXPECT_NE(channel.decode(bytes, sizeof bytes, got), Status::complete);
    }
}

TEST(Wire, ProofsDifferByRoleSessionNoncesAndKey) {
    const std::uint8_t key[32] = {1}, other_key[32] = {2};
    const Nonce a{{1}}, b{{2}};
    const Secrets secrets(key, "job-1"), other_session(key, "job-2"), other(other_key, "job-1");
    using Use = Secrets::Use;
    std::set<std::string> proofs;
    const auto add = [&](const Digest& digest) { proofs.emplace(reinterpret_cast<const char*>(digest.bytes), sizeof digest.bytes); };
    for (const Use use : {Use::proof_of_leader, Use::proof_of_follower, Use::frames_of_leader, Use::frames_of_follower}) {
        add(secrets.derive(use, a, b));
        add(secrets.derive(use, b, a));
        add(secrets.derive(use, a, a));
        add(other_session.derive(use, a, b));
        add(other.derive(use, a, b));
    }
    EXPECT_EQ(proofs.size(), 20u);
    const Digest once = secrets.derive(Use::proof_of_leader, a, b), twice = secrets.derive(Use::proof_of_leader, a, b);
    EXPECT_TRUE(same_bytes(once.bytes, twice.bytes, sizeof once.bytes));
}

TEST(Wire, CandidatePorts) {
    std::set<int> ports;
    for (int attempt = 0; attempt < port_attempts; ++attempt) {
        const int port = candidate_port("61000-61999", "s1", attempt);
        EXPECT_GE(port, 61000);
        EXPECT_LE(port, 61999);
        ports.insert(port);
    }
    EXPECT_EQ(ports.size(), static_cast<std::size_t>(port_attempts));
    EXPECT_NE(candidate_port("61000-61999", "s1", 0), candidate_port("61000-61999", "s2", 0));
    EXPECT_EQ(candidate_port("5000-5000", "s", 3), 5000);
    for (const char* bad : {"", "x", "1", "1-", "-1", "0-5", "5-4", "1-65536", "1-2x", "a-b"}) EXPECT_EQ(candidate_port(bad, "s", 0), 0) << bad;
}

}  // namespace
}  // namespace paced::interposer
