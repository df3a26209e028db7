// SPDX-License-Identifier: BSD-3-Clause
#include "policy/simulation/compute_times.h"

#include <algorithm>

namespace paced::simulation {
namespace {

// Of one step's noise, what remains over several steps in a row, and of it the part that is a rank's own or its node's. None in a replay.
double sigma_of(const Scenario& scenario, double share) {
    return scenario.compute.replay ? 0 : scenario.compute.sigma * std::sqrt(share / scenario.work.accumulation);
}

}  // namespace

ComputeTimes::ComputeTimes(const Scenario& scenario, const Wiring& wiring, const std::vector<std::uint32_t>& order, std::uint64_t seed)
    : noise_(sigma_of(scenario, 1 - scenario.compute.node_share)), node_noise_(sigma_of(scenario, scenario.compute.node_share)),
      segment_noise_(scenario.compute.segment_sigma), common_(scenario.compute.node_share > 0), dealt_(scenario.work.assignment == Assignment::dynamic),
      segments_(scenario.compute.segment_sigma > 0), segment_seed_(mixed(seed, 0x7365'676d)), event_mean_s_(scenario.compute.event_mean_s), slow_rate_(scenario.compute.slow_per_node_hour / 3600),
      slow_mean_s_(scenario.compute.slow_mean_s), slow_factor_(scenario.compute.slow_factor), cost_s_(scenario.work.assignment_cost_s), pieces_(scenario.work.pieces) {
    const Compute& compute = scenario.compute;
    const auto nodes = static_cast<std::uint32_t>(order.size());
    double scale = scenario.work.accumulation;
    if (scenario.work.scaling == Scaling::strong) {
        const std::uint32_t smallest = scenario.node_counts.empty() ? nodes : *std::min_element(scenario.node_counts.begin(), scenario.node_counts.end());
        scale *= static_cast<double>(scenario.work.reference_nodes > 0 ? scenario.work.reference_nodes : smallest) / nodes;
    }
    mean_s_ = compute.mean_s * scale;
    event_below_ = static_cast<std::uint64_t>(compute.event_probability * 0x1p48);
    if (compute.replay) {
        replay_ = compute.replay->compute_s;
        columns_ = compute.replay->ranks;
        rows_ = static_cast<std::uint32_t>(replay_.size() / columns_);
        rotated_ = static_cast<std::uint32_t>(mixed(seed, 0x7265'706c) % rows_);
        double sum = 0;
        for (float& seconds : replay_) {
            seconds = static_cast<float>(seconds * (scenario.work.scaling == Scaling::strong ? scale / scenario.work.accumulation : 1));
            sum += static_cast<double>(seconds);
        }
        mean_s_ = sum / static_cast<double>(replay_.size());
        return;
    }
    const std::uint64_t own = mixed(seed, 0x7261'6e6b), lasting = mixed(seed, 0x7065'7273), shared = mixed(seed, 0x6e6f'6465);
    double speeds = 0;
    for (std::uint32_t position = 0; position < nodes; ++position) {
        const std::uint32_t host = wiring.host_of(order[position]);
        MachineNode node;
        node.key = mixed(shared, host);
        node.draws = Draws(mixed(node.key, 1));
        if (slow_rate_ > 0) {
            // as many are in a spell at the beginning as at any time
            const bool in_spell = node.draws.uniform() < slow_rate_ * slow_mean_s_ / (1 + slow_rate_ * slow_mean_s_);
            node.begins = in_spell ? 0 : node.draws.exponential(1 / slow_rate_);
            node.ends = node.begins + node.draws.exponential(slow_mean_s_);
        }
        nodes_.push_back(node);
        for (std::uint32_t local = 0; local < scenario.node.ranks; ++local) {
            const std::uint64_t machine = std::uint64_t{host} << 16 | local;
            const double p = compute.persistent, factor = p > 0 ? std::exp(p * normal_quantile(uniform_of(mixed(lasting, machine))) - p * p / 2) : 1;
            ranks_.push_back({mixed(own, machine), static_cast<float>(mean_s_ * factor), position});
            speeds += 1 / factor;
        }
    }
    level_s_ = mean_s_ * static_cast<double>(ranks_.size()) / speeds;
}

bool ComputeTimes::is_slow(MachineNode& node, double now) {
    while (now >= node.ends) {
        node.begins = node.ends + node.draws.exponential(1 / slow_rate_);
        node.ends = node.begins + node.draws.exponential(slow_mean_s_);
    }
    return now >= node.begins;
}

// Work is taken piece by piece until none is left: a rank ends up to one of its own pieces after the fluid's end, evenly spread.
double ComputeTimes::deal(std::uint64_t bits, double seconds) const {
    const double piece = seconds / pieces_;
    return level_s_ + piece * (uniform_of(mixed(bits, 2)) - 0.5) + cost_s_;
}

}  // namespace paced::simulation
