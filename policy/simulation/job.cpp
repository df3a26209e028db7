// SPDX-License-Identifier: BSD-3-Clause
// How a job runs; how it is made is in job_setup.cpp, what is told of it in job_outcome.cpp.
#include "policy/simulation/job.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace paced::simulation {

void Job::arrive(std::uint32_t index, std::uint32_t rank, double at) {
    Communicator& communicator = communicators_[index];
    entries_.arrival[rank] = at;
    communicator.last_arrival = std::max(communicator.last_arrival, at);
    if (++communicator.arrived == communicator.members.count) all_arrived(index);
}

void Job::start() {
    const ProgramCall& first = program_.front();
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) state_[rank].length = compute_.draw(rank, 0, 0);
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
        if (compute_.has_segments()) state_[rank].origin += first.part * state_[rank].length * compute_.segment(rank, 0, 0);
        arrive(kinds_[first.kind].first + kinds_[first.kind].group_of(rank), rank, state_[rank].origin + first.part * state_[rank].length);
    }
    for (std::uint32_t i = 0; i < bursts_.size(); ++i) {
        const Background& background = scenario_.background[i];
        queue_.push(background.period_s * bursts_[i].draws.uniform(), Event::Kind::background, i);
    }
}

// Where ranks share cores, those that wait take time from the last of their node that still computes.
void Job::steal_from_last(Communicator& communicator) {
    const Members& members = communicator.members;
    const std::uint32_t on_node = scenario_.node.ranks;
    const bool asleep = communicator.held;
    communicator.last_arrival = Communicator::none;
    for (std::uint32_t begin = 0, end = 0; begin < members.count; begin = end) {
        const std::uint32_t node = members.rank(begin) / on_node;
        std::uint32_t last = members.rank(begin);
        for (end = begin; end < members.count && members.rank(end) / on_node == node; ++end)
            if (entries_.arrival[members.rank(end)] > entries_.arrival[last]) last = members.rank(end);
        double taken = 0;
        for (std::uint32_t i = begin; i < end; ++i) {
            const std::uint32_t rank = members.rank(i);
            const double from = asleep ? entries_.entry[rank] : entries_.arrival[rank];
            taken += scenario_.compute.spin_theft * std::max(0.0, entries_.arrival[last] - from);
        }
        entries_.arrival[last] += taken;
        if (asleep) entries_.entry[last] += taken;
        // what is stolen is compute that takes longer
        state_[last].origin += taken;
        sums_.stolen += taken;
        sums_.compute += taken;
        communicator.last_arrival = std::max(communicator.last_arrival, entries_.arrival[last]);
    }
}

void Job::all_arrived(std::uint32_t index) {
    Communicator& communicator = communicators_[index];
    events_ += communicator.members.count;
    Pacer::Passage passage = pacer_.pass(index);
    if (scenario_.compute.spin_theft > 0 && communicator.most_local > 1 && call_of(communicator).blocking && !passage.asks) {
        const double before = communicator.last_arrival;
        steal_from_last(communicator);
        passage.last = std::max(passage.last, communicator.held ? passage.last + communicator.last_arrival - before : communicator.last_arrival);
    }
    if (!passage.asks) enter(index, passage.last);
}

// The largest part of the members that enter within a time of that width.
double Job::met_part(const Communicator& communicator, double width) const {
    constexpr std::size_t most = 512;
    const std::vector<double>& entry = communicator.held ? entries_.entry : entries_.arrival;
    double first = entry[communicator.members.first];
    for (std::uint32_t i = 0; i < communicator.members.count; ++i) first = std::min(first, entry[communicator.members.rank(i)]);
    const double range = communicator.entered - first;
    if (range <= width) return 1;
    // half a width each, two neighbours together; where that would be too many, wider ones, which count too much as met
    const double bin = std::max(width / 2, range / (most - 1));
    std::array<std::uint32_t, most> counts{};
    for (std::uint32_t i = 0; i < communicator.members.count; ++i) ++counts[std::min(most - 1, static_cast<std::size_t>((entry[communicator.members.rank(i)] - first) / bin))];
    std::uint32_t fullest = 0;
    for (std::size_t i = 0; i + 1 < most; ++i) fullest = std::max(fullest, counts[i] + counts[i + 1]);
    return static_cast<double>(fullest) / communicator.members.count;
}

void Job::enter(std::uint32_t index, double at) {
    Communicator& communicator = communicators_[index];
    const Plan& plan = plan_of(communicator);
    communicator.entered = at;
    communicator.phase = 0;
    communicator.met = 1;
    if (scenario_.fabric.overload.on && (plan.shares || plan.worst_full > 1)) {
        const auto moving = std::find_if(plan.phases.begin(), plan.phases.end(), [](const Phase& phase) { return phase.moves; });
        communicator.met = met_part(communicator, scenario_.fabric.overload.burst_share * moving->transfer.bytes / moving->alone_bytes_s);
    }
    double begins = at;
    const FabricEvents& odd = scenario_.fabric_events;
    if (odd.probability > 0 && communicator.beyond > 0 && fabric_draws_.uniform() < -std::expm1(communicator.beyond * std::log1p(-odd.probability))) {
        const double lasts = fabric_draws_.exponential(odd.mean_s);
        begins += lasts;
        fabric_stall_s_ += lasts * communicator.members.count / ranks_;
        ++fabric_events_;
    }
    start_phase(index, begins);
}

void Job::start_phase(std::uint32_t index, double at) {
    Communicator& communicator = communicators_[index];
    const Phase& phase = plan_of(communicator).phases[communicator.phase];
    if (phase.moves) queue_.push(at + phase.latency_s, Event::Kind::transfer, index);
    else queue_.push(at + phase.latency_s + phase.internal_s, Event::Kind::paused, index);
}

void Job::put_on_network(std::uint32_t index, double now) {
    Communicator& communicator = communicators_[index];
    const Phase& phase = plan_of(communicator).phases[communicator.phase];
    Network::Start start;
    start.transfer = &phase.transfer;
    start.owner = index;
    start.met = communicator.met;
    start.limit_bytes_s = communicator.limit_bytes_s;
    start.part = static_cast<double>(communicator.members.count) / ranks_;
    if (run_.ran == Case::oracle) {
        start.calm = true;
        if (scenario_.fabric.overload.on && network_.would_meet(start)) {
            kept_back_.push_back(index);
            return;
        }
    }
    communicator.floor = now + phase.internal_s;
    network_.begin(start, now);
}

void Job::transfer_over(std::uint32_t index, double now) {
    if (now < communicators_[index].floor) queue_.push(communicators_[index].floor, Event::Kind::paused, index);
    else phase_over(index, now);
    if (kept_back_.empty()) return;
    std::vector<std::uint32_t> waiting;
    waiting.swap(kept_back_);
    for (const std::uint32_t other : waiting) put_on_network(other, now);
}

void Job::phase_over(std::uint32_t index, double now) {
    Communicator& communicator = communicators_[index];
    if (++communicator.phase < plan_of(communicator).phases.size()) start_phase(index, now);
    else complete(index, now);
}

void Job::complete(std::uint32_t index, double end) {
    Communicator& communicator = communicators_[index];
    const Kind& kind = kinds_[communicator.kind];
    const auto calls = static_cast<std::uint32_t>(kind.calls.size());
    const std::uint32_t at = kind.calls[communicator.sequence % calls];
    const ProgramCall& call = program_[at];
    const auto iteration = static_cast<std::uint32_t>(communicator.sequence / calls);
    ++plan_of(communicator).executions;
    pacer_.completed(index, call.call, end);
    if (!recorded_ranks_.empty()) record(communicator, call, end, iteration);
    ++events_;
    const double entered = communicator.entered;
    const bool held = communicator.held;
    communicator.ended = end;
    communicator.arrived = 0;
    communicator.last_arrival = Communicator::none;
    ++communicator.sequence;

    const bool wraps = at + 1 == program_.size();
    const ProgramCall& next = program_[wraps ? 0 : at + 1];
    const Kind& next_kind = kinds_[next.kind];
    const bool measured = iteration >= scenario_.warmup && iteration < total_;
    const double theft = scenario_.compute.theft;
    const bool segments = compute_.has_segments();
    double waiting = 0, transfer = 0, delayed = 0, stolen = 0, computed = 0, latest = 0;
    const Members members = communicator.members;
    for (std::uint32_t i = 0; i < members.count; ++i) {
        const std::uint32_t rank = members.rank(i);
        RankState& state = state_[rank];
        const double arrival = entries_.arrival[rank], entry = held ? entries_.entry[rank] : arrival;
        double idle_from = arrival;  // nothing is computed from then on
        if (call.blocking) {
            // it may have been ready before its last overlapped call had ended
            const double ready = state.origin + call.part * state.length;
            transfer += std::max(0.0, arrival - ready);
            state.origin += end - ready;
        } else {
            if (theft > 0 && entry < entered) {
                // the waiting kernel takes its part for as long as the rank has something to compute beside it
                const double left = std::max(0.0, state.origin + state.length - entry), lost = std::min(theft * (entered - entry), left * theft / (1 - std::min(theft, 0.99)));
                state.origin += lost;
                stolen += lost;
                computed += lost;
            }
            idle_from = std::max(arrival, state.origin + state.length);
        }
        if (call.shows) {
            waiting += std::max(0.0, entered - idle_from);
            transfer += std::max(0.0, end - std::max(entered, idle_from));
            delayed += std::max(0.0, entry - idle_from);
        }
        double free = end;
        if (wraps) {
            free = std::max(end, state.origin + state.length);
            latest = std::max(latest, free);
            computed += state.length;
            state.origin = free;
            state.length = compute_.draw(rank, iteration + 1, free);
        }
        if (segments) {
            const double more = (next.part - (wraps ? 0 : call.part)) * state.length * compute_.segment(rank, wraps ? iteration + 1 : iteration, wraps ? 0 : at + 1);
            state.origin += more;
            computed += more;
        }
        arrive(next_kind.first + next_kind.group_of(rank), rank, std::max(state.origin + next.part * state.length, free));
    }
    if (measured) {
        sums_.waiting += waiting;
        sums_.transfer += transfer;
        sums_.held += delayed;
        sums_.stolen += stolen;
        sums_.compute += computed;
    }
    if (!wraps) return;
    if (iteration < total_ && communicators_[index].component < components_) {
        double& known = ends_[std::size_t{communicators_[index].component} * total_ + iteration];
        known = std::max(known, latest);
    }
    if (iteration + 1 == total_) done_ += members.count;
    ahead_ = std::max(ahead_, iteration + 1);
}

void Job::toggle(std::uint32_t index, double now) {
    Burst& burst = bursts_[index];
    const Background& background = scenario_.background[index];
    double lasts = background.period_s * (burst.on ? 1 - background.duty : background.duty);
    if (background.jitter > 0) lasts *= std::exp(background.jitter * burst.draws.normal() - background.jitter * background.jitter / 2);
    if (burst.on) {
        burst.moved_bytes += network_.withdraw(burst.flow, now);
    } else {
        Network::Start start;
        start.transfer = &burst.transfer;
        start.owner = ~std::uint32_t{0};
        start.part = 0;
        burst.flow = network_.begin(start, now);
    }
    burst.on = !burst.on;
    queue_.push(now + lasts, Event::Kind::background, index);
}

void Job::handle(const Event& event) {
    switch (event.kind) {
        case Event::Kind::transfer: put_on_network(event.subject, event.at); break;
        case Event::Kind::paused: phase_over(event.subject, event.at); break;
        case Event::Kind::flow_end: {
            std::uint32_t owner = 0;
            double until = 0;
            if (!network_.ended(event, owner, until)) break;
            if (until > event.at) fabric_stall_s_ += (until - event.at) * communicators_[owner].members.count / ranks_;
            communicators_[owner].floor = std::max(communicators_[owner].floor, until);
            transfer_over(owner, event.at);
            break;
        }
        case Event::Kind::flow_stall: network_.stalled(event); break;
        case Event::Kind::flow_wake: network_.woken(event); break;
        case Event::Kind::background: toggle(event.subject, event.at); break;
        case Event::Kind::look: pacer_.look(event.at, network_.retransmitted_bytes()); break;
        case Event::Kind::message: {
            const std::int64_t released = pacer_.message(event);
            if (released >= 0) enter(static_cast<std::uint32_t>(released), pacer_.let_in(static_cast<std::uint32_t>(released), event.at));
            break;
        }
        case Event::Kind::deadline:
            if (communicators_[event.subject].waits && communicators_[event.subject].sequence == event.detail) enter(event.subject, pacer_.let_in(event.subject, event.at));
            break;
    }
}

Outcome Job::simulate(const Told& told) {
    constexpr std::uint32_t tell_every = 16;
    Outcome outcome;
    outcome.ran = run_.ran;
    outcome.nodes = run_.nodes;
    outcome.seed = run_.seed;
    start();
    std::uint32_t said = 0;
    double now = 0;
    while (done_ < ranks_ && !queue_.empty()) {
        const Event event = queue_.pop();
        now = event.at;
        handle(event);
        if (told && ahead_ >= said + tell_every) {
            said = ahead_;
            if (!told(std::min(said, total_), total_)) return outcome;
        }
    }
    finish(outcome, now);
    return outcome;
}

}  // namespace paced::simulation
