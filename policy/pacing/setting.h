// SPDX-License-Identifier: BSD-3-Clause
// What can be done to a communicator's collectives, as plain data: a law decides on it (law.h), the exchange carries it,
// the gate in each rank carries it out (plugin/interposer/pacing). No libstdc++ at run time in this header: it lies in
// the node's shared segment and on the wire.
#pragma once

#include <cstdint>

namespace paced::pacing {

enum class Arm : std::uint8_t {
    off,
    hold_local,   // wait by futex until the last local member has arrived; ended by cap_ns
    hold_remote,  // wait delay_ns, a low quantile of the rank's own earliness; nothing ends it early
    admit,        // at most `width` communicators of one domain in flight, by permits
    rate,         // SO_MAX_PACING_RATE of the process's fabric sockets: rate_bytes_s each
    slots,        // the other form of ADMIT, without a message: communicator i of its domain starts i x delay_ns after its arrival
    phase,        // once, at the first call under this setting: delay_ns
    // For comparison only; the law never chooses them.
    fixed_delay,  // the paper's recipe: delay_ns where the rank was early by more than threshold_ns at its last call
    barrier,      // nobody enters before all members have arrived
};
inline constexpr std::uint32_t arm_count = 9;

// "off", "hold-local", "hold-remote", "admit", "rate", "slots", "phase", "fixed-delay", "barrier"
constexpr const char* name_of(Arm arm) {
    constexpr const char* names[arm_count] = {"off", "hold-local", "hold-remote", "admit", "rate", "slots", "phase", "fixed-delay", "barrier"};
    return static_cast<std::uint32_t>(arm) < arm_count ? names[static_cast<std::uint32_t>(arm)] : "unknown";
}

struct Setting {
    Arm arm = Arm::off;
    std::uint8_t domain = 0;         // admit, barrier: whose permits (permits.h), below permit_domains
    std::uint8_t reserved[2] = {};
    std::uint32_t width = 0;         // admit: 1, 2, ...
    std::uint64_t cap_ns = 0;        // no single delay is longer; 0: none is made
    std::uint64_t delay_ns = 0;      // hold_remote (largest), slots (of one position), phase, fixed_delay
    std::uint64_t threshold_ns = 0;  // fixed_delay
    std::uint64_t service_ns = 0;    // hold_remote, fixed_delay: what a call takes after the last arrival; earliness = wait - this
    std::uint64_t rate_bytes_s = 0;  // rate: of each socket; 0: unlimited

    friend constexpr bool operator==(const Setting&, const Setting&) = default;
};
static_assert(sizeof(Setting) == 48);

}  // namespace paced::pacing
