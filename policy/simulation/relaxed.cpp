// SPDX-License-Identifier: BSD-3-Clause
#include "policy/simulation/relaxed.h"

#include <algorithm>
#include <numeric>

#include "policy/simulation/compute_times.h"
#include "policy/simulation/plan.h"
#include "policy/simulation/wiring.h"

namespace paced::simulation {
namespace {

std::uint32_t axis_size(const Scenario& scenario, const std::string& name, std::uint32_t ranks, std::uint32_t& stride) {
    std::uint64_t known = 1, before = 1;
    for (const Axis& axis : scenario.work.grid) known *= axis.size > 0 ? axis.size : 1;
    for (const Axis& axis : scenario.work.grid) {
        const std::uint64_t size = axis.size > 0 ? axis.size : ranks / known;
        if (axis.name == name) {
            stride = static_cast<std::uint32_t>(before);
            return static_cast<std::uint32_t>(size);
        }
        before *= size;
    }
    stride = 1;
    return ranks;
}

}  // namespace

bool is_relaxed(const Scenario& scenario, std::uint32_t nodes) {
    if (scenario.work.synchronisation != Synchronisation::bulk) return true;
    std::uint32_t stride = 1;
    return std::all_of(scenario.work.traffic.begin(), scenario.work.traffic.end(), [&](const Traffic& traffic) { return axis_size(scenario, traffic.axis, nodes * scenario.node.ranks, stride) < 2; });
}

Outcome simulate_relaxed(const Scenario& scenario, const Run& run, const Told& told) {
    Outcome outcome;
    outcome.ran = run.ran;
    outcome.nodes = run.nodes;
    outcome.seed = run.seed;
    const bool ours = run.ran == Case::ordered || run.ran == Case::paced;
    const Wiring wiring(scenario, run.nodes, run.seed);
    std::vector<std::uint32_t> order(run.nodes);
    std::iota(order.begin(), order.end(), 0u);
    if (ours) order = wiring.ordered(scenario, outcome.reasons);
    for (std::size_t i = 0; i < order.size(); ++i) outcome.steps_crossing += wiring.leaf_of(order[i]) != wiring.leaf_of(order[(i + 1) % order.size()]) ? 1 : 0;
    const std::uint32_t ranks = run.nodes * scenario.node.ranks, total = scenario.warmup + scenario.iterations;
    ComputeTimes compute(scenario, wiring, order, run.seed);
    Planner planner(scenario, wiring, order, ours);

    // The exchange of one iteration: of all members together, and what a rank's own NIC or internal way alone would take.
    double together = 0, own = 0;
    std::uint32_t size = 1, stride = 1;
    for (const Traffic& traffic : scenario.work.traffic) {
        const std::uint32_t members = axis_size(scenario, traffic.axis, ranks, stride);
        if (members < 2) continue;
        size = members;
        const Plan plan = planner.plan({0, stride, members}, traffic, traffic.bytes * scenario.work.volume_factor / traffic.buckets);
        for (const Phase& phase : plan.phases) {
            const double inner = phase.latency_s + phase.internal_s;
            own += traffic.buckets * (inner + (phase.moves ? phase.transfer.bytes / scenario.node.nic_bytes_s : 0));
        }
        together += traffic.buckets * plan.alone_s;
    }
    std::uint32_t parts = ranks / size;
    if (size < 2 || scenario.work.synchronisation == Synchronisation::asynchronous) parts = 1;
    const std::uint32_t per_part = ranks / parts;
    // Members of part p: p / stride * stride * size + p % stride + i * stride.
    const bool stale = size > 1 && scenario.work.synchronisation == Synchronisation::stale;
    std::vector<double> begin(ranks), ends(std::size_t{parts} * total);
    std::vector<double> exchanged(std::size_t{parts} * total);
    double busy = 0, exchanges = 0;
    Shares sums;
    for (std::uint32_t k = 0; k < total; ++k) {
        const bool measured = k >= scenario.warmup;
        if (told && k % 16 == 0 && !told(k, total)) return outcome;
        for (std::uint32_t part = 0; part < parts; ++part) {
            double last = 0, sum = 0;
            const double released = stale && k > scenario.work.staleness ? exchanged[std::size_t{part} * total + k - 1 - scenario.work.staleness] : 0;
            for (std::uint32_t i = 0; i < per_part; ++i) {
                const std::uint32_t rank = stale ? part / stride * stride * size + part % stride + i * stride : i;
                const double from = std::max(begin[rank], released), took = compute.draw(rank, k, from);
                double end = from + took;
                if (measured) sums.compute += took, sums.waiting += from - begin[rank];
                if (scenario.work.synchronisation == Synchronisation::asynchronous && size > 1) {
                    // the part of its time that a rank exchanges: how many others it meets
                    const double part_of_time = busy > 0 ? exchanges / busy : 1, met = std::max(1.0 / size, part_of_time);
                    const double exchange = std::max(own, together * met);
                    busy += took + exchange;
                    exchanges += exchange;
                    end += exchange;
                    if (measured) sums.transfer += exchange;
                }
                begin[rank] = end;
                last = std::max(last, end);
                sum += end;
            }
            if (stale) {
                const double before = k > 0 ? exchanged[std::size_t{part} * total + k - 1] : 0;
                exchanged[std::size_t{part} * total + k] = std::max(last, before) + together;
            }
            ends[std::size_t{part} * total + k] = sum / per_part;  // ranks are apart: their mean
        }
        outcome.events += ranks;
    }
    double rate = 0;
    outcome.parts = parts;
    for (std::uint32_t part = 0; part < parts; ++part) {
        double before = scenario.warmup > 0 ? ends[std::size_t{part} * total + scenario.warmup - 1] : 0;
        const double took = ends[std::size_t{part} * total + total - 1] - before;
        outcome.seconds += took / parts;
        rate += scenario.iterations / took / parts;
        for (std::uint32_t k = scenario.warmup; k < total; ++k) {
            outcome.iteration_s.push_back(static_cast<float>(ends[std::size_t{part} * total + k] - before));
            before = ends[std::size_t{part} * total + k];
        }
    }
    outcome.throughput = rate * scenario.work.samples * (scenario.work.scaling == Scaling::weak ? ranks : 1);
    const double each = static_cast<double>(scenario.iterations) * ranks;
    outcome.shares = {sums.compute / each, sums.waiting / each, sums.transfer / each, 0, 0, 0};
    return outcome;
}

}  // namespace paced::simulation
