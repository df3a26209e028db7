// SPDX-License-Identifier: BSD-3-Clause
// NCCL's double binary tree over the nodes of a job, numbered by their first rank.
//
// Two trees over the same nodes, each of which carries half of the data (P. Sanders, J. Speck, J. L. Traff, "Two-tree
// algorithms for full bandwidth broadcast, reduction and scan", Parallel Computing 35, 2009; NVIDIA's article on NCCL 2.4,
// "Massively Scale Your Deep Learning Training with NCCL 2.4"). In the first, node 0 is the root and the number of zero
// bits at the end of a node's number is its height: the parent of a node whose lowest set bit is b is the one neighbour at
// distance b whose own lowest set bit is 2b, or, where that one is beyond the last node, the neighbour below. Nodes with
// odd numbers are therefore leaves. The second tree is the first one read backwards (node i plays node n-1-i) for an even
// number of nodes, and moved on by one (node i plays node i-1) for an odd one: so its leaves are the others.
//
// Node 0 apart, no node has children in both trees; node 0 has where n is odd and at least 3.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "policy/placement/order/position_graph.h"

namespace paced::placement {

// parent[tree][node]; the root is its own parent.
std::array<std::vector<Position>, 2> double_binary_tree(std::size_t nodes);

}  // namespace paced::placement
