// SPDX-License-Identifier: BSD-3-Clause
// The distance of a GPU's nearest NICs is its own, whichever of them it gets. So the worst path and the sum of paths are
// least for the GPUs with the shortest ones, and what is left to choose among equals is how even the NICs are loaded.
#include "policy/placement/binding/gpu_choice.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "policy/placement/binding/balance.h"

namespace paced::placement {

namespace {

using namespace paced::topology;

class Chooser {
public:
    Chooser(const NodeTopology& node, const std::vector<NearNics>& near) : near_(near), nics_(node.nics.size()) {}

    // Adds `count` of these GPUs and returns them in the order of `gpus`.
    std::vector<GpuIndex> choose(const std::vector<GpuIndex>& gpus, std::size_t count) {
        std::vector<GpuIndex> left = gpus, chosen;
        while (!left.empty() && chosen.size() < count) {
            const GpuIndex best = next_of(left);
            std::erase(left, best);
            chosen.push_back(best);
            nics_.add(slots(best));
        }
        std::stable_sort(chosen.begin(), chosen.end(), [&](GpuIndex a, GpuIndex b) {
            return std::find(gpus.begin(), gpus.end(), a) < std::find(gpus.begin(), gpus.end(), b);
        });
        return chosen;
    }

private:
    std::vector<std::size_t> slots(GpuIndex gpu) const {
        std::vector<std::size_t> slots;
        for (NicIndex nic : near_[to_index(gpu)].usable) slots.push_back(to_index(nic));
        return slots;
    }
    // The shortest path, then the least loaded NIC.
    GpuIndex next_of(const std::vector<GpuIndex>& left) const {
        const auto rank = [&](GpuIndex gpu) { return std::pair(near_[to_index(gpu)].path_cost(), nics_.lowest_load(slots(gpu))); };
        GpuIndex best = left.front();
        auto best_rank = rank(best);
        for (GpuIndex gpu : left)
            if (const auto its = rank(gpu); its < best_rank) std::tie(best, best_rank) = std::pair(gpu, its);
        return best;
    }

    const std::vector<NearNics>& near_;
    Balance nics_;
};

}  // namespace

std::vector<GpuIndex> best_gpus(const NodeTopology& node, const std::vector<NearNics>& near, const std::vector<GpuIndex>& gpus,
                                std::size_t count) {
    if (count >= gpus.size()) return gpus;
    return Chooser(node, near).choose(gpus, count);
}

std::vector<GpuIndex> gpus_of_tasks(const NodeTopology& node, const std::vector<NearNics>& near, const std::vector<GpuIndex>& gpus,
                                    std::size_t tasks) {
    std::vector<GpuIndex> of_tasks;
    if (gpus.empty()) return of_tasks;
    int most_parts = 1;
    for (GpuIndex gpu : gpus) most_parts = std::max(most_parts, node.gpu(gpu).partitions);
    Chooser chooser(node, near);
    while (of_tasks.size() < tasks) {
        // One turn: a task for each part. The first parts of all GPUs come before the second ones, so that few tasks spread.
        std::vector<std::size_t> count(node.gpus.size(), 0);
        std::size_t left = tasks - of_tasks.size();
        for (int part = 0; part < most_parts && left > 0; ++part) {
            std::vector<GpuIndex> with_part;
            std::copy_if(gpus.begin(), gpus.end(), std::back_inserter(with_part),
                         [&](GpuIndex gpu) { return std::max(1, node.gpu(gpu).partitions) > part; });
            const auto chosen = chooser.choose(with_part, left);
            for (GpuIndex gpu : chosen) ++count[to_index(gpu)];
            left -= chosen.size();
        }
        for (GpuIndex gpu : gpus) of_tasks.insert(of_tasks.end(), count[to_index(gpu)], gpu);
    }
    return of_tasks;
}

}  // namespace paced::placement
