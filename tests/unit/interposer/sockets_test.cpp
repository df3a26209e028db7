// SPDX-License-Identifier: BSD-3-Clause
// RATE touches the sockets of the fabric and no others. In a network of its own, where one address stands for this host and
// another for a host elsewhere.
#include "plugin/interposer/pacing/sockets.h"

#include <cstring>
#include <vector>

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace paced::interposer {
namespace {

constexpr char here[] = "10.99.0.1", elsewhere[] = "10.99.0.2";
constexpr std::uint64_t untouched = ~std::uint64_t{0};

sockaddr_in address_of(const char* text, std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    inet_pton(AF_INET, text, &address.sin_addr);
    return address;
}

bool add_address(const char* interface, const char* text) {
    const int any = ::socket(AF_INET, SOCK_DGRAM, 0);
    ifreq request{};
    std::strncpy(request.ifr_name, interface, sizeof request.ifr_name - 1);
    const sockaddr_in address = address_of(text, 0);
    std::memcpy(&request.ifr_addr, &address, sizeof address);
    const bool added = ::ioctl(any, SIOCSIFADDR, &request) == 0;
    ifreq up{};
    std::strncpy(up.ifr_name, interface, sizeof up.ifr_name - 1);
    up.ifr_flags = IFF_UP | IFF_RUNNING;
    ::ioctl(any, SIOCSIFFLAGS, &up);
    ::close(any);
    return added;
}

std::uint64_t rate_of(int descriptor) {
    std::uint64_t rate = 0;
    socklen_t size = sizeof rate;
    EXPECT_EQ(::getsockopt(descriptor, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, &size), 0);
    return rate;
}

class Sockets : public testing::Test {
protected:
    void SetUp() override {
        if (::unshare(CLONE_NEWNET) != 0) GTEST_SKIP() << "no network of its own is allowed here";
        ASSERT_TRUE(add_address("lo", "127.0.0.1") && add_address("lo:1", here) && add_address("lo:2", elsewhere));
    }
    void TearDown() override {
        for (const int descriptor : open_) ::close(descriptor);
    }
    int keep(int descriptor) {
        EXPECT_GE(descriptor, 0);
        open_.push_back(descriptor);
        return descriptor;
    }
    int listener(const char* at, std::uint16_t port) {
        const int made = keep(::socket(AF_INET, SOCK_STREAM, 0));
        const sockaddr_in address = address_of(at, port);
        EXPECT_EQ(::bind(made, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0) << std::strerror(errno);
        EXPECT_EQ(::listen(made, 8), 0);
        return made;
    }
    // Our end of a connection.
    int connected(const char* from, const char* to, std::uint16_t port, int type = SOCK_STREAM) {
        const int made = keep(::socket(AF_INET, type, 0));
        const sockaddr_in own = address_of(from, 0), peer = address_of(to, port);
        EXPECT_EQ(::bind(made, reinterpret_cast<const sockaddr*>(&own), sizeof own), 0);
        EXPECT_EQ(::connect(made, reinterpret_cast<const sockaddr*>(&peer), sizeof peer), 0) << std::strerror(errno);
        return made;
    }

private:
    std::vector<int> open_;
};

TEST_F(Sockets, OnlyThoseOfTheFabric) {
    const int server = listener(elsewhere, 5000), local = listener("127.0.0.1", 5000), own = listener(here, 5000), exchange = listener(elsewhere, 61005);
    const int early = connected(here, elsewhere, 5000);
    remember_early_sockets("61000-61999");
    EXPECT_EQ(look_at_fabric_sockets().count, 0u);

    const int fabric = connected(here, elsewhere, 5000);
    const int second = connected(here, elsewhere, 5000);
    int pair[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    keep(pair[0]), keep(pair[1]);
    const int loopback = connected("127.0.0.1", "127.0.0.1", 5000), same_host = connected(here, here, 5000);
    const int ours = connected(here, elsewhere, 61005), datagrams = connected(here, elsewhere, 5000, SOCK_DGRAM);
    const int unconnected = keep(::socket(AF_INET, SOCK_STREAM, 0)), waiting = listener(here, 5001);

    EXPECT_EQ(look_at_fabric_sockets().count, 2u);
    EXPECT_EQ(pace_fabric_sockets(12'500'000), 2u);
    EXPECT_EQ(rate_of(fabric), 12'500'000u);
    EXPECT_EQ(rate_of(second), 12'500'000u);
    for (const int other : {server, local, own, exchange, early, pair[0], pair[1], loopback, same_host, ours, datagrams, unconnected, waiting}) EXPECT_EQ(rate_of(other), untouched);

    // what was acknowledged, the connection itself as one; of the busiest
    EXPECT_EQ(look_at_fabric_sockets().busiest_bytes, 1u);
    const std::vector<char> some(3000);
    ASSERT_EQ(::send(fabric, some.data(), 1000, 0), 1000);
    ASSERT_EQ(::send(second, some.data(), 3000, 0), 3000);
    ASSERT_EQ(::send(loopback, some.data(), 3000, 0), 3000);
    ASSERT_EQ(::send(ours, some.data(), 3000, 0), 3000);
    ASSERT_EQ(::send(second, some.data(), 500, 0), 500);
    EXPECT_EQ(look_at_fabric_sockets().busiest_bytes, 3501u);

    // what comes later is found the next time; 0 is unlimited
    const int later = connected(here, elsewhere, 5000);
    EXPECT_EQ(pace_fabric_sockets(1'000'000), 3u);
    EXPECT_EQ(rate_of(later), 1'000'000u);
    EXPECT_EQ(pace_fabric_sockets(0), 3u);
    for (const int socket : {fabric, second, later}) EXPECT_EQ(rate_of(socket), untouched);
}

TEST_F(Sockets, NoneWhereTheBeginningIsNotKnown) {
    listener(elsewhere, 5000);
    for (const char* ports : {"", "none", "61000-70000", "0-5"}) {
        remember_early_sockets(ports);
        const int fabric = connected(here, elsewhere, 5000);
        EXPECT_EQ(pace_fabric_sockets(1000), 0u) << ports;
        EXPECT_EQ(rate_of(fabric), untouched);
    }
    for (int i = 0; i < 140; ++i) connected(here, elsewhere, 5000, SOCK_DGRAM);
    remember_early_sockets("61000-61999");
    connected(here, elsewhere, 5000);
    EXPECT_EQ(look_at_fabric_sockets().count, 0u) << "too many to remember";
}

}  // namespace
}  // namespace paced::interposer
