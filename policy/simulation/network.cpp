// SPDX-License-Identifier: BSD-3-Clause
#include "policy/simulation/network.h"

#include <algorithm>
#include <cmath>

namespace paced::simulation {
namespace {

constexpr double segment_bytes = 1460;
constexpr double infinite = std::numeric_limits<double>::infinity();
// Two links are full at the same time if their levels differ by less than this part.
constexpr double alike = 1e-12;

}  // namespace

Network::Network(std::vector<Link> links, std::uint32_t switches, Transport transport, const Overload& overload, std::uint64_t seed, Queue& queue)
    : links_(std::move(links)), states_(links_.size()), paused_(switches, 0), out_of_(switches), into_(switches), transport_(transport), overload_(overload), draws_(seed),
      queue_(queue) {
    for (std::uint32_t i = 0; i < links_.size(); ++i) {
        if (links_[i].out_of >= 0) out_of_[static_cast<std::size_t>(links_[i].out_of)].push_back(i);
        if (links_[i].into >= 0) into_[static_cast<std::size_t>(links_[i].into)].push_back(i);
    }
}

double Network::capacity(std::uint32_t link) const {
    const Link& one = links_[link];
    return one.into >= 0 ? one.bytes_s * (1 - paused_[static_cast<std::size_t>(one.into)]) : one.bytes_s;
}

double Network::window_of(const Start& start) const { return start.transfer->window_bytes * start.met; }

// A paced sender has no burst under way, but what its rate puts into one round trip, two segments, and what piles up before the port that lets
// less through than its rate: all but that much of what it sends. So a rate far above a fair share takes nothing away.
void Network::pace(Id id) {
    Flow& flow = flows_[id];
    const Start& start = flow.start;
    if (!std::isfinite(start.limit_bytes_s)) return;
    const double share = std::min(1.0, flow.rate / (start.transfer->flows_per_unit * start.limit_bytes_s));
    const double piled = start.transfer->bytes / start.transfer->flows_per_unit * (1 - share);
    const double window = std::min(flow.window, (start.limit_bytes_s * overload_.round_trip_s + 2 * segment_bytes + piled) * start.met);
    for (const Use& use : start.transfer->uses) states_[use.link].under_way -= use.flows * (flow.window - window);
    flow.window = window;
}

void Network::join(Id id) {
    Flow& flow = flows_[id];
    for (const Use& use : flow.start.transfer->uses) {
        states_[use.link].flows.push_back(id);
        states_[use.link].under_way += use.flows * flow.window;
    }
}

void Network::leave(Id id) {
    Flow& flow = flows_[id];
    for (const Use& use : flow.start.transfer->uses) {
        State& state = states_[use.link];
        const auto at = std::find(state.flows.begin(), state.flows.end(), id);
        *at = state.flows.back();
        state.flows.pop_back();
        state.under_way = state.flows.empty() ? 0 : state.under_way - use.flows * flow.window;
    }
    flow.active = false;
}

// All that share a link with it.
void Network::neighbours(Id id) {
    for (const Use& use : flows_[id].start.transfer->uses) seeds_.insert(seeds_.end(), states_[use.link].flows.begin(), states_[use.link].flows.end());
}

Network::Id Network::begin(const Start& start, double now) {
    Id id;
    if (free_.empty()) {
        id = static_cast<Id>(flows_.size());
        flows_.emplace_back();
    } else {
        id = free_.back();
        free_.pop_back();
    }
    Flow& flow = flows_[id];
    flow.start = start;
    flow.left = start.transfer->bytes;
    flow.rate = flow.moved = 0;
    flow.most = std::min(start.transfer->most_bytes_s, start.limit_bytes_s * start.transfer->flows_per_unit);
    flow.since = now;
    flow.window = window_of(start);
    flow.still_until = flow.not_before = 0;
    flow.active = true;
    flow.scheduled = false;
    ++flow.version;
    ++changes_;
    ++flow.generation;
    join(id);
    seeds_.assign(1, id);
    if (overload_.on && transport_ == Transport::lossless) look_for_pauses(id);
    share_out(now);
    pace(id);
    if (overload_.on && transport_ == Transport::tcp && !start.calm) look_for_overload(id, now);
    return id;
}

double Network::withdraw(Id id, double now) {
    Flow& flow = flows_[id];
    settle(flow, now);
    const double moved = flow.moved;
    leave(id);
    ++flow.version;
    ++changes_;
    free_.push_back(id);
    seeds_.clear();
    neighbours(id);
    if (overload_.on && transport_ == Transport::lossless) look_for_pauses(id);
    if (!seeds_.empty()) share_out(now);
    return moved;
}

bool Network::ended(const Event& event, std::uint32_t& owner, double& until) {
    const Flow& flow = flows_[event.subject];
    if (!flow.active || flow.version != event.detail) return false;
    owner = flow.start.owner;
    until = flow.not_before;
    withdraw(event.subject, event.at);
    return true;
}

void Network::stalled(const Event& event) {
    Flow& flow = flows_[event.subject];
    if (!flow.active || flow.generation != event.detail) return;
    const double until = event.at + overload_.rto_s;
    ++timeouts_;
    if (flow.start.transfer->apart) {
        // the one flow alone; what it has left goes quickly when the others are through
        flow.not_before = std::max(flow.not_before, until);
        return;
    }
    stalled_s_ += flow.start.part * (until - std::max(event.at, flow.still_until));
    flow.still_until = until;
    seeds_.assign(1, event.subject);
    neighbours(event.subject);
    share_out(event.at);
}

void Network::woken(const Event& event) {
    Flow& flow = flows_[event.subject];
    if (!flow.active || flow.version != event.detail || flow.still_until > event.at) return;
    flow.still_until = 0;
    seeds_.assign(1, event.subject);
    neighbours(event.subject);
    share_out(event.at);
}

// The hazards of ports side by side add up, since each of them loses by itself; of ports one after the other (up, down, to the node) the
// worst kind counts, since what has passed one comes at its pace to the next. Only what this transfer adds counts, so that many that
// begin at once together make what one of their size would. Who stands still is one of those that meet at a port drawn by its
// hazard, drawn by what each has under way there.
void Network::look_for_overload(Id id, double now) {
    const Flow& flow = flows_[id];
    const auto hazard = [&](double full) { return full > 1 ? overload_.loss_scale * std::pow(full - 1, overload_.loss_power) : 0.0; };
    const auto added = [&](const Use& use) {
        const double holds = links_[use.link].holds_bytes, full = states_[use.link].under_way / holds;
        return full > 1 ? hazard(full) - hazard(full - use.flows * flow.window / holds) : 0.0;
    };
    double own[3] = {}, shared[3] = {}, excess[3] = {};
    for (const Port& port : flow.start.transfer->ports) {
        const double full = port.flows * flow.window / port.holds_bytes;
        if (!(full > 1)) continue;
        own[static_cast<std::size_t>(port.way)] += port.count * hazard(full);
        excess[static_cast<std::size_t>(port.way)] += port.count * (full - 1) * port.holds_bytes;
    }
    for (const Use& use : flow.start.transfer->uses) {
        const double over = states_[use.link].under_way - links_[use.link].holds_bytes;
        if (!(over > 0)) continue;
        shared[static_cast<std::size_t>(links_[use.link].way)] += added(use);
        excess[static_cast<std::size_t>(links_[use.link].way)] += std::min(over, use.flows * flow.window);
    }
    std::size_t way = 0;
    for (std::size_t i = 1; i < 3; ++i)
        if (own[i] + shared[i] > own[way] + shared[way]) way = i;
    retransmitted_ += excess[way];
    const double total = own[way] + shared[way];
    if (!(total > 0) || draws_.uniform() >= -std::expm1(-total)) return;
    Id victim = id;
    double at = draws_.uniform() * total - own[way];
    for (const Use& use : flow.start.transfer->uses) {
        if (!(at > 0)) break;
        if (static_cast<std::size_t>(links_[use.link].way) != way) continue;
        at -= added(use);
        if (at > 0) continue;
        const State& state = states_[use.link];
        double place = draws_.uniform() * state.under_way;
        for (const Id other : state.flows) {
            for (const Use& its : flows_[other].start.transfer->uses)
                if (its.link == use.link) place -= its.flows * flows_[other].window;
            victim = other;
            if (place <= 0) break;
        }
    }
    // what it has yet to send is lost from anywhere on
    const Flow& hit = flows_[victim];
    const double rest = hit.rate > 0 && std::isfinite(hit.left) ? std::max(0.0, hit.left / hit.rate - (now - hit.since)) : 0;
    queue_.push(now + draws_.uniform() * rest, Event::Kind::flow_stall, victim, hit.generation);
}

// Pauses hold as long as the port is full; a transfer that overfills ports of its own is slowed by itself alone.
void Network::look_for_pauses(Id id) {
    Flow& flow = flows_[id];
    const auto lost = [&](double full) { return full > 1 ? overload_.pause_spread * (1 - 1 / full) : 0.0; };
    if (flow.active) {
        double full = 0;
        for (const Port& port : flow.start.transfer->ports) full = std::max(full, port.flows * flow.window / port.holds_bytes);
        flow.most *= 1 - lost(full);
    }
    for (const Use& use : flow.start.transfer->uses) {
        const std::int32_t at = links_[use.link].out_of;
        if (at < 0) continue;
        double full = 0;
        for (const std::uint32_t port : out_of_[static_cast<std::size_t>(at)]) full = std::max(full, states_[port].under_way / links_[port].holds_bytes);
        double& paused = paused_[static_cast<std::size_t>(at)];
        if (paused == lost(full)) continue;
        paused = lost(full);
        for (const std::uint32_t feeding : into_[static_cast<std::size_t>(at)]) seeds_.insert(seeds_.end(), states_[feeding].flows.begin(), states_[feeding].flows.end());
    }
}

bool Network::would_meet(const Start& start) const {
    const double window = window_of(start);
    return std::any_of(start.transfer->uses.begin(), start.transfer->uses.end(), [&](const Use& use) {
        const State& state = states_[use.link];
        const bool has_others = std::any_of(state.flows.begin(), state.flows.end(), [&](Id id) { return flows_[id].start.part > 0; });
        return has_others && state.under_way + use.flows * window > links_[use.link].holds_bytes;
    });
}

void Network::settle(Flow& flow, double now) {
    const double moved = flow.rate * (now - flow.since);
    flow.moved += moved;
    flow.left = std::max(0.0, flow.left - moved);
    flow.since = now;
}

bool Network::is_alone(Id id) const {
    const std::vector<Use>& uses = flows_[id].start.transfer->uses;
    return std::all_of(uses.begin(), uses.end(), [&](const Use& use) { return states_[use.link].flows.size() == 1; });
}

void Network::set_rate(Id id, double rate, double now) {
    Flow& flow = flows_[id];
    if (rate == flow.rate && flow.scheduled) return;
    settle(flow, now);
    flow.rate = rate;
    flow.scheduled = rate > 0;
    ++flow.version;
    ++changes_;
    if (rate <= 0) queue_.push(flow.still_until, Event::Kind::flow_wake, id, flow.version);
    else if (std::isfinite(flow.left)) queue_.push(now + flow.left / rate, Event::Kind::flow_end, id, flow.version);
}

void Network::share_out(double now) {
    if (seeds_.size() == 1 && flows_[seeds_[0]].active && flows_[seeds_[0]].still_until <= now && is_alone(seeds_[0])) {
        const Flow& flow = flows_[seeds_[0]];
        double rate = flow.most;
        for (const Use& use : flow.start.transfer->uses) rate = std::min(rate, capacity(use.link) / use.weight);
        return set_rate(seeds_[0], rate, now);
    }
    ++stamp_;
    part_.clear();
    touched_.clear();
    const auto visit = [&](Id id) {
        if (!flows_[id].active || flows_[id].stamp == stamp_) return;
        flows_[id].stamp = stamp_;
        part_.push_back(id);
    };
    for (const Id id : seeds_) visit(id);
    for (std::size_t i = 0; i < part_.size(); ++i) {
        for (const Use& use : flows_[part_[i]].start.transfer->uses) {
            State& state = states_[use.link];
            if (state.stamp == stamp_) continue;
            state.stamp = stamp_;
            state.rest = capacity(use.link);
            state.weight = 0;
            state.open = 0;
            touched_.push_back(use.link);
            for (const Id other : state.flows) visit(other);
        }
    }
    seeds_.clear();
    open_.clear();
    for (const Id id : part_) {
        if (flows_[id].still_until > now) continue;
        open_.push_back(id);
        for (const Use& use : flows_[id].start.transfer->uses) {
            states_[use.link].weight += use.weight;
            ++states_[use.link].open;
        }
    }
    for (const Id id : part_)
        if (flows_[id].still_until > now) set_rate(id, 0, now);
    while (!open_.empty()) {
        double level = infinite;
        for (const std::uint32_t link : touched_)
            if (states_[link].open > 0) level = std::min(level, states_[link].rest / states_[link].weight);
        for (const Id id : open_) level = std::min(level, flows_[id].most);
        const double full = level * (1 + alike);
        frozen_.clear();
        std::size_t kept = 0;
        for (const Id id : open_) {
            const Flow& flow = flows_[id];
            bool stays = flow.most <= full;
            for (const Use& use : flow.start.transfer->uses) {
                if (stays) break;
                stays = states_[use.link].rest <= full * states_[use.link].weight;
            }
            if (stays) frozen_.push_back(id);
            else open_[kept++] = id;
        }
        open_.resize(kept);
        for (const Id id : frozen_) {
            for (const Use& use : flows_[id].start.transfer->uses) {
                State& state = states_[use.link];
                state.rest = std::max(0.0, state.rest - use.weight * level);
                state.weight = --state.open > 0 ? state.weight - use.weight : 0;
            }
            set_rate(id, level, now);
        }
    }
}

}  // namespace paced::simulation
