// SPDX-License-Identifier: BSD-3-Clause
#include "policy/simulation/plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "policy/placement/binding.h"
#include "policy/placement/order/double_tree.h"

namespace paced::simulation {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
// Up to so many pairs an all-to-all is hashed flow by flow; beyond, as a draw of how many flows fall on a link.
constexpr std::uint64_t pairs_one_by_one = 4096;

using topology::Relation;

Relation listed(const std::vector<Relation>& list, std::uint32_t local) { return list.empty() ? Relation::pix : list[local % list.size()]; }

// The way that each local rank's data take to its NIC.
std::vector<Relation> relations_of(const Node& node, bool bound) {
    std::vector<Relation> found;
    if (!node.topology || node.topology->gpus.empty() || node.topology->nics.empty()) {
        for (std::uint32_t local = 0; local < node.ranks; ++local) found.push_back(listed(bound ? node.bound : node.unbound, local));
        return found;
    }
    const topology::NodeTopology& real = *node.topology;
    if (bound) {
        const placement::NodeBinding binding = placement::bind_tasks(real, {.tasks = static_cast<int>(node.ranks)});
        for (const placement::TaskBinding& task : binding.tasks) found.push_back(task.relation.value_or(Relation::sys));
    }
    for (auto local = static_cast<std::uint32_t>(found.size()); local < node.ranks; ++local) {
        const auto gpu = static_cast<topology::GpuIndex>(local % real.gpus.size());
        const auto nic = static_cast<topology::NicIndex>(local % real.nics.size());
        found.push_back(topology::relation_between(real, gpu, nic));
    }
    return found;
}

double passes_of(Operation operation) { return operation == Operation::allreduce ? 2 : 1; }

}  // namespace

Planner::Planner(const Scenario& scenario, const Wiring& wiring, const std::vector<std::uint32_t>& order, bool bound)
    : scenario_(scenario), wiring_(wiring), order_(order), ranks_(scenario.node.ranks), weight_(wiring.links().size(), 0.0), flows_(wiring.links().size(), 0.0f),
      users_(wiring.links().size(), 0), last_user_(wiring.links().size(), ~std::uint32_t{0}) {
    for (const Relation relation : relations_of(scenario.node, bound)) share_.push_back(scenario.node.rate_share[static_cast<std::size_t>(relation)]);
}

bool Planner::is_on_one_node(const Members& members) const { return node_of(members.first) == node_of(members.rank(members.count - 1)); }

Planner::Lanes Planner::lanes_of(const Members& members, std::uint32_t& local) const {
    local = 1;
    while (local < members.count && node_of(members.rank(local)) == node_of(members.first)) ++local;
    Lanes lanes;
    lanes.own = local == 1;
    for (std::uint32_t i = 0; i < local; ++i) {
        const std::uint32_t index = members.rank(i) % ranks_, nic = wiring_.nic_of(index);
        const auto at = std::find(lanes.nics.begin(), lanes.nics.end(), nic);
        if (at != lanes.nics.end()) continue;
        lanes.nics.push_back(nic);
        lanes.shares.push_back(share_[index]);
    }
    return lanes;
}

void Planner::load(std::uint32_t link, double weight, double flows) {
    if (weight_[link] == 0) touched_.push_back(link);
    weight_[link] += weight;
    flows_[link] += static_cast<float>(flows);
}

double Planner::add_edge(std::uint32_t from, std::uint32_t to, const Lanes& lanes, std::uint32_t channels, double weight, std::uint32_t from_local, std::uint32_t to_local) {
    const auto count = static_cast<double>(lanes.nics.size());
    for (std::size_t i = 0; i < lanes.nics.size(); ++i) {
        const std::uint32_t out = lanes.own ? wiring_.nic_of(from_local) : lanes.nics[i], in = lanes.own ? wiring_.nic_of(to_local) : lanes.nics[i];
        const double way = lanes.own ? std::min(share_[from_local], share_[to_local]) : lanes.shares[i];
        const double part = weight / count;
        limit_ = std::min(limit_, scenario_.node.nic_bytes_s * way / part);
        load(wiring_.out(from, out), part, channels);
        load(wiring_.in(to, in), part, channels);
        for (std::uint32_t channel = 0; channel < channels; ++channel)
            wiring_.path(from, to, wiring_.plane_of(in), std::uint64_t{in} << 32 | channel, [&](std::uint32_t link) { load(link, part / channels, 1); });
    }
    return scenario_.node.nic_latency_s + wiring_.latency(from, to);
}

// bytes: of a unit; chunk_bytes: what one flow sends before it waits for what others send.
Phase Planner::finish(double bytes, double chunk_bytes, double flows_per_unit) {
    Phase phase;
    phase.moves = !touched_.empty();
    phase.transfer.bytes = bytes;
    phase.transfer.most_bytes_s = limit_;
    phase.transfer.flows_per_unit = flows_per_unit;
    phase.transfer.window_bytes = std::min(scenario_.fabric.overload.window_bytes, chunk_bytes);
    phase.alone_bytes_s = limit_;
    std::sort(touched_.begin(), touched_.end());
    for (const std::uint32_t link : touched_) {
        phase.transfer.uses.push_back({link, flows_[link], weight_[link]});
        phase.carried.push_back({link, static_cast<float>(weight_[link])});
        phase.alone_bytes_s = std::min(phase.alone_bytes_s, wiring_.links()[link].bytes_s / weight_[link]);
        weight_[link] = 0;
        flows_[link] = 0;
    }
    touched_.clear();
    limit_ = infinite;
    return phase;
}

Phase Planner::inside(double bytes, double hops) const {
    Phase phase;
    phase.latency_s = hops * scenario_.node.internal_latency_s;
    phase.internal_s = bytes / scenario_.node.internal_bytes_s;
    return phase;
}

// A chunk passes passes * (n - 1) edges one after the other, and the ring moves at the pace of its slowest edge.
void Planner::ring(Plan& plan, const Members& members, const Traffic& traffic, double bytes, double passes) {
    std::uint32_t local = 0;
    const Lanes lanes = lanes_of(members, local);
    const std::uint32_t n = members.count;
    double latency = 0;
    bool inner = false;
    for (std::uint32_t i = 0; i < n; ++i) {
        const std::uint32_t from = members.rank(i), to = members.rank(i + 1 < n ? i + 1 : 0);
        if (node_of(from) == node_of(to)) {
            latency += scenario_.node.internal_latency_s;
            inner = true;
        } else {
            latency += add_edge(slot_of(from), slot_of(to), lanes, traffic.channels, 1, from % ranks_, to % ranks_);
        }
    }
    if (inner) limit_ = std::min(limit_, scenario_.node.internal_bytes_s);
    const double edge_bytes = passes * (n - 1) / n * bytes, flows = static_cast<double>(lanes.nics.size()) * traffic.channels;
    const bool moves = !touched_.empty();
    Phase phase = moves ? finish(edge_bytes, bytes / n / flows, flows) : inside(edge_bytes, 0);
    phase.latency_s = passes * (n - 1) * latency / n;
    plan.phases.push_back(std::move(phase));
}

void Planner::tree(Plan& plan, const Members& members, const Traffic& traffic, double bytes) {
    std::uint32_t local = 0;
    const Lanes lanes = lanes_of(members, local);
    const std::uint32_t nodes = members.count / local;
    const auto parent = placement::double_binary_tree(nodes);
    double hop = 0;
    for (const auto& tree : parent) {
        for (std::uint32_t child = 0; child < nodes; ++child) {
            const std::uint32_t up = tree[child];
            if (up == child) continue;
            const std::uint32_t low = members.rank(child * local), high = members.rank(up * local);
            hop = std::max(hop, add_edge(slot_of(low), slot_of(high), lanes, traffic.channels, 1, low % ranks_, high % ranks_));
            add_edge(slot_of(high), slot_of(low), lanes, traffic.channels, 1, high % ranks_, low % ranks_);
        }
    }
    // the chain within a node carries both trees, up and down by links of their own
    if (local > 1) limit_ = std::min(limit_, scenario_.node.internal_bytes_s / 2);
    const double flows = static_cast<double>(lanes.nics.size()) * traffic.channels, depth = std::floor(std::log2(static_cast<double>(nodes)));
    Phase phase = finish(bytes / 2, bytes / 2 / flows, flows);
    phase.latency_s = 2 * (depth * hop + (local - 1) * scenario_.node.internal_latency_s);
    plan.phases.push_back(std::move(phase));
}

void Planner::hierarchical(Plan& plan, const Members& members, const Traffic& traffic, double bytes, double passes) {
    std::uint32_t local = 0;
    lanes_of(members, local);
    const std::uint32_t nodes = members.count / local;
    const double part = bytes / local;
    if (local > 1 && traffic.operation != Operation::allgather) plan.phases.push_back(inside((local - 1) * part, local - 1));
    double latency = 0;
    for (std::uint32_t lane = 0; lane < local; ++lane) {
        Lanes own;
        own.own = true;
        const std::uint32_t index = members.rank(lane) % ranks_;
        own.nics.push_back(wiring_.nic_of(index));
        own.shares.push_back(share_[index]);
        for (std::uint32_t i = 0; i < nodes; ++i) {
            const std::uint32_t from = members.rank(i * local + lane), to = members.rank((i + 1 < nodes ? i + 1 : 0) * local + lane);
            latency += add_edge(slot_of(from), slot_of(to), own, traffic.channels, 1, index, index);
        }
    }
    const double edge_bytes = passes * (nodes - 1) / nodes * part;
    Phase phase = finish(edge_bytes, part / nodes / traffic.channels, traffic.channels);
    phase.latency_s = passes * (nodes - 1) * latency / (static_cast<double>(nodes) * local);
    plan.phases.push_back(std::move(phase));
    if (local > 1 && traffic.operation != Operation::reduce_scatter) plan.phases.push_back(inside((local - 1) * part, local - 1));
}

// Units are the messages of one pair of ranks. With few of them under way at once the flows that meet are as many fewer.
void Planner::direct(Plan& plan, const Members& members, const Traffic& traffic, double bytes) {
    std::uint32_t local = 0;
    const Lanes lanes = lanes_of(members, local);
    const std::uint32_t n = members.count;
    double latency = scenario_.node.internal_latency_s;
    if (std::uint64_t{n} * n <= pairs_one_by_one) {
        for (std::uint32_t i = 0; i < n; ++i) {
            for (std::uint32_t j = 0; j < n; ++j) {
                const std::uint32_t from = members.rank(i), to = members.rank(j);
                if (node_of(from) != node_of(to)) latency = std::max(latency, add_edge(slot_of(from), slot_of(to), lanes, traffic.channels, 1, from % ranks_, to % ranks_));
            }
        }
        // all ranks of a node send over its NICs at once, not one unit alone
        limit_ = infinite;
        for (std::size_t i = 0; i < lanes.nics.size(); ++i)
            limit_ = std::min(limit_, scenario_.node.nic_bytes_s * lanes.shares[i] * static_cast<double>(lanes.nics.size()) / (static_cast<double>(local) * (n - local)));
    } else {
        direct_by_counts(members, lanes, local, traffic.channels);
        for (std::uint32_t i = 1; i < n / local; ++i) latency = std::max(latency, scenario_.node.nic_latency_s + wiring_.latency(slot_of(members.first), slot_of(members.rank(i * local))));
    }
    const double flows = static_cast<double>(lanes.nics.size()) * traffic.channels;
    if (traffic.outstanding > 0 && traffic.outstanding < n - 1)
        for (const std::uint32_t link : touched_) flows_[link] *= static_cast<float>(traffic.outstanding) / static_cast<float>(n - 1);
    Phase phase = finish(bytes / n, bytes / n / flows, flows);
    phase.transfer.apart = traffic.outstanding != 1;
    phase.latency_s = latency;
    phase.internal_s = (local - 1) * (bytes / n) / scenario_.node.internal_bytes_s;
    plan.phases.push_back(std::move(phase));
}

// Of many ranks: how many messages leave a node, and a subtree; which of a switch's parallel links they fall on is drawn.
void Planner::direct_by_counts(const Members& members, const Lanes& lanes, std::uint32_t local, std::uint32_t channels) {
    const double n = members.count;
    const auto lane_count = static_cast<double>(lanes.nics.size());
    std::vector<double> inside_of(wiring_.tree().size());
    for (std::uint32_t i = 0; i < members.count; i += local) {
        const std::uint32_t slot = slot_of(members.rank(i)), index = members.rank(i) % ranks_;
        for (std::size_t k = 0; k < lanes.nics.size(); ++k) {
            const std::uint32_t nic = lanes.own ? wiring_.nic_of(index) : lanes.nics[k];
            const double messages = local * (n - local) / lane_count, way = lanes.own ? share_[index] : lanes.shares[k];
            limit_ = std::min(limit_, scenario_.node.nic_bytes_s * way / messages);
            load(wiring_.out(slot, nic), messages, messages * lane_count * channels);
            load(wiring_.in(slot, nic), messages, messages * lane_count * channels);
        }
        for (auto at = static_cast<std::int32_t>(wiring_.leaf_of(slot)); at >= 0; at = wiring_.tree()[static_cast<std::size_t>(at)].parent) inside_of[static_cast<std::size_t>(at)] += local;
    }
    std::map<std::uint32_t, double> planes;  // and the part of the messages that go over each
    for (const std::uint32_t nic : lanes.nics) planes[wiring_.plane_of(nic)] += 1 / lane_count;
    for (std::uint32_t index = 0; index < wiring_.tree().size(); ++index) {
        const Wiring::Switch& one = wiring_.tree()[index];
        const double messages = inside_of[index] * (n - inside_of[index]);
        if (one.parent < 0 || messages <= 0) continue;
        for (const auto& [plane, share] : planes) {
            const double flows = messages * share * lane_count * channels, mean = flows / one.uplinks, spread = std::sqrt(mean * (1 - 1.0 / one.uplinks));
            for (std::uint32_t i = 0; i < one.uplinks; ++i) {
                for (std::uint32_t down = 0; down < 2; ++down) {
                    const std::uint32_t link = wiring_.uplink(index, plane, i) + down;
                    const double drawn = std::max(0.0, mean + spread * normal_quantile(uniform_of(mixed(wiring_.hash_seed(), link))));
                    if (drawn > 0) load(link, drawn * messages * share / flows, drawn);
                }
            }
        }
    }
}

void Planner::neighbour(Plan& plan, const Members& members, const Traffic& traffic, double bytes) {
    std::uint32_t local = 0;
    const Lanes lanes = lanes_of(members, local);
    double latency = 0;
    bool inner = false;
    for (std::uint32_t i = 0; i + 1 < members.count; ++i) {
        const std::uint32_t from = members.rank(i), to = members.rank(i + 1);
        if (node_of(from) == node_of(to)) inner = true;
        else latency = std::max(latency, add_edge(slot_of(from), slot_of(to), lanes, traffic.channels, 1, from % ranks_, to % ranks_));
    }
    if (inner) latency = std::max(latency, scenario_.node.internal_latency_s), limit_ = std::min(limit_, scenario_.node.internal_bytes_s);
    const double flows = static_cast<double>(lanes.nics.size()) * traffic.channels;
    const bool moves = !touched_.empty();
    Phase phase = moves ? finish(bytes, bytes / flows, flows) : inside(bytes, 0);
    phase.latency_s = latency;
    plan.phases.push_back(std::move(phase));
}

Plan Planner::plan(const Members& members, const Traffic& traffic, double bytes) {
    Plan plan;
    limit_ = infinite;
    const double passes = passes_of(traffic.operation);
    const bool one_node = is_on_one_node(members);
    if (traffic.operation == Operation::neighbour) neighbour(plan, members, traffic, bytes);
    else if (traffic.operation == Operation::alltoall) direct(plan, members, traffic, bytes);
    else if (!one_node && traffic.algorithm == Algorithm::tree) tree(plan, members, traffic, bytes);
    else if (!one_node && traffic.algorithm == Algorithm::hierarchical) hierarchical(plan, members, traffic, bytes, passes);
    else ring(plan, members, traffic, bytes, passes);
    limit_ = infinite;
    for (const Phase& phase : plan.phases) plan.alone_s += phase.latency_s + std::max(phase.internal_s, phase.moves ? phase.transfer.bytes / phase.alone_bytes_s : 0);
    return plan;
}

// A rank is at one call at a time, so a NIC that one rank alone has is never used by two.
void Planner::count_users(const Plan& plan, std::uint32_t user) {
    const bool nics_are_own = scenario_.node.ranks <= scenario_.node.nics;
    for (const Phase& phase : plan.phases) {
        for (const LinkShare& one : phase.carried) {
            if (last_user_[one.link] == user || (nics_are_own && wiring_.level_of_link(one.link) == 0)) continue;
            last_user_[one.link] = user;
            ++users_[one.link];
        }
    }
}

void Planner::count_background(const std::vector<std::uint32_t>& links) {
    for (const std::uint32_t link : links) users_[link] += 2;
}

void Planner::settle(Plan& plan) const {
    for (Phase& phase : plan.phases) {
        Transfer& transfer = phase.transfer;
        std::map<std::tuple<double, double, Link::Way>, std::uint32_t> ports;  // flows, what is held, which way: how many
        std::vector<Use> shared;
        for (const Use& use : transfer.uses) {
            const Link& link = wiring_.links()[use.link];
            if (users_[use.link] > 1) {
                shared.push_back(use);
                continue;
            }
            transfer.most_bytes_s = std::min(transfer.most_bytes_s, link.bytes_s / use.weight);
            if (std::isfinite(link.holds_bytes)) ++ports[{use.flows, link.holds_bytes, link.way}];
        }
        transfer.uses = std::move(shared);
        transfer.uses.shrink_to_fit();
        transfer.ports.clear();
        for (const auto& [port, count] : ports) {
            const auto& [flows, holds, way] = port;
            // what can never be full need not be looked at
            if (flows * transfer.window_bytes <= holds) continue;
            transfer.ports.push_back({flows, holds, count, way});
            plan.worst_full = std::max(plan.worst_full, flows * transfer.window_bytes / holds);
        }
        plan.shares = plan.shares || !transfer.uses.empty();
    }
}

}  // namespace paced::simulation
