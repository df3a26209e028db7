// SPDX-License-Identifier: BSD-3-Clause
// What each rank computed in each iteration: the time that it spent outside of its collectives. `paced simulate` replays it (compute.replay of a
// scenario). Nothing where it is not known: no iterations found, or a communicator of which a sample was kept beside the one that counts them.
#pragma once

#include "policy/report/matching.h"
#include "policy/report/report.h"

namespace paced::report {

// The last iterations that every rank has recorded, at most compute_limit numbers in all and compute_iterations of them.
Compute compute_of(const Matching& matching, const Iterations& iterations);

inline constexpr std::size_t compute_limit = 16'384, compute_iterations = 512;

}  // namespace paced::report
