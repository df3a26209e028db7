// SPDX-License-Identifier: BSD-3-Clause
// Spreading takers over what they may take, as evenly as can be.
#pragma once

#include <cstddef>
#include <vector>

namespace paced::placement {

// choices[t]: the slots that taker t may have, best first; empty: none. Returns the slot of each taker (slot_count for
// none). No other assignment has a lower highest load, nor, that being equal, fewer slots with it, and so on down (an
// optimal semi-matching). Among equals each taker in turn gets its least loaded choice, the first named of them.
std::vector<std::size_t> balance(const std::vector<std::vector<std::size_t>>& choices, std::size_t slot_count);

}  // namespace paced::placement
