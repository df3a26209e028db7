// SPDX-License-Identifier: BSD-3-Clause
// The nodes of a job from SLURM_JOB_NODELIST ("n[1-4,7],login"), and a new order of them. Pure: no Slurm in it.
#pragma once

#include "plugin/spank/text.h"

namespace paced::spank {

// Memory for it comes from whoever owns it: this is too large for a plugin's data, which slurmd may lock in memory.
struct Hosts {
    static constexpr std::size_t limit = 65'536;                  // of hosts; Slurm's own is that of 16 bits
    static constexpr std::size_t room = std::size_t{4} << 20;     // for their names, each with its NUL

    std::uint32_t count = 0;
    std::uint32_t starts[limit];      // of each name in names
    std::uint32_t order[limit];       // positions, as new_order leaves them
    unsigned char seen[limit];
    std::size_t used = 0;
    char names[room];

    // False where the list is not one, is empty, or does not fit.
    bool expand(std::string_view list) noexcept;
    const char* name(std::uint32_t position) const noexcept { return names + starts[position]; }

    // "0-3,7,5": every position once, 0 first. False for anything else.
    bool new_order(std::string_view text) noexcept;
};

}  // namespace paced::spank
