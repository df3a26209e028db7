// SPDX-License-Identifier: BSD-3-Clause
// On a grid of hosts (grid_shape.h) with c_j hosts along axis j, a line along axis j that lies in several groups costs each of
// them at least w_j, the cheapest way to cut it: two edges of a ring, or the one edge of two hosts.
//
// Take a group of m < n hosts. Let t_j be the number of lines along axis j that have a host in the group and f_j of those that lie
// in it whole. Its boundary weighs at least sum_j w_j (t_j - f_j), with
//     m <= c_j t_j    and    c_j f_j <= m        (lines along an axis are disjoint),
//     t_j >= c_i      where f_i >= 1, i != j     (a whole line along i meets c_i lines along j),
//     product of all t_j >= m^(k-1)              (Loomis and Whitney 1949, k axes).
// We take the smallest value over all choices of the set of axes with f_j >= 1; with none of them the last inequality and
// that of the means give sum_j w_j t_j >= k (product of w_j * m^(k-1))^(1/k). Each edge between groups is in two boundaries, so
// the cost is at least half of their sum.
#include "policy/placement/order/grid_bound.h"

#include <algorithm>
#include <cmath>

namespace paced::placement {

namespace {

long long boundary(const std::vector<HostAxis>& axes, long long m) {
    constexpr std::size_t most_axes = 10;
    const std::size_t k = axes.size();
    if (k == 0 || k > most_axes) return 0;
    long long least = 0;
    for (std::size_t whole = 0; whole < (std::size_t{1} << k); ++whole) {
        const auto is_whole = [&](std::size_t j) { return (whole >> j & 1) != 0; };
        bool possible = true;
        long long sum = 0;
        for (std::size_t j = 0; j < k && possible; ++j) {
            if (is_whole(j) && axes[j].hosts > m) possible = false;
            long long touched = (m + axes[j].hosts - 1) / axes[j].hosts;
            for (std::size_t i = 0; i < k; ++i)
                if (i != j && is_whole(i)) touched = std::max(touched, axes[i].hosts);
            sum += axes[j].cut * std::max(0LL, touched - (is_whole(j) ? m / axes[j].hosts : 0));
        }
        if (!possible) continue;
        if (whole == 0) {
            double logarithm = static_cast<double>(k - 1) * std::log(static_cast<double>(m));
            for (const HostAxis& axis : axes) logarithm += std::log(static_cast<double>(std::max(axis.cut, 1LL)));
            const bool all_weigh = std::all_of(axes.begin(), axes.end(), [](const HostAxis& each) { return each.cut > 0; });
            const double means = static_cast<double>(k) * std::exp(logarithm / static_cast<double>(k));
            if (all_weigh) sum = std::max(sum, static_cast<long long>(means * (1 - 1e-9)));
            least = sum;
        } else {
            least = std::min(least, sum);
        }
    }
    return least;
}

}  // namespace

long long grid_bound(const std::vector<GridAxis>& axes, int tasks_per_node, const GroupLevel& level, std::size_t hosts) {
    const auto host_grid = host_grid_of(axes, tasks_per_node);
    long long sum = 0;
    for (std::size_t m : level.size)
        if (m < hosts) sum += boundary(host_grid, static_cast<long long>(m));
    return (sum + 1) / 2;
}

}  // namespace paced::placement
