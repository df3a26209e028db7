// SPDX-License-Identifier: BSD-3-Clause
// How long each rank computes in each iteration. A function of (seed, machine, iteration), slow spells apart, which depend on the
// virtual time too: so the same under every case and in every order of ranks, and a slow GPU stays where it is when ranks move.
#pragma once

#include <cstdint>
#include <vector>

#include "policy/simulation/draws.h"
#include "policy/simulation/scenario.h"
#include "policy/simulation/wiring.h"

namespace paced::simulation {

class ComputeTimes {
public:
    // order: the slot of each position.
    ComputeTimes(const Scenario& scenario, const Wiring& wiring, const std::vector<std::uint32_t>& order, std::uint64_t seed);

    // Seconds; now: when the iteration begins. Of one rank now never steps back.
    double draw(std::uint32_t rank, std::uint32_t iteration, double now) {
        if (!replay_.empty()) return replay_[static_cast<std::size_t>((iteration + rotated_) % rows_) * columns_ + rank % columns_];
        const Rank& one = ranks_[rank];
        const std::uint64_t bits = mixed(one.key + iteration * 0x9e3779b97f4a7c15u);
        double seconds = static_cast<double>(one.mean_s) * static_cast<double>(noise_(bits));
        if (common_) seconds *= static_cast<double>(node_noise_(mixed(nodes_[one.node].key + iteration * 0x9e3779b97f4a7c15u)));
        if (slow_rate_ > 0 && is_slow(nodes_[one.node], now)) seconds *= slow_factor_;
        if (dealt_) seconds = deal(bits, seconds);
        if (event_below_ != 0 && (bits & 0xffff'ffff'ffffu) < event_below_) seconds -= event_mean_s_ * std::log(uniform_of(mixed(bits)));
        return seconds;
    }

    // By how much more or less than its part the compute before a call takes, as a part of it.
    bool has_segments() const { return segments_; }
    double segment(std::uint32_t rank, std::uint32_t iteration, std::uint32_t call) const {
        return static_cast<double>(segment_noise_(mixed(segment_seed_ + rank, iteration, call))) - 1;
    }

    // Of a healthy rank, in the mean.
    double mean_s() const { return mean_s_; }

private:
    struct Rank {
        std::uint64_t key = 0;
        float mean_s = 0;
        std::uint32_t node = 0;
    };
    struct MachineNode {
        std::uint64_t key = 0;
        double begins = 0, ends = 0;  // of the running or next slow spell
        Draws draws{0};
    };

    bool is_slow(MachineNode& node, double now);
    double deal(std::uint64_t bits, double seconds) const;

    std::vector<Rank> ranks_;
    std::vector<MachineNode> nodes_;
    Lognormal noise_, node_noise_, segment_noise_;
    bool common_ = false, dealt_ = false, segments_ = false;
    std::uint64_t segment_seed_ = 0;
    double mean_s_ = 0;
    std::uint64_t event_below_ = 0;
    double event_mean_s_ = 0;
    double slow_rate_ = 0, slow_mean_s_ = 0, slow_factor_ = 1;  // rate: of a node, 1/s
    double level_s_ = 0, cost_s_ = 0, pieces_ = 1;              // dealt: when all would end if work were a fluid
    std::vector<float> replay_;
    std::uint32_t rows_ = 0, columns_ = 1, rotated_ = 0;
};

}  // namespace paced::simulation
