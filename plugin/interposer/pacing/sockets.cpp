// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/interposer/pacing/sockets.h"

#include <cstddef>
#include <cstdlib>
#include <cstring>

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace paced::interposer {
namespace {

constexpr int early_limit = 128;
constexpr std::uint64_t unlimited = ~std::uint64_t{0};

struct {
    bool known;
    int count;
    ino_t inodes[early_limit];
    std::uint16_t first_port, last_port;
} early;

// As the kernel writes them into getdents64.
struct DirectoryEntry {
    std::uint64_t inode, offset;
    std::uint16_t length;
    std::uint8_t type;
    char name[1];
};

// All descriptors of this process that are sockets. By the system call, since opendir allocates.
template <class Visit>
bool for_each_socket(Visit visit) {
    const int folder = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return false;
    alignas(8) char buffer[4096];
    long size;
    while ((size = syscall(SYS_getdents64, folder, buffer, sizeof buffer)) > 0)
        for (long at = 0; at < size;) {
            const auto* const entry = reinterpret_cast<const DirectoryEntry*>(buffer + at);
            at += entry->length;
            const char* const name = buffer + at - entry->length + offsetof(DirectoryEntry, name);
            if (name[0] < '0' || name[0] > '9') continue;
            const int descriptor = static_cast<int>(std::strtol(name, nullptr, 10));
            struct stat status;
            if (descriptor != folder && fstat(descriptor, &status) == 0 && S_ISSOCK(status.st_mode)) visit(descriptor, status.st_ino);
        }
    close(folder);
    return size == 0;
}

// Both families as IPv6; false: neither.
bool take_address(const sockaddr_storage& from, in6_addr& address, std::uint16_t& port) {
    if (from.ss_family == AF_INET) {
        const auto& four = reinterpret_cast<const sockaddr_in&>(from);
        address = {};
        address.s6_addr[10] = address.s6_addr[11] = 0xff;
        std::memcpy(&address.s6_addr[12], &four.sin_addr, 4);
        port = ntohs(four.sin_port);
        return true;
    }
    if (from.ss_family != AF_INET6) return false;
    const auto& six = reinterpret_cast<const sockaddr_in6&>(from);
    address = six.sin6_addr;
    port = ntohs(six.sin6_port);
    return true;
}

bool is_loopback(const in6_addr& address) { return IN6_IS_ADDR_LOOPBACK(&address) || (IN6_IS_ADDR_V4MAPPED(&address) && address.s6_addr[12] == 127); }

bool is_fabric(int descriptor, ino_t inode) {
    for (int i = 0; i < early.count; ++i)
        if (early.inodes[i] == inode) return false;
    int type = 0;
    socklen_t length = sizeof type;
    if (getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &length) != 0 || type != SOCK_STREAM) return false;
    sockaddr_storage own{}, peer{};
    socklen_t own_length = sizeof own, peer_length = sizeof peer;
    in6_addr own_address, peer_address;
    std::uint16_t own_port = 0, peer_port = 0;
    if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&own), &own_length) != 0 || !take_address(own, own_address, own_port)) return false;
    // fails where it listens or is not connected (any more)
    if (getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &peer_length) != 0 || !take_address(peer, peer_address, peer_port)) return false;
    if (is_loopback(peer_address) || std::memcmp(&own_address, &peer_address, sizeof own_address) == 0) return false;
    const auto is_ours = [](std::uint16_t port) { return port >= early.first_port && port <= early.last_port; };
    return !is_ours(own_port) && !is_ours(peer_port);
}

}  // namespace

void remember_early_sockets(const char* exchange_ports) {
    char* end = nullptr;
    const unsigned long first = std::strtoul(exchange_ports, &end, 10);
    const unsigned long last = *end == '-' ? std::strtoul(end + 1, nullptr, 10) : first;
    early.count = 0;
    early.known = false;
    if (first == 0 || first > last || last > 65535) return;
    early.first_port = static_cast<std::uint16_t>(first);
    early.last_port = static_cast<std::uint16_t>(last);
    bool fits = true;
    const bool all = for_each_socket([&fits](int, ino_t inode) {
        if (early.count == early_limit) {
            fits = false;
        } else {
            early.inodes[early.count++] = inode;
        }
    });
    early.known = all && fits;
}

SocketTraffic look_at_fabric_sockets() {
    SocketTraffic seen;
    if (!early.known) return seen;
    for_each_socket([&seen](int descriptor, ino_t inode) {
        if (!is_fabric(descriptor, inode)) return;
        ++seen.count;
        tcp_info info{};
        socklen_t length = sizeof info;
        if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &length) != 0 || length < offsetof(tcp_info, tcpi_bytes_acked) + sizeof info.tcpi_bytes_acked) return;
        if (info.tcpi_bytes_acked > seen.busiest_bytes) seen.busiest_bytes = info.tcpi_bytes_acked;
    });
    return seen;
}

std::uint32_t pace_fabric_sockets(std::uint64_t bytes_per_second) {
    std::uint32_t count = 0;
    const std::uint64_t rate = bytes_per_second == 0 ? unlimited : bytes_per_second;
    if (early.known)
        for_each_socket([&count, rate](int descriptor, ino_t inode) {
            if (is_fabric(descriptor, inode) && setsockopt(descriptor, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof rate) == 0) ++count;
        });
    return count;
}

}  // namespace paced::interposer
