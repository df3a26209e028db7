// SPDX-License-Identifier: BSD-3-Clause
// What of a scenario cannot be simulated. Quick whatever stands in it: nothing here is built, and loops go over what was written alone.
#include <algorithm>
#include <cmath>
#include <set>

#include "policy/base/text.h"
#include "policy/pacing/tuning.h"
#include "policy/simulation/scenario.h"

namespace paced::simulation {
namespace {

// Beyond these it is a slip, or more than the memory of a usual machine.
constexpr double most_nodes = 1e6, most_ranks = 1 << 24, most_seconds = 1e6, most_bytes = 1e15;

std::string number(double value) {
    if (value == std::floor(value) && std::fabs(value) < 1e15) return std::to_string(static_cast<long long>(value));
    std::string text = std::to_string(value);
    while (text.back() == '0') text.pop_back();
    if (text.back() == '.') text.pop_back();
    return text;
}

std::string numbered(const std::string& list, std::size_t index) { return list + '[' + std::to_string(index) + ']'; }

class Check {
public:
    std::vector<Problem> found;

    void add(std::string field, std::string message, std::vector<std::string> also = {}) { found.push_back({std::move(field), std::move(message), std::move(also)}); }

    bool within(const std::string& field, double value, double least, double most) {
        if (value >= least && value <= most) return true;
        if (!std::isfinite(value)) add(field, "must be a finite number");
        else add(field, "must be " + number(least) + " to " + number(most) + ", not " + number(value));
        return false;
    }
    // Above 0.
    bool positive(const std::string& field, double value, double most) {
        if (value > 0 && value <= most) return true;
        if (!std::isfinite(value)) add(field, "must be a finite number");
        else if (value > most) add(field, "must be at most " + number(most) + ", not " + number(value));
        else add(field, "must be above 0, not " + number(value));
        return false;
    }
    bool share(const std::string& field, double value) { return within(field, value, 0, 1); }
};

void check_fabric(const Fabric& fabric, Check& check) {
    check.within("fabric.nodes", fabric.nodes, 1, most_nodes);
    check.within("fabric.rails", fabric.rails, 1, 64);
    std::set<std::string> names;
    double below = fabric.nodes;
    for (std::size_t i = 0; i < fabric.levels.size(); ++i) {
        const Level& level = fabric.levels[i];
        const std::string at = numbered("fabric.level", i) + '.';
        if (level.name.empty()) check.add(at + "name", "is empty");
        else if (!names.insert(level.name).second) check.add(at + "name", "'" + level.name + "' is the name of another level");
        const bool counted = check.within(at + "below", level.below, 1, most_nodes);
        check.within(at + "uplinks", level.uplinks, 1, 4096);
        if (level.uplink_bytes_s != 0) check.positive(at + "uplink_bytes_s", level.uplink_bytes_s, most_bytes);
        else check.positive(at + "oversubscription", level.oversubscription, 1e6);
        check.within(at + "buffer_bytes", level.buffer_bytes, 0, most_bytes);
        check.within(at + "latency_s", level.latency_s, 0, 1);
        if (!counted || fabric.read) continue;
        below = std::ceil(below / level.below);
        if (i + 1 == fabric.levels.size() && below > 1)
            check.add(at + "below", number(below) + " switches would be on top with nothing to connect them; the top level must take all that is below it", {"fabric.nodes"});
    }
    const Overload& overload = fabric.overload;
    check.positive("fabric.overload.window_bytes", overload.window_bytes, most_bytes);
    check.within("fabric.overload.round_trip_s", overload.round_trip_s, 0, most_seconds);
    check.within("fabric.overload.rto_s", overload.rto_s, 0, most_seconds);
    check.within("fabric.overload.loss_scale", overload.loss_scale, 0, 1e6);
    check.positive("fabric.overload.loss_power", overload.loss_power, 100);
    check.share("fabric.overload.pause_spread", overload.pause_spread);
    check.positive("fabric.overload.burst_share", overload.burst_share, 1e6);
    if (fabric.read && fabric.read->host_count() == 0) check.add("fabric.file", "has no node whose switch is known");
}

void check_node(const Scenario& scenario, Check& check) {
    const Node& node = scenario.node;
    check.within("node.gpus", node.gpus, 0, 1024);
    check.within("node.ranks", node.ranks, 1, 1024);
    check.within("node.nics", node.nics, 1, 64);
    if (node.gpus > 0 && node.ranks > node.gpus) check.add("node.ranks", number(node.ranks) + " ranks need as many GPUs, and a node has " + number(node.gpus), {"node.gpus"});
    if (scenario.fabric.rails > node.nics) check.add("fabric.rails", number(scenario.fabric.rails) + " rails need as many NICs, and a node has " + number(node.nics), {"node.nics"});
    else if (scenario.fabric.rails > 0 && node.nics % scenario.fabric.rails != 0)
        check.add("fabric.rails", "the " + number(node.nics) + " NICs of a node cannot be spread evenly over " + number(scenario.fabric.rails) + " rails", {"node.nics"});
    check.positive("node.nic_bytes_s", node.nic_bytes_s, most_bytes);
    check.within("node.nic_latency_s", node.nic_latency_s, 0, 1);
    check.positive("node.internal_bytes_s", node.internal_bytes_s, most_bytes);
    check.within("node.internal_latency_s", node.internal_latency_s, 0, 1);
    for (std::size_t i = 0; i < std::size(node.rate_share); ++i)
        if (!(node.rate_share[i] > 0 && node.rate_share[i] <= 1)) check.add("node.rate_share", "each must be above 0 and at most 1, not " + number(node.rate_share[i]));
    if (!node.topology) return;
    std::size_t gpus = 0;
    for (const topology::Gpu& gpu : node.topology->gpus) gpus += static_cast<std::size_t>(std::max(1, gpu.partitions));
    if (gpus > 0 && node.ranks > gpus) check.add("node.ranks", number(node.ranks) + " ranks need as many GPUs, and the topology file has " + number(static_cast<double>(gpus)), {"node.topology"});
}

// Members of a group must be as many on each of its nodes, or all on one.
bool lies_evenly(std::uint64_t stride, std::uint64_t size, std::uint64_t on_node) {
    if (stride * size <= on_node) return on_node % (stride * size) == 0;
    if (stride >= on_node) return stride % on_node == 0;
    return on_node % stride == 0 && stride * size % on_node == 0;
}

void check_grid(const Scenario& scenario, Check& check) {
    const Work& work = scenario.work;
    std::set<std::string> names;
    std::vector<std::string_view> words;
    double known = 1;
    std::size_t open = 0;
    for (std::size_t i = 0; i < work.grid.size(); ++i) {
        const Axis& axis = work.grid[i];
        const std::string at = numbered("work.grid", i);
        if (axis.name.empty()) check.add(at + ".name", "is empty");
        else if (!names.insert(axis.name).second) check.add(at + ".name", "'" + axis.name + "' is the name of another axis");
        words.push_back(axis.name);
        if (axis.size == 0 && ++open == 2) check.add(at + ".size", "one axis alone may take what is left of the ranks");
        if (axis.size > 0) known *= axis.size;
    }
    for (std::size_t i = 0; i < work.traffic.size(); ++i) {
        const Traffic& traffic = work.traffic[i];
        const std::string at = numbered("work.traffic", i) + '.';
        if (!traffic.axis.empty() && names.count(traffic.axis) == 0)
            check.add(at + "axis", "'" + traffic.axis + "' is not in the grid" + (words.empty() ? "" : "; it has " + quoted_list(words)), {"work.grid"});
        check.positive(at + "bytes", traffic.bytes, most_bytes);
        check.within(at + "buckets", traffic.buckets, 1, 4096);
        check.share(at + "overlap", traffic.overlap);
        const bool placed = check.share(at + "from", traffic.from) && check.share(at + "to", traffic.to);
        if (placed && traffic.from > traffic.to) check.add(at + "from", "is after `to`", {at + "to"});
        check.within(at + "outstanding", traffic.outstanding, 0, most_ranks);
        if (traffic.outstanding > 0 && traffic.operation != Operation::alltoall) check.add(at + "outstanding", "is an all-to-all's alone", {at + "operation"});
        check.within(at + "channels", traffic.channels, 1, 64);
        const bool is_reduction = traffic.operation == Operation::allreduce || traffic.operation == Operation::reduce_scatter || traffic.operation == Operation::allgather;
        if (traffic.algorithm == Algorithm::tree && is_reduction && traffic.operation != Operation::allreduce) check.add(at + "algorithm", "a tree does an all-reduce alone", {at + "operation"});
        if (traffic.algorithm == Algorithm::direct && is_reduction) check.add(at + "algorithm", "direct is an all-to-all's alone", {at + "operation"});
        if (work.synchronisation != Synchronisation::bulk && traffic.axis != work.traffic[0].axis)
            check.add(at + "axis", "stale and asynchronous jobs have all their traffic on one axis", {"work.synchronisation", "work.traffic[0].axis"});
    }
    if (open > 1 || scenario.node.ranks == 0 || known > most_ranks) {
        if (known > most_ranks) check.add("work.grid", "has more than " + number(most_ranks) + " ranks");
        return;
    }
    if (work.grid.empty()) return;
    for (std::size_t i = 0; i < scenario.node_counts.size(); ++i) {
        const double ranks = static_cast<double>(scenario.node_counts[i]) * scenario.node.ranks;
        if (ranks == 0 || ranks > most_ranks) continue;
        if (open == 0 ? ranks != known : std::fmod(ranks, known) != 0) {
            check.add(numbered("node_counts", i), number(scenario.node_counts[i]) + " nodes have " + number(ranks) + " ranks, which the grid of " + number(known) + (open == 0 ? " is not" : " does not divide"),
                      {"work.grid", "node.ranks"});
            continue;
        }
        std::uint64_t stride = 1;
        for (const Axis& axis : work.grid) {
            const auto size = static_cast<std::uint64_t>(axis.size > 0 ? axis.size : ranks / known);
            if (!lies_evenly(stride, size, scenario.node.ranks))
                check.add("work.grid", "with " + number(scenario.node_counts[i]) + " nodes the groups of '" + axis.name + "' have more members on some nodes than on others", {"node.ranks", "node_counts"});
            stride *= size;
        }
    }
}

void check_work(const Scenario& scenario, Check& check) {
    const Work& work = scenario.work;
    check_grid(scenario, check);
    check.positive("work.samples", work.samples, 1e15);
    check.positive("work.volume_factor", work.volume_factor, 1e6);
    check.within("work.accumulation", work.accumulation, 1, 1e6);
    check.within("work.staleness", work.staleness, 1, 1e6);
    check.within("work.pieces", work.pieces, 1, 1e6);
    check.within("work.assignment_cost_s", work.assignment_cost_s, 0, most_seconds);
    check.within("work.reference_nodes", work.reference_nodes, 0, most_nodes);
}

void check_compute(const Compute& compute, Check& check) {
    check.positive("compute.mean_s", compute.mean_s, most_seconds);
    check.within("compute.sigma", compute.sigma, 0, 3);
    check.within("compute.segment_sigma", compute.segment_sigma, 0, 3);
    check.within("compute.persistent", compute.persistent, 0, 3);
    check.share("compute.node_share", compute.node_share);
    check.share("compute.event_probability", compute.event_probability);
    check.within("compute.event_mean_s", compute.event_mean_s, 0, most_seconds);
    check.within("compute.slow_per_node_hour", compute.slow_per_node_hour, 0, 3600);
    check.positive("compute.slow_mean_s", compute.slow_mean_s, 1e9);
    check.within("compute.slow_factor", compute.slow_factor, 1, 1000);
    check.share("compute.theft", compute.theft);
    check.share("compute.spin_theft", compute.spin_theft);
    if (!compute.replay) return;
    const Replay& replay = *compute.replay;
    if (replay.ranks == 0 || replay.compute_s.empty() || replay.compute_s.size() % replay.ranks != 0) check.add("compute.replay", "does not hold one time for each rank and iteration");
    else if (!std::all_of(replay.compute_s.begin(), replay.compute_s.end(), [](float seconds) { return seconds > 0 && seconds < 1e6f; }))
        check.add("compute.replay", "has a time that is none");
}

void check_disturbances(const Scenario& scenario, Check& check) {
    if (check.share("fabric_events.probability", scenario.fabric_events.probability) && scenario.fabric_events.probability == 1)
        check.add("fabric_events.probability", "must be below 1");
    check.within("fabric_events.mean_s", scenario.fabric_events.mean_s, 0, most_seconds);
    std::vector<std::string> levels;
    const Fabric& fabric = scenario.fabric;
    if (fabric.read) {
        for (int level = 0; level + 1 < fabric.read->levels(); ++level) levels.push_back(topology::level_name(fabric.read->kind, level));
    } else {
        for (std::size_t i = 0; i + 1 < fabric.levels.size(); ++i) levels.push_back(fabric.levels[i].name);
    }
    for (std::size_t i = 0; i < scenario.background.size(); ++i) {
        const Background& background = scenario.background[i];
        const std::string at = numbered("background", i) + '.';
        if (levels.empty()) check.add(at + "level", "the fabric has no uplinks for others' traffic", {"fabric.level"});
        else if (!background.level.empty() && std::find(levels.begin(), levels.end(), background.level) == levels.end())
            check.add(at + "level", "'" + background.level + "' is no level with uplinks", {"fabric.level"});
        check.share(at + "share", background.share);
        check.positive(at + "period_s", background.period_s, most_seconds);
        if (background.period_s > 0 && background.period_s < 1e-6) check.add(at + "period_s", "is below a microsecond");
        check.share(at + "duty", background.duty);
        if (!(background.rate_share > 0 && background.rate_share <= 1)) check.add(at + "rate_share", "must be above 0 and at most 1");
        check.within(at + "jitter", background.jitter, 0, 3);
    }
}

void check_pacing(const Pacing& pacing, Check& check) {
    paced::pacing::Tuning tuning;
    paced::pacing::WrongToken wrong;
    if (!paced::pacing::parse_tuning(pacing.tuning.data(), pacing.tuning.size(), tuning, wrong))
        check.add("pacing.tuning", "'" + pacing.tuning.substr(std::min(wrong.at, pacing.tuning.size()), wrong.length) + "': " + wrong.why);
    if (!std::isfinite(pacing.window_s) || pacing.window_s > most_seconds) check.add("pacing.window_s", "must be a time");
    check.within("pacing.control.latency_s", pacing.control.latency_s, 0, 10);
    check.within("pacing.control.jitter_s", pacing.control.jitter_s, 0, 10);
    check.within("pacing.control.loss", pacing.control.loss, 0, 0.99);
    check.within("pacing.control.interval_s", pacing.control.interval_s, 0.001, 60);
    check.within("pacing.recipe_threshold", pacing.recipe_threshold, 0, 10);
    check.within("pacing.recipe_delay", pacing.recipe_delay, 0, 10);
}

void check_runs(const Scenario& scenario, Check& check) {
    if (scenario.node_counts.empty()) check.add("node_counts", "is empty");
    const bool is_read = scenario.fabric.read.has_value();
    const auto nodes = static_cast<double>(is_read ? scenario.fabric.read->host_count() : scenario.fabric.nodes);
    for (std::size_t i = 0; i < scenario.node_counts.size(); ++i) {
        const std::string at = numbered("node_counts", i);
        if (!check.within(at, scenario.node_counts[i], 1, most_nodes)) continue;
        if (scenario.node_counts[i] > nodes)
            check.add(at, number(scenario.node_counts[i]) + " nodes are more than the " + number(nodes) + " of the fabric", {is_read ? "fabric.file" : "fabric.nodes"});
        if (static_cast<double>(scenario.node_counts[i]) * scenario.node.ranks > most_ranks) check.add(at, "more than " + number(most_ranks) + " ranks", {"node.ranks"});
    }
    check.within("seeds", scenario.seeds, 1, 10000);
    check.within("iterations", scenario.iterations, 10, 1e7);
    check.within("warmup", scenario.warmup, 0, 1e6);
}

}  // namespace

std::vector<Problem> problems_of(const Scenario& scenario) {
    Check check;
    check_fabric(scenario.fabric, check);
    check_node(scenario, check);
    check_work(scenario, check);
    check_compute(scenario.compute, check);
    check_disturbances(scenario, check);
    check_pacing(scenario.pacing, check);
    check_runs(scenario, check);
    return check.found;
}

}  // namespace paced::simulation
