// SPDX-License-Identifier: BSD-3-Clause
// Jobs whose ranks do not wait for one another at every call, as a recurrence over iterations instead of events:
//
//     stale         begin(k+1) = max(own end of compute(k), end of the exchange(k - staleness));
//                   the exchange k begins when all have computed k and the exchange k-1 has ended, and takes its time on an idle fabric
//     asynchronous  an iteration is the rank's compute and its own exchange; since ranks come one by one, the shared part of the
//                   exchange's time counts as often as others are in theirs, and at least 1 of n
//     alone         nobody to speak to: compute alone
//
// Nothing overloads a port here and nothing is paced: who does not wait has nothing to gain from waiting better.
#pragma once

#include "policy/simulation/simulate.h"

namespace paced::simulation {

bool is_relaxed(const Scenario& scenario, std::uint32_t nodes);
Outcome simulate_relaxed(const Scenario& scenario, const Run& run, const Told& told);

}  // namespace paced::simulation
