// SPDX-License-Identifier: BSD-3-Clause
// A collective as phases over the fabric: what one call of one communicator puts on which links, worked out once.
//
//     ring          a chunk of B/n goes round: each edge carries 2(n-1)/n B (all-reduce), (n-1)/n B (the halves); as many hops in latency
//     tree          NCCL's double binary tree over nodes: each tree edge carries B/2 up and B/2 down, a chain within the node
//     hierarchical  reduce-scatter within the node; a ring of each local index between nodes, all at once; all-gather within
//     direct        all-to-all: B/n from each to each
//     neighbour     B from each to the next one
//
// (Thakur, Rabenseifner, Gropp 2005, "Optimization of collective communication operations in MPICH"; for the tree see
// policy/placement/order/double_tree.h.) A phase is latency, then a transfer at the pace of its most loaded link.
#pragma once

#include <cstdint>
#include <vector>

#include "policy/simulation/network.h"
#include "policy/simulation/scenario.h"
#include "policy/simulation/wiring.h"

namespace paced::simulation {

// Ranks of a communicator, in its order: first, first + stride, ...
struct Members {
    std::uint32_t first = 0, stride = 1, count = 1;
    std::uint32_t rank(std::uint32_t index) const { return first + index * stride; }
};

struct LinkShare {
    std::uint32_t link = 0;
    float weight = 0;
};

struct Phase {
    double latency_s = 0;
    double internal_s = 0;              // within nodes, beside the transfer
    bool moves = false;                 // it has a transfer
    Transfer transfer;
    double alone_bytes_s = 0;           // a unit's rate with nobody else there; 0 without a transfer
    std::vector<LinkShare> carried;     // all links, those of its own too
};

struct Plan {
    std::vector<Phase> phases;
    double alone_s = 0;                 // the call's time with nobody else there
    double worst_full = 0;              // most that a port of its own is filled to, if all its flows begin together
    bool shares = false;                // it uses links that others use
    std::uint64_t executions = 0;
};

class Planner {
public:
    // order: the slot of each position. bound: tasks have the NICs that placement gives them.
    Planner(const Scenario& scenario, const Wiring& wiring, const std::vector<std::uint32_t>& order, bool bound);

    Plan plan(const Members& members, const Traffic& traffic, double bytes);

    // What follows is used to tell shared links: `user` counts from 0 and only grows.
    void count_users(const Plan& plan, std::uint32_t user);
    void count_background(const std::vector<std::uint32_t>& links);
    // Links that are one communicator's alone become limits and ports.
    void settle(Plan& plan) const;

    bool is_on_one_node(const Members& members) const;

private:
    struct Lanes {                      // NICs that a communicator uses on a node
        std::vector<std::uint32_t> nics;
        std::vector<double> shares;     // part of the NIC's rate that is left over its way to the GPU
        bool own = false;               // one member on each node: the NIC of its own local index
    };

    std::uint32_t node_of(std::uint32_t rank) const { return rank / ranks_; }
    std::uint32_t slot_of(std::uint32_t rank) const { return order_[rank / ranks_]; }
    Lanes lanes_of(const Members& members, std::uint32_t& local) const;
    void load(std::uint32_t link, double weight, double flows);
    // A unit from one slot to another; returns its latency.
    double add_edge(std::uint32_t from, std::uint32_t to, const Lanes& lanes, std::uint32_t channels, double weight, std::uint32_t from_local, std::uint32_t to_local);
    Phase finish(double bytes, double chunk_bytes, double flows_per_unit);
    Phase inside(double bytes, double hops) const;
    void ring(Plan& plan, const Members& members, const Traffic& traffic, double bytes, double passes);
    void tree(Plan& plan, const Members& members, const Traffic& traffic, double bytes);
    void hierarchical(Plan& plan, const Members& members, const Traffic& traffic, double bytes, double passes);
    void direct(Plan& plan, const Members& members, const Traffic& traffic, double bytes);
    void neighbour(Plan& plan, const Members& members, const Traffic& traffic, double bytes);
    void direct_by_counts(const Members& members, const Lanes& lanes, std::uint32_t local, std::uint32_t channels);

    const Scenario& scenario_;
    const Wiring& wiring_;
    const std::vector<std::uint32_t>& order_;
    std::uint32_t ranks_;
    std::vector<double> share_;         // of each local rank's NIC rate

    std::vector<double> weight_;        // scratch: of the transfer under way, by link
    std::vector<float> flows_;
    std::vector<std::uint32_t> touched_;
    double limit_ = 0;                  // of a unit's rate, by what is not a link: internal paths, the way to the NIC

    std::vector<std::uint32_t> users_, last_user_;
};

}  // namespace paced::simulation
