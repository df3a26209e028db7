// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/interposer/exchange/datagram.h"

#include <cerrno>
#include <cstring>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "plugin/interposer/exchange/socket.h"

namespace paced::interposer {
namespace {

int datagrams(int family) { return high_descriptor(socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)); }

}  // namespace

int bind_datagrams(std::uint16_t port) {
    int descriptor = datagrams(AF_INET6);
    if (descriptor >= 0) {
        const int off = 0;
        setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
        Address any{};
        any.six.sin6_family = AF_INET6;
        any.six.sin6_port = htons(port);
        if (bind(descriptor, &any.any, sizeof any.six) == 0) return descriptor;
        const int error = errno;
        close(descriptor);
        if (error == EADDRINUSE) return -1;
    }
    descriptor = datagrams(AF_INET);
    if (descriptor < 0) return -1;
    Address any{};
    any.four.sin_family = AF_INET;
    any.four.sin_port = htons(port);
    if (bind(descriptor, &any.any, sizeof any.four) == 0) return descriptor;
    close(descriptor);
    return -1;
}

std::uint16_t port_of(int descriptor) {
    Address bound{};
    socklen_t size = sizeof bound;
    if (getsockname(descriptor, &bound.any, &size) != 0) return 0;
    return ntohs(bound.any.sa_family == AF_INET6 ? bound.six.sin6_port : bound.four.sin_port);
}

int open_datagrams(const Address& to) { return datagrams(to.any.sa_family); }

bool read_address(const char* text, std::uint16_t port, Address& address) {
    address = {};
    if (std::strcmp(text, "self") == 0) text = "127.0.0.1";
    if (inet_pton(AF_INET, text, &address.four.sin_addr) == 1) {
        address.four.sin_family = AF_INET;
        address.four.sin_port = htons(port);
        return true;
    }
    if (inet_pton(AF_INET6, text, &address.six.sin6_addr) != 1) return false;
    address.six.sin6_family = AF_INET6;
    address.six.sin6_port = htons(port);
    return true;
}

}  // namespace paced::interposer
