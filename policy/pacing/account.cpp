// SPDX-License-Identifier: BSD-3-Clause
#include "policy/pacing/account.h"

namespace paced::pacing {

const char* name_of(Ended ended) {
    switch (ended) {
        case Ended::running: return "running";
        case Ended::engaged: return "engaged";
        case Ended::no_gain: return "no gain";
        case Ended::loses: return "loses";
        case Ended::no_verdict: return "no verdict";
        case Ended::straggler: return "persistent straggler";
        case Ended::fault: return "fault";
        case Ended::budget: return "budget spent";
        case Ended::not_applicable: return "not applicable";
        case Ended::finished: return "job ended";
        case Ended::moved_on: return "another loop began";
        case Ended::replaced: return "replaced";
        case Ended::not_better: return "not better";
    }
    return "unknown";
}

}  // namespace paced::pacing
