// SPDX-License-Identifier: BSD-3-Clause
// Whether what placement has worked out is also done, or only shown.
#pragma once

#include "policy/config/effective.h"

namespace paced::config {

struct PlacementApplies {
    bool bind = false;   // variables and cores of the tasks
    bool order = false;  // of the job's nodes

    friend bool operator==(const PlacementApplies&, const PlacementApplies&) = default;
};

// pace: all that is set to more than none. observe: only what the user asked for himself, with a flag, a variable or the
// policy that he named; what the site set, or nobody, is shown. off and explain: nothing.
PlacementApplies placement_applies(const Effective& effective);

}  // namespace paced::config
