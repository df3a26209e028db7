// SPDX-License-Identifier: BSD-3-Clause
#include "policy/placement/order/double_tree.h"

namespace paced::placement {

std::array<std::vector<Position>, 2> double_binary_tree(std::size_t nodes) {
    std::array<std::vector<Position>, 2> parent{std::vector<Position>(nodes), std::vector<Position>(nodes)};
    const auto stand_in = [&](std::size_t node) { return nodes % 2 == 0 ? nodes - 1 - node : (node + 1) % nodes; };
    for (std::size_t node = 0; node < nodes; ++node) {
        std::size_t up = node;
        if (node != 0) {
            const std::size_t bit = node & (~node + 1);
            // Of node - bit and node + bit one has 2 * bit as its lowest set bit: the one in which that bit is set.
            up = (node & (2 * bit)) != 0 ? node - bit : node + bit;
            if (up >= nodes) up = node - bit;
        }
        parent[0][node] = static_cast<Position>(up);
        parent[1][stand_in(node)] = static_cast<Position>(stand_in(up));
    }
    return parent;
}

}  // namespace paced::placement
