// SPDX-License-Identifier: BSD-3-Clause
#include "policy/placement/order/grid_boxes.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "policy/placement/order/order_ring.h"

namespace paced::placement {

namespace {

using Sides = std::vector<long long>;  // hosts along each axis

long long volume(const Sides& sides) {
    return std::accumulate(sides.begin(), sides.end(), 1LL, [](long long product, long long side) { return product * side; });
}

// Calls visit with all sides that divide the outer ones and have at most so many hosts; one axis may be held at 1.
template <class Visit>
void each_box(const Sides& outer, long long most, std::size_t held, const Visit& visit) {
    Sides sides(outer.size(), 1);
    const auto from = [&](const auto& self, std::size_t j, long long room) -> void {
        if (j == outer.size()) return visit(sides);
        for (long long side = 1; side <= (j == held ? 1 : std::min(outer[j], room)); ++side) {
            if (outer[j] % side != 0) continue;
            sides[j] = side;
            self(self, j + 1, room / side);
        }
        sides[j] = 1;
    };
    from(from, 0, most);
}

// What all hosts together pay for the surface of such boxes: a line through a box is cut once for as many hosts as the box is
// long. In whole numbers, so that no two machines can differ. one_axis_not: an axis that is not counted.
long long surface(const std::vector<HostAxis>& grid, const Sides& sides, std::size_t one_axis_not) {
    long long hosts = 1, sum = 0;
    for (const HostAxis& axis : grid) hosts *= axis.hosts;
    for (std::size_t j = 0; j < sides.size(); ++j)
        if (j != one_axis_not && sides[j] < grid[j].hosts) sum += grid[j].cut * (hosts / sides[j]);
    return sum;
}

Sides best_box(const std::vector<HostAxis>& grid, const Sides& outer, long long hosts) {
    // A full box before one that leaves hosts over; of those, one that is at least half full.
    const auto fit = [&](const Sides& sides) { return volume(sides) == hosts ? 2 : 2 * volume(sides) > hosts ? 1 : 0; };
    Sides best(outer.size(), 1);
    each_box(outer, hosts, outer.size(), [&](const Sides& sides) {
        if (fit(sides) != fit(best) ? fit(sides) > fit(best) : surface(grid, sides, grid.size()) < surface(grid, best, grid.size()))
            best = sides;
    });
    return best;
}

// The sides of the strip, 1 along the axis that it runs along, and that axis.
std::pair<Sides, std::size_t> best_strip(const std::vector<HostAxis>& grid, const Sides& outer, long long hosts) {
    std::pair<Sides, std::size_t> best{Sides(outer.size(), 1), 0};
    long long least = -1, all = 1;
    for (const HostAxis& each : grid) all *= each.hosts;
    for (std::size_t axis = 0; axis < outer.size(); ++axis)
        each_box(outer, hosts, axis, [&](const Sides& sides) {
            const long long ends = grid[axis].cut * (all * volume(sides) / hosts);
            const long long sum = ends + surface(grid, sides, axis);
            if (least >= 0 && sum >= least) return;
            least = sum;
            best = {sides, axis};
        });
    return best;
}

}  // namespace

LeafSequence boxes_of(const FabricGroups& groups, const std::vector<HostAxis>& grid, LeafShape leaf_shape) {
    if (grid.empty()) return {};
    std::vector<Sides> boxes(1);
    for (const HostAxis& axis : grid) boxes[0].push_back(axis.hosts);
    if (volume(boxes[0]) != static_cast<long long>(groups.hosts())) return {};

    // In which order the boxes of one box are gone through: along the axis that is dearest to cut first, which stands last.
    std::vector<std::size_t> axes(grid.size());
    std::iota(axes.begin(), axes.end(), std::size_t{0});
    std::stable_sort(axes.begin(), axes.end(), [&](std::size_t a, std::size_t b) { return grid[a].cut < grid[b].cut; });
    std::vector<std::size_t> leaf_axes = axes;
    for (std::size_t k = 0; k < groups.levels.size(); ++k) {
        const auto& size = groups.levels[k].size;
        const auto hosts = static_cast<long long>(*std::max_element(size.begin(), size.end()));
        if (k + 1 < groups.levels.size() || leaf_shape == LeafShape::box) {
            boxes.push_back(best_box(grid, boxes.back(), hosts));
            continue;
        }
        auto [sides, along] = best_strip(grid, boxes.back(), hosts);
        boxes.push_back(std::move(sides));
        leaf_axes.erase(std::find(leaf_axes.begin(), leaf_axes.end(), along));
        leaf_axes.push_back(along);
    }
    boxes.emplace_back(grid.size(), 1);

    std::vector<std::pair<long long, std::size_t>> order(groups.hosts());
    for (std::size_t i = 0; i < order.size(); ++i) {
        long long key = 0;
        for (std::size_t k = 1; k < boxes.size(); ++k) {
            const bool leaf_level = k + 2 == boxes.size(), strips = leaf_level && leaf_shape == LeafShape::strip;
            long long turns = 0;  // every second strip is gone through backwards
            for (std::size_t j : leaf_level ? leaf_axes : axes) {
                const long long count = boxes[k - 1][j] / boxes[k][j];
                const long long at = static_cast<long long>(i) / grid[j].stride % grid[j].hosts % boxes[k - 1][j] / boxes[k][j];
                const long long turned = strips && turns % 2 == 1 ? count - 1 - at : at;
                key = key * count + turned;
                turns += turned;
            }
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
