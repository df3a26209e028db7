// SPDX-License-Identifier: BSD-3-Clause
// The helper's answer to `order` (plugin/helper/PROTOCOL.md), all of it checked before any of it is used. Pure: no Slurm in it.
#pragma once

#include "plugin/spank/text.h"

namespace paced::spank {

inline constexpr std::size_t order_answer_limit = std::size_t{1} << 20;
// Of the variable that goes to the nodes; room for the job's id is on top.
inline constexpr std::size_t placed_limit = 16 * 1024;

struct OrderAnswer {
    std::string_view placed;           // for the nodes; empty: nothing
    std::uint32_t tasks_per_node = 0;  // 0: Slurm's order is kept
    std::string_view positions;        // "0-3,7,5", not looked into yet

    // nullptr, or why the answer is refused, and then it says nothing. It keeps hold of text.
    const char* parse(std::string_view text) noexcept;
};

}  // namespace paced::spank
