// SPDX-License-Identifier: BSD-3-Clause
// The algorithm is ASM1 of Harvey, Ladner, Lovasz, Tamir, "Semi-matchings for bipartite graphs and load balancing"
// (2003): takers come one by one, and each takes the least loaded slot that it can reach by moving others.
#include "policy/placement/balance.h"

namespace paced::placement {

std::vector<std::size_t> balance(const std::vector<std::vector<std::size_t>>& choices, std::size_t slot_count) {
    std::vector<std::size_t> slot_of(choices.size(), slot_count);
    std::vector<std::size_t> load(slot_count, 0);
    for (std::size_t newcomer = 0; newcomer < choices.size(); ++newcomer) {
        // Breadth first over "taker may have slot" and "slot is held by taker"; came_by[slot] is the taker that would move there.
        constexpr auto nobody = static_cast<std::size_t>(-1);
        std::vector<std::size_t> came_by(slot_count, nobody);
        std::vector<std::size_t> reached;
        const auto reach_from = [&](std::size_t taker) {
            for (std::size_t slot : choices[taker]) {
                if (came_by[slot] != nobody) continue;
                came_by[slot] = taker;
                reached.push_back(slot);
            }
        };
        reach_from(newcomer);
        for (std::size_t i = 0; i < reached.size(); ++i)
            for (std::size_t taker = 0; taker < newcomer; ++taker)
                if (slot_of[taker] == reached[i]) reach_from(taker);
        if (reached.empty()) continue;

        // Strictly less: of equals the first reached, which needs the fewest moves.
        std::size_t best = reached.front();
        for (std::size_t slot : reached)
            if (load[slot] < load[best]) best = slot;
        ++load[best];
        for (std::size_t slot = best, taker;;) {
            taker = came_by[slot];
            std::swap(slot, slot_of[taker]);
            if (taker == newcomer) break;
        }
    }
    return slot_of;
}

}  // namespace paced::placement
