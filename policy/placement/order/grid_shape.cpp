// SPDX-License-Identifier: BSD-3-Clause
#include "policy/placement/order/grid_shape.h"

#include <algorithm>
#include <numeric>

#include "policy/base/text.h"

namespace paced::placement {

namespace {

int demand_class(const std::string& name) {
    if (name == "tp") return 0;
    if (name == "pp") return 2;
    if (name == "dp") return 3;
    return 1;
}

}  // namespace

std::vector<GridAxis> grid_axes(const config::Order& order) {
    std::vector<GridAxis> axes;
    long long stride = 1;
    bool weighted = true;
    for (const config::Axis& axis : order.axes) {
        if (axis.size > 1) axes.push_back({axis.name, axis.size, stride, axis.weight.value_or(1)});
        weighted &= axis.weight.has_value();
        stride *= axis.size;
    }
    if (weighted) return axes;
    std::vector<std::size_t> by_demand(axes.size());
    std::iota(by_demand.begin(), by_demand.end(), std::size_t{0});
    std::stable_sort(by_demand.begin(), by_demand.end(),
                     [&](std::size_t a, std::size_t b) { return demand_class(axes[a].name) > demand_class(axes[b].name); });
    // Within a class the first written weighs most: from the back.
    for (auto from = by_demand.begin(); from != by_demand.end();) {
        const auto to = std::find_if(from, by_demand.end(),
                                     [&](std::size_t each) { return demand_class(axes[each].name) != demand_class(axes[*from].name); });
        std::reverse(from, to);
        from = to;
    }
    long long weight = 1;
    for (std::size_t each : by_demand) {
        axes[each].weight = weight;
        weight = std::min(weight * 10, 1'000'000LL);
    }
    return axes;
}

std::string weights_in_words(const std::vector<GridAxis>& axes) {
    std::vector<std::string> parts;
    for (const GridAxis& axis : axes) parts.push_back(axis.name + ' ' + std::to_string(axis.weight));
    return join(parts, ", ");
}

PositionGraph grid_graph(const std::vector<GridAxis>& axes, std::size_t hosts, int tasks_per_node) {
    std::vector<WeightedPair> pairs;
    const long long tasks = tasks_per_node, ranks = static_cast<long long>(hosts) * tasks;
    for (const GridAxis& axis : axes) {
        if (axis.weight == 0) continue;
        // Ranks of one host mostly talk to ranks of one other host: such pairs are added up at once.
        const std::size_t first = pairs.size();
        for (long long rank = 0; rank < ranks; ++rank) {
            const bool at_end = rank / axis.stride % axis.size == axis.size - 1;
            if (at_end && axis.size == 2) continue;
            const long long next = at_end ? rank - (axis.size - 1) * axis.stride : rank + axis.stride;
            const auto from = static_cast<Position>(rank / tasks), to = static_cast<Position>(next / tasks);
            if (from == to) continue;
            if (pairs.size() > first && pairs.back().from == from && pairs.back().to == to)
                pairs.back().weight += axis.weight;
            else
                pairs.push_back({from, to, axis.weight});
        }
    }
    return {hosts, pairs};
}

std::vector<HostAxis> host_grid_of(const std::vector<GridAxis>& axes, int tasks_per_node) {
    const long long tasks = tasks_per_node;
    std::vector<HostAxis> result;
    for (const GridAxis& axis : axes) {
        const long long span = axis.stride * axis.size;
        if (span <= tasks) {  // inside the host
            if (tasks % span != 0) return {};
        } else if (axis.stride >= tasks) {  // every rank of a host has a line
            if (axis.stride % tasks != 0) return {};
            result.push_back({axis.size, axis.stride / tasks, tasks * axis.weight * (axis.size == 2 ? 1 : 2)});
        } else {  // lines run through a host and leave it at both ends
            if (tasks % axis.stride != 0 || span % tasks != 0) return {};
            result.push_back({span / tasks, 1, axis.stride * axis.weight * 2});
        }
    }
    return result;
}

}  // namespace paced::placement
