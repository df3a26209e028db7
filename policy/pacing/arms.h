// SPDX-License-Identifier: BSD-3-Clause
// The arms: which of them can act on a class at all, which are worth trying given what OFF looks like, the settings of each that
// compete, and the cap of every delay.
#pragma once

#include <cstdint>

#include "policy/pacing/observation.h"
#include "policy/pacing/off_window.h"
#include "policy/pacing/tuning.h"

namespace paced::pacing {

inline constexpr std::uint32_t candidate_limit = 4;  // settings of one arm in a probe

// Could this arm ever do anything here?
bool can_act(Arm arm, const Facts& facts);

// The arms to probe, the most promising first; at most arm_count. `anyway`: nothing is seen, but a loss may be steady; what
// is safe to try once in a long while.
std::uint32_t arms_to_try(const Facts& facts, const Signature& seen, bool anyway, Arm (&to)[arm_count]);

// The settings of the arm that compete, the first one first; at most candidate_limit.
std::uint32_t candidates_of(Arm arm, const Facts& facts, const OffWindow& off, const Tuning& tuning, Setting (&to)[candidate_limit]);

// The slot that a call's service under a slot asks for, with a little air: where slots do not run into each other it is what one takes alone,
// which no OFF block shows; where they do it says nothing, and a quarter more is asked for. False: there is no such setting.
bool slot_of(double service_ns, const Setting& under, const Facts& facts, const OffWindow& off, const Tuning& tuning, Setting& to);

// What the setting is compared with: OFF, and for a phase, which stays once it is taken, the way back.
Setting control_of(const Setting& setting, const OffWindow& off);

// The setting with its cap, and with what the gate must know of the service, filled in. Every delay is at most facts.window_ns, and
//     hold_remote  hold_percent of the iteration, divided among its calls
//     hold_local   the window; under auto local_hold_ms or one iteration, whichever is longer, at most longest_auto_hold_ns
//     admit        (ceil(k/W) - 1) * p90 of the service of one that is alone; for the p90: the median over recent OFF blocks of their
//                  longest call, which outlasts the p90 of 8 calls, but at most four times the mean, since that call may hold a
//                  retransmission time-out, which nobody who is alone has
//     slots        the last one's: (k-1) delays
//     phase, fixed_delay  their delay
//     barrier      as hold_local
Setting with_cap(Setting setting, const Facts& facts, const OffWindow& off, const Tuning& tuning);

inline constexpr std::uint64_t longest_auto_hold_ns = 100'000'000;  // the site's default window_max

// What AIMD would do next: half the width (0.85 of the rate, slots a quarter longer) where there still is congestion, else one more (a quarter more;
// slots are measured instead, slot_of). False: there is no such setting.
bool neighbour_of(const Setting& setting, bool congested, const Facts& facts, Setting& to);

// The same but for what scatters: rates (5 %) and slots (10 %) follow what was measured.
bool are_alike(const Setting& a, const Setting& b);

// Of the same arm, and lets at least as much onto the link at once.
bool is_as_bold(const Setting& setting, const Setting& as);

}  // namespace paced::pacing
