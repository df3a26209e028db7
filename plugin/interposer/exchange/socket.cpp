// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/interposer/exchange/socket.h"

#include <cerrno>
#include <cstring>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "plugin/interposer/shared.h"

namespace paced::interposer {
namespace {

int wait_for(int descriptor, short events, int wake, std::uint64_t deadline_ns) {
    for (;;) {
        const std::uint64_t now = now_ns();
        const std::uint64_t left_ms = deadline_ns > now ? (deadline_ns - now + 999'999) / 1'000'000 : 0;
        pollfd waited[2] = {{descriptor, events, 0}, {wake, POLLIN, 0}};
        const int ready = poll(waited, wake >= 0 ? 2 : 1, static_cast<int>(left_ms < 60'000 ? left_ms : 60'000));
        if (ready < 0 && errno == EINTR) continue;
        return ready > 0 ? waited[0].revents : 0;
    }
}

void prepare(int descriptor) {
    const int on = 1;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    // On an overloaded fabric small messages are lost again and again: they are sent again each 200 ms or so, not after twice as long each time.
    setsockopt(descriptor, IPPROTO_TCP, TCP_THIN_LINEAR_TIMEOUTS, &on, sizeof on);
}

}  // namespace

int high_descriptor(int descriptor) {
    if (descriptor < 0) return -1;
    const int high = fcntl(descriptor, F_DUPFD_CLOEXEC, 512);
    if (high < 0) return descriptor;
    close(descriptor);
    return high;
}

int listen_on(std::uint16_t port) {
    // one socket for both families where there is IPv6
    int listener = high_descriptor(socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (listener >= 0) {
        const int off = 0;
        setsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
        sockaddr_in6 any{};
        any.sin6_family = AF_INET6;
        any.sin6_port = htons(port);
        if (bind(listener, reinterpret_cast<sockaddr*>(&any), sizeof any) == 0 && listen(listener, 128) == 0) return listener;
        const int error = errno;
        close(listener);
        if (error == EADDRINUSE) return -1;
    }
    listener = high_descriptor(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (listener < 0) return -1;
    sockaddr_in any{};
    any.sin_family = AF_INET;
    any.sin_port = htons(port);
    if (bind(listener, reinterpret_cast<sockaddr*>(&any), sizeof any) == 0 && listen(listener, 128) == 0) return listener;
    close(listener);
    return -1;
}

int accept_on(int listener) {
    const int descriptor = high_descriptor(accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (descriptor >= 0) prepare(descriptor);
    return descriptor;
}

int connect_to(const char* address, std::uint16_t port, std::uint64_t deadline_ns) {
    sockaddr_storage place{};
    socklen_t size = 0;
    if (auto* four = reinterpret_cast<sockaddr_in*>(&place); inet_pton(AF_INET, address, &four->sin_addr) == 1) {
        four->sin_family = AF_INET;
        four->sin_port = htons(port);
        size = sizeof *four;
    } else if (auto* six = reinterpret_cast<sockaddr_in6*>(&place); inet_pton(AF_INET6, address, &six->sin6_addr) == 1) {
        six->sin6_family = AF_INET6;
        six->sin6_port = htons(port);
        size = sizeof *six;
    } else {
        return -1;
    }
    const int descriptor = high_descriptor(socket(place.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (descriptor < 0) return -1;
    prepare(descriptor);
    int error = connect(descriptor, reinterpret_cast<sockaddr*>(&place), size) == 0 ? 0 : errno;
    if (error == EINPROGRESS) {
        socklen_t length = sizeof error;
        if ((wait_for(descriptor, POLLOUT, -1, deadline_ns) & POLLOUT) == 0 || getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) != 0) error = ETIMEDOUT;
    }
    if (error == 0) return descriptor;
    close(descriptor);
    return -1;
}

bool wait_readable(int descriptor, int wake, std::uint64_t deadline_ns) { return wait_for(descriptor, POLLIN, wake, deadline_ns) != 0; }

bool send_all(int descriptor, const void* data, std::size_t size, std::uint64_t deadline_ns) {
    auto* bytes = static_cast<const char*>(data);
    while (size > 0) {
        const ssize_t sent = send(descriptor, bytes, size, MSG_NOSIGNAL);
        if (sent > 0) {
            bytes += sent;
            size -= static_cast<std::size_t>(sent);
        } else if (sent < 0 && errno == EAGAIN) {
            if ((wait_for(descriptor, POLLOUT, -1, deadline_ns) & POLLOUT) == 0) return false;
        } else if (sent == 0 || errno != EINTR) {
            return false;
        }
    }
    return true;
}

}  // namespace paced::interposer
