// SPDX-License-Identifier: BSD-3-Clause
// Joining what nodes say of a communicator, on the way up the tree: associative, and the order does not matter.
#pragma once

#include "policy/pacing/directive.h"

namespace paced::pacing {

// Both must be of the same communicator. Signatures, periods or sizes that differ become "none" and stay so: its members do not
// agree (yet). A leaf that is not known (0) does not count as another one.
void join(Progress& into, const Progress& other);

}  // namespace paced::pacing
