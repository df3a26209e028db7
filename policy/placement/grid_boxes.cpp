// SPDX-License-Identifier: BSD-3-Clause
#include "policy/placement/grid_boxes.h"

#include <algorithm>
#include <utility>

#include "policy/placement/order_ring.h"

namespace paced::placement {

namespace {

using Box = std::vector<long long>;  // hosts along each axis

long long volume(const Box& box) {
    long long product = 1;
    for (long long side : box) product *= side;
    return product;
}

// What a host pays for the box's surface: each line through it is shared by as many hosts as the box is long.
double surface(const std::vector<HostAxis>& grid, const Box& box) {
    double sum = 0;
    for (std::size_t j = 0; j < box.size(); ++j)
        if (box[j] < grid[j].hosts) sum += static_cast<double>(grid[j].cut) / static_cast<double>(box[j]);
    return sum;
}

Box best_box(const std::vector<HostAxis>& grid, const Box& outer, long long hosts) {
    Box best(outer.size(), 1), box(outer.size(), 1);
    const auto try_sides = [&](const auto& self, std::size_t j, long long room) -> void {
        if (j == outer.size()) {
            // A full box before one that leaves hosts over; of those that do, one that is at least half full.
            const long long its = volume(box), known = volume(best);
            const int fits = its == hosts ? 2 : 2 * its > hosts, known_fits = known == hosts ? 2 : 2 * known > hosts;
            if (fits != known_fits ? fits > known_fits : surface(grid, box) < surface(grid, best)) best = box;
            return;
        }
        for (long long side = 1; side <= std::min(outer[j], room); ++side) {
            if (outer[j] % side != 0) continue;
            box[j] = side;
            self(self, j + 1, room / side);
        }
        box[j] = 1;
    };
    try_sides(try_sides, 0, hosts);
    return best;
}

}  // namespace

LeafSequence boxes_of(const FabricGroups& groups, const std::vector<HostAxis>& grid) {
    if (grid.empty()) return {};
    std::vector<Box> boxes(1);
    for (const HostAxis& axis : grid) boxes[0].push_back(axis.hosts);
    if (volume(boxes[0]) != static_cast<long long>(groups.hosts())) return {};
    for (const GroupLevel& level : groups.levels)
        boxes.push_back(best_box(grid, boxes.back(), static_cast<long long>(*std::max_element(level.size.begin(), level.size.end()))));
    boxes.emplace_back(grid.size(), 1);

    // Positions by box, then by box within it, and so on. Among the boxes of one box, along the axis that is dearest to cut first.
    std::vector<std::size_t> axes(grid.size());
    for (std::size_t j = 0; j < axes.size(); ++j) axes[j] = j;
    std::stable_sort(axes.begin(), axes.end(), [&](std::size_t a, std::size_t b) { return grid[a].cut < grid[b].cut; });
    std::vector<std::pair<long long, std::size_t>> order(groups.hosts());
    for (std::size_t i = 0; i < order.size(); ++i) {
        long long key = 0;
        for (std::size_t k = 1; k < boxes.size(); ++k)
            for (std::size_t j : axes) {
                const long long coordinate = static_cast<long long>(i) / grid[j].stride % grid[j].hosts;
                key = key * (boxes[k - 1][j] / boxes[k][j]) + coordinate % boxes[k - 1][j] / boxes[k][j];
            }
        order[i] = {key, i};
    }
    std::sort(order.begin(), order.end());
    const LeafSequence leaves = walk(groups);
    LeafSequence sequence(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) sequence[order[i].second] = leaves[i];
    return sequence;
}

}  // namespace paced::placement
