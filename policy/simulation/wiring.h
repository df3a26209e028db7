// SPDX-License-Identifier: BSD-3-Clause
// The fabric as links, the job's nodes on it, and the way between two of them.
//
// A switch has parallel uplinks; which one a flow takes is a hash of its ends, going up at the sender's side and coming down at
// the receiver's, so that two flows collide or not for the whole run. Rails are planes: all switches once for each rail.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "policy/simulation/draws.h"
#include "policy/simulation/network.h"
#include "policy/simulation/scenario.h"
#include "policy/topology/fabric_topology.h"

namespace paced::simulation {

class Wiring {
public:
    // The seed draws where a job of so many nodes lies (random, sorted), and how flows are hashed.
    Wiring(const Scenario& scenario, std::uint32_t nodes, std::uint64_t seed);

    // A slot is a node of the job in the submitted order.
    std::uint32_t slots() const { return static_cast<std::uint32_t>(leaf_.size()); }
    std::uint32_t leaf_of(std::uint32_t slot) const { return leaf_[slot]; }
    std::uint32_t host_of(std::uint32_t slot) const { return host_[slot]; }  // in the cluster; the same machine in every case and size

    const std::vector<Link>& links() const { return links_; }
    std::uint32_t switches() const { return static_cast<std::uint32_t>(switches_.size()) * rails_; }
    // 0: a NIC's; 1 + i: uplinks of level i, and the links back.
    std::uint32_t level_of_link(std::uint32_t link) const { return link_level_[link]; }
    const std::vector<std::string>& level_names() const { return names_; }  // "nic", "leaf", ...
    // Uplinks, both ways, of a level by name; empty: the lowest.
    std::vector<std::uint32_t> links_of_level(const std::string& level) const;

    std::uint32_t nic_of(std::uint32_t local) const { return local * nics_ / ranks_; }
    std::uint32_t out(std::uint32_t slot, std::uint32_t nic) const { return (slot * nics_ + nic) * 2; }
    std::uint32_t in(std::uint32_t slot, std::uint32_t nic) const { return (slot * nics_ + nic) * 2 + 1; }
    std::uint32_t plane_of(std::uint32_t nic) const { return nic * rails_ / nics_; }

    // Links between two slots in the plane, NICs left out.
    template <class Add> void path(std::uint32_t from, std::uint32_t to, std::uint32_t plane, std::uint64_t flow, Add add) const {
        const std::uint64_t hash = mixed(hash_seed_, std::uint64_t{from} << 32 | to, flow);
        climb(leaf_[from], leaf_[to], [&](std::uint32_t index, bool up) {
            const Switch& one = switches_[index];
            const auto parallel = static_cast<std::uint32_t>(mixed(hash, one.level) % one.uplinks);
            add(plane_first_[plane] + one.first + 2 * parallel + (up ? 0u : 1u));
        });
    }
    // To cross all switches between two slots.
    double latency(std::uint32_t from, std::uint32_t to) const;

    struct Switch {
        std::int32_t parent = -1;
        std::uint32_t level = 0, depth = 0;
        std::uint32_t uplinks = 1;
        std::uint32_t first = 0;       // of its 2 * uplinks links (up, down, up, ...) within a plane; of no meaning at a root
        double uplink_bytes_s = 0;
    };
    const std::vector<Switch>& tree() const { return switches_; }
    // Link of an uplink, going up.
    std::uint32_t uplink(std::uint32_t index, std::uint32_t plane, std::uint32_t parallel) const { return plane_first_[plane] + switches_[index].first + 2 * parallel; }
    std::uint32_t rails() const { return rails_; }
    std::uint64_t hash_seed() const { return hash_seed_; }

    // The slots in the order that placement chooses, with its reasons; the submitted one where nothing improves.
    std::vector<std::uint32_t> ordered(const Scenario& scenario, std::vector<std::string>& reasons) const;

private:
    template <class Visit> void climb(std::uint32_t from, std::uint32_t to, Visit visit) const {
        while (from != to) {
            const Switch &a = switches_[from], &b = switches_[to];
            const bool first = a.depth >= b.depth, second = b.depth >= a.depth;
            if (first) {
                if (a.parent < 0) return;
                visit(from, true);
                from = static_cast<std::uint32_t>(a.parent);
            }
            if (second) {
                if (b.parent < 0) return;
                visit(to, false);
                to = static_cast<std::uint32_t>(b.parent);
            }
        }
    }

    void make_tree(const Scenario& scenario);
    void read_tree(const topology::FabricTopology& fabric);
    void place(const Scenario& scenario, std::uint32_t nodes, std::uint64_t seed);
    void make_links(const Scenario& scenario);

    std::vector<Switch> switches_;                // of one plane
    std::vector<std::vector<std::uint32_t>> hosts_on_;  // hosts of each switch, in the cluster's numbers
    std::vector<std::string> host_names_;         // read alone
    std::uint32_t hosts_ = 0;
    std::vector<std::uint32_t> host_, leaf_;      // of each slot
    std::vector<Link> links_;
    std::vector<std::uint32_t> link_level_, plane_first_;
    std::vector<std::string> names_;
    std::vector<double> latency_;                 // of each level's switches
    std::uint32_t rails_ = 1, nics_ = 1, ranks_ = 1;
    std::uint64_t hash_seed_ = 0;
};

}  // namespace paced::simulation
