// SPDX-License-Identifier: BSD-3-Clause
// Waiting in the host's own thread: always until an absolute deadline (CLOCK_MONOTONIC, ns) at the latest, whatever
// signals come. No cancellation point, no signal mask, no timer of the process.
#pragma once

#include <cstdint>

namespace paced::interposer {

// Below this a sleep would be longer than what is waited for: the thread spins, if it may.
inline constexpr std::uint64_t spin_limit_ns = 150'000;
// A sleeper wakes this much early and spins the rest: what a core takes to come out of idle, and to be given to the thread.
inline constexpr std::uint64_t wake_ahead_ns = 100'000;

// may_spin: false where other ranks need the core.
void delay_until(std::uint64_t deadline_ns, bool may_spin);

// Sleeps until *word, modulo 2^32, is not before `wanted` (true), or the deadline has passed (false). The word may lie
// in a file that processes share.
bool wait_until_reached(const std::uint32_t& word, std::uint32_t wanted, std::uint64_t deadline_ns);
void wake_all(std::uint32_t& word);

constexpr bool has_reached(std::uint32_t value, std::uint32_t wanted) { return static_cast<std::int32_t>(value - wanted) >= 0; }

}  // namespace paced::interposer
