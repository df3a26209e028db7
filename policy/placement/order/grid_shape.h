// SPDX-License-Identifier: BSD-3-Clause
// A grid of ranks, such as tp=8,pp=4,dp=16: who talks to whom, and how much each axis weighs.
//
// Rank = sum over axes of coordinate x stride, the first axis with stride 1. Each line along an axis is a closed ring of its
// size in ranks; a ring of two is one edge. Without given weights the axes weigh 1, 10, 100, ... from the least to the most
// demanding: tp first, then cp, sp, ep and names that we do not know as they are written, then pp, then dp. That is the order
// in which frameworks want them close (D. Narayanan et al., "Efficient large-scale language model training on GPU clusters
// using Megatron-LM", SC 2021: tensor parallel inside the node, pipeline next, data parallel outside).
#pragma once

#include <string>
#include <vector>

#include "policy/config/settings.h"
#include "policy/placement/order/position_graph.h"

namespace paced::placement {

struct GridAxis {
    std::string name;
    long long size = 1, stride = 1, weight = 1;
};

// Axes of size 1 are left out: nothing goes along them.
std::vector<GridAxis> grid_axes(const config::Order& order);

// "tp 100, pp 10, dp 1"
std::string weights_in_words(const std::vector<GridAxis>& axes);

// The traffic between hosts, position p being the ranks p * tasks_per_node and up. O(ranks x axes).
PositionGraph grid_graph(const std::vector<GridAxis>& axes, std::size_t hosts, int tasks_per_node);

// Where the ranks of a host are a box of the grid, the hosts form a grid of their own, whose lines are rings of hosts (or
// single edges between two).
struct HostAxis {
    long long hosts = 1;   // along it
    long long stride = 1;  // in hosts
    long long cut = 0;     // the cheapest way to cut one line: the weight of two edges of its ring, or of its one edge
};

// Empty: the ranks of a host are no box, or nothing goes between hosts.
std::vector<HostAxis> host_grid_of(const std::vector<GridAxis>& axes, int tasks_per_node);

}  // namespace paced::placement
