// SPDX-License-Identifier: BSD-3-Clause
// UDP for permits: numeric addresses alone, non-blocking, high descriptors that a new program does not get.
#pragma once

#include <cstdint>

#include <netinet/in.h>

namespace paced::interposer {

union Address {
    sockaddr any;
    sockaddr_in four;
    sockaddr_in6 six;
};
inline socklen_t size_of(const Address& address) { return address.any.sa_family == AF_INET6 ? sizeof address.six : sizeof address.four; }

// Bound for all addresses of this machine, of both families where there is IPv6. port 0: any; -1: the port is taken.
int bind_datagrams(std::uint16_t port);
std::uint16_t port_of(int descriptor);

// Unbound, for the family of this address.
int open_datagrams(const Address& to);
// Of a numeric address, or of "self"; false: it is none.
bool read_address(const char* text, std::uint16_t port, Address& address);

}  // namespace paced::interposer
