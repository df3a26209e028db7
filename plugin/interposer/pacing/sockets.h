// SPDX-License-Identifier: BSD-3-Clause
// The fabric sockets of this process, for RATE: the TCP connections of its MPI. Nothing names them, so this is the rule:
//
//   connected TCP (IPv4, IPv6) to another host: not loopback, not one of our own addresses, not listening;
//   made after MPI_Init was entered: what the program had before (its own servers, storage, the launcher's pipes) is not touched;
//   and with no port of the exchange's range on either side: those are our own.
//
// What else a program connects to after MPI_Init (a database, say) is taken too: its rate is bounded as a fabric socket's
// would be for the few seconds of a block, nothing else about it changes. The addresses of the step's peers do not
// help: an MPI chooses its own interfaces, and no rank knows those of the others. Where MPI_Init was not seen, or there were too many
// sockets before it to remember, there are no fabric sockets.
#pragma once

#include <cstdint>

namespace paced::interposer {

struct SocketTraffic {
    std::uint32_t count = 0;
    std::uint64_t busiest_bytes = 0;   // that left by the busiest of them and were acknowledged; 0: the kernel does not say
};

// Before MPI_Init: what is here now is not the fabric's. exchange_ports: "61000-61999".
void remember_early_sockets(const char* exchange_ports);
SocketTraffic look_at_fabric_sockets();
// SO_MAX_PACING_RATE of each, bytes/s; 0: unlimited. How many took it.
std::uint32_t pace_fabric_sockets(std::uint64_t bytes_per_second);

}  // namespace paced::interposer
