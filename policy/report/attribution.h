// SPDX-License-Identifier: BSD-3-Clause
// Third step of the analysis: where the time went, in seconds of the mean rank.
//
// A rank's time runs from its first kept arrival to its last kept completion. It is outside of collectives (compute)
// or inside; inside a measured one it first waits for the last rank, and then the service begins, or, where pacing delays ranks
// beyond that, when the last one has been let in. With these, over all ranks and then divided by their number:
//
//   persistent_straggler  waiting in late collectives whose last rank is a persistent straggler (lateness.h)
//   transient_straggler   waiting in all other late, tied and on_time ones
//   startup               waiting in the first collective of each communicator
//   contention            of contended ones, the service beyond that of the usual one of the same communicator,
//                         operation and size (the median of those that were not contended, or the fastest tenth where
//                         all were); and waiting inherited from a contended one
//   service               the rest of the service; and waiting inherited from any other collective
//   locality              not measured yet: 0
//   pacing                between the arrival of the last rank and the moment at which pacing has let all in. What an early rank was
//                         held before that it would have waited anyway, and counts as waiting
//   unattributed          time in rooted collectives, in those that not all members recorded, and waiting in contended ones
//   compute               what is left: the parts add up to the elapsed time exactly
//
// Where only a sample of a communicator's collectives was kept, its parts are scaled up to those made.
#pragma once

#include <vector>

#include "policy/report/lateness.h"
#include "policy/report/report.h"

namespace paced::report {

// Of one participant.
struct RankTime {
    double elapsed_ns = 0;
    double collectives_ns = 0;
};


std::vector<RankTime> rank_times(const Matching& matching);
Attribution attribute(const Matching& matching, const Lateness& lateness, const std::vector<RankTime>& times);

}  // namespace paced::report
