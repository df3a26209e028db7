// SPDX-License-Identifier: BSD-3-Clause
// TCP for the agents: numeric addresses alone (a resolver would load libraries into the host), everything non-blocking,
// every wait with an absolute deadline and ended early by a wake-up descriptor.
#pragma once

#include <cstddef>
#include <cstdint>

namespace paced::interposer {

// -1 where it failed. Descriptors are moved above the small numbers: some programs close and reuse those blindly.
int high_descriptor(int descriptor);
int listen_on(std::uint16_t port);
int accept_on(int listener);
// Connected within the deadline, or -1.
int connect_to(const char* address, std::uint16_t port, std::uint64_t deadline_ns);
// Whether it can be read before the deadline. wake: a second descriptor that ends the wait, or -1.
bool wait_readable(int descriptor, int wake, std::uint64_t deadline_ns);
// Whether all was sent before the deadline.
bool send_all(int descriptor, const void* data, std::size_t size, std::uint64_t deadline_ns);

}  // namespace paced::interposer
