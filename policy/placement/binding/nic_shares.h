// SPDX-License-Identifier: BSD-3-Clause
// Which of its near NICs each task gets.
#pragma once

#include <vector>

#include "policy/placement/binding/near_nics.h"

namespace paced::placement {

// usable: of each task. Within each set of tasks that share usable NICs: where every one of them can have a NIC of its own,
// each gets as many as all can have (the same number for each, no NIC twice); where not, each gets one, and the NICs are
// loaded as evenly as can be. nic_count: of the node.
std::vector<std::vector<topology::NicIndex>> share_nics(const std::vector<std::vector<topology::NicIndex>>& usable, std::size_t nic_count);

}  // namespace paced::placement
