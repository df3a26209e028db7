// SPDX-License-Identifier: BSD-3-Clause
#include "policy/placement/binding/nic_shares.h"

#include <algorithm>
#include <numeric>

#include "policy/placement/binding/balance.h"

namespace paced::placement {

namespace {

using topology::NicIndex;

// Tasks that share NICs, directly or through others; each set in the order of tasks.
std::vector<std::vector<std::size_t>> sets_of_tasks(const std::vector<std::vector<NicIndex>>& usable, std::size_t nic_count) {
    std::vector<std::size_t> set_of_nic(nic_count);
    std::iota(set_of_nic.begin(), set_of_nic.end(), std::size_t{0});
    const auto root = [&](std::size_t nic) {
        while (set_of_nic[nic] != nic) nic = set_of_nic[nic] = set_of_nic[set_of_nic[nic]];
        return nic;
    };
    for (const auto& nics : usable)
        for (NicIndex nic : nics) set_of_nic[root(to_index(nic))] = root(to_index(nics.front()));
    std::vector<std::vector<std::size_t>> sets(nic_count);
    for (std::size_t task = 0; task < usable.size(); ++task)
        if (!usable[task].empty()) sets[root(to_index(usable[task].front()))].push_back(task);
    std::erase_if(sets, [](const auto& set) { return set.empty(); });
    return sets;
}

// Each task of the set stands for `times` takers. The slot of taker time * set.size() + position.
std::vector<std::size_t> spread(const std::vector<std::vector<NicIndex>>& usable, const std::vector<std::size_t>& set, std::size_t times,
                                std::size_t nic_count, bool& each_alone) {
    Balance takers(nic_count);
    for (std::size_t time = 0; time < times; ++time) {
        for (std::size_t task : set) {
            std::vector<std::size_t> slots;
            for (NicIndex nic : usable[task]) slots.push_back(to_index(nic));
            takers.add(std::move(slots));
        }
    }
    each_alone = std::all_of(takers.loads().begin(), takers.loads().end(), [](std::size_t load) { return load <= 1; });
    return takers.slots();
}

}  // namespace

std::vector<std::vector<NicIndex>> share_nics(const std::vector<std::vector<NicIndex>>& usable, std::size_t nic_count) {
    std::vector<std::vector<NicIndex>> shares(usable.size());
    for (const auto& set : sets_of_tasks(usable, nic_count)) {
        std::size_t times = 1;
        bool each_alone = false;
        auto slots = spread(usable, set, times, nic_count, each_alone);
        while (each_alone) {
            auto more = spread(usable, set, times + 1, nic_count, each_alone);
            if (!each_alone) break;
            slots = std::move(more);
            ++times;
        }
        for (std::size_t position = 0; position < set.size(); ++position) {
            auto& share = shares[set[position]];
            for (std::size_t time = 0; time < times; ++time) share.push_back(static_cast<NicIndex>(slots[time * set.size() + position]));
            // Best first: in the order of the candidates, which are all as near.
            const auto& order = usable[set[position]];
            std::sort(share.begin(), share.end(), [&](NicIndex a, NicIndex b) {
                return std::find(order.begin(), order.end(), a) < std::find(order.begin(), order.end(), b);
            });
        }
    }
    return shares;
}

}  // namespace paced::placement
