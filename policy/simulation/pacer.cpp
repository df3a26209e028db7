// SPDX-License-Identifier: BSD-3-Clause
#include "policy/simulation/pacer.h"

#include <algorithm>
#include <cmath>

#include "policy/pacing/tuning.h"

namespace paced::simulation {
namespace {

using pacing::Arm;
using pacing::Setting;

// As in the interposer (gate.cpp, exchange): the longest delay of all, what a sleeper may wake too late, how often an agent looks.
constexpr double longest_delay_s = 1;
constexpr double hold_margin_s = 50e-6;
constexpr double agent_look_s = 0.025;
constexpr double resend_s[] = {0, 0.010, 0.030, 0.070};
constexpr std::uint32_t give_up_after = 3;
constexpr std::uint32_t tree_arity = 32, star_nodes = 64;
constexpr double segment_bytes = 1460;

std::uint64_t ns(double seconds) { return seconds > 0 ? static_cast<std::uint64_t>(seconds * 1e9 + 0.5) : 0; }

pacing::Tuning tuning_of(const Scenario& scenario) {
    pacing::Tuning tuning;
    pacing::WrongToken wrong;
    pacing::parse_tuning(scenario.pacing.tuning.data(), scenario.pacing.tuning.size(), tuning, wrong);
    return tuning;
}

std::uint64_t window_ns(const Scenario& scenario) { return scenario.pacing.window_s < 0 ? ~std::uint64_t{0} : ns(scenario.pacing.window_s); }

}  // namespace

Pacer::Pacer(const Scenario& scenario, Case ran, std::uint64_t seed, std::vector<Communicator>& communicators, Entries& entries, Queue& queue)
    : scenario_(scenario), ran_(ran), communicators_(communicators), entries_(entries), queue_(queue), draws_(mixed(seed, 0x6374'726c)) {
    if (scenario.pacing.window_s >= 0) window_s_ = std::min(longest_delay_s, scenario.pacing.window_s);
    if (ran == Case::paced || ran == Case::alone) {
        const pacing::Tuning tuning = tuning_of(scenario);
        conductor_ = std::make_unique<pacing::Conductor>(tuning, window_ns(scenario), mixed(seed, 0x6c61'77));
        permits_ = std::make_unique<pacing::Permits>();
        const Compute& compute = scenario.compute;
        conductor_->surroundings(scenario.fabric.transport == Transport::tcp, compute.theft > 0 || compute.spin_theft > 0);
        directives_.resize(pacing::conducted_limit);
        for (std::uint32_t i = 0; i < tuning.compared_count; ++i) wants_waits_ = wants_waits_ || tuning.compared[i].setting.arm == Arm::fixed_delay;
        wants_waits_ = wants_waits_ || tuning.fixed.arm == Arm::fixed_delay;
        queue_.push(scenario.pacing.control.interval_s, Event::Kind::look, 0);
    }
}

void Pacer::conduct(const std::vector<std::uint32_t>& wanted, std::uint32_t kinds, double mean_iteration_s) {
    if (ran_ == Case::baseline || ran_ == Case::ordered) return;
    if (ran_ == Case::recipe) {
        constant_.arm = Arm::fixed_delay;
        constant_.delay_ns = constant_.cap_ns = ns(scenario_.pacing.recipe_delay * mean_iteration_s);
        constant_.threshold_ns = ns(scenario_.pacing.recipe_threshold * mean_iteration_s);
        wants_waits_ = true;
    }
    if (ran_ == Case::barrier) {
        constant_.arm = Arm::barrier;
        constant_.cap_ns = ns(longest_delay_s);
    }
    for (const std::uint32_t index : wanted) {
        if (is_law() && paced_.size() == pacing::conducted_limit) break;
        Communicator& communicator = communicators_[index];
        communicator.paced = static_cast<std::int32_t>(paced_.size());
        Paced& paced = paced_.emplace_back();
        paced.communicator = index;
        paced.id = mixed(index, 0x636f'6d6d) | 1;
        paced.current.setting = constant_;
        if (wants_waits_) paced.last_wait_s.assign(communicator.members.count, 0.0f);
    }
    if (is_law() && kinds > 1) called_.assign(entries_.arrival.size(), 0);
}

// ---- the channel ----

double Pacer::hops(const Communicator& communicator) const {
    double depth = 1;
    if (communicator.nodes > star_nodes) {
        for (double reached = 1 + tree_arity, level = tree_arity; reached < communicator.nodes; ++depth) reached += level *= tree_arity;
    }
    return depth;
}

double Pacer::one_way() { return scenario_.pacing.control.latency_s + draws_.exponential(scenario_.pacing.control.jitter_s); }

// The slowest of n: its jitter is the largest of n draws, drawn at once.
double Pacer::to_slowest(const Communicator& communicator) {
    const double most = -std::log(-std::expm1(std::log(draws_.uniform()) / communicator.nodes));
    return hops(communicator) * scenario_.pacing.control.latency_s + scenario_.pacing.control.jitter_s * most;
}

bool Pacer::is_partly_lost(const Communicator& communicator) {
    const double loss = scenario_.pacing.control.loss;
    return loss > 0 && draws_.uniform() < -std::expm1(communicator.nodes * std::log1p(-loss));
}

void Pacer::send(double at, const Message& message) {
    std::uint32_t slot;
    if (free_.empty()) {
        slot = static_cast<std::uint32_t>(slots_.size());
        slots_.push_back(message);
    } else {
        slot = free_.back();
        free_.pop_back();
        slots_[slot] = message;
    }
    queue_.push(at, Event::Kind::message, slot);
}

bool Pacer::send_datagram(double now, const Message& message) {
    for (const double later : resend_s) {
        if (scenario_.pacing.control.loss > 0 && draws_.uniform() < scenario_.pacing.control.loss) continue;
        send(now + later + one_way(), message);
        return true;
    }
    return false;
}

// ---- the gate ----

void Pacer::start_block(Paced& paced, const Communicator& communicator) {
    if (paced.open) finish_block(paced, communicator, communicator.last_arrival);
    if (paced.pending.epoch - 1 != paced.current.epoch) {
        // a directive that was never acted on: whoever waits for its block is told that it is void
        pacing::RankBlock none;
        none.epoch = paced.pending.epoch - 1;
        none.late = 1;
        show(communicator, pacing::summary_of(none, paced.id, communicator.members.count, 0), communicator.last_arrival);
    }
    paced.current = paced.pending;
    paced.has_pending = false;
    paced.phase_due = true;
    paced.timeouts = 0;
    paced.given_up = false;
    double first_arrival = communicator.last_arrival;
    for (std::uint32_t i = 0; i < communicator.members.count; ++i) first_arrival = std::min(first_arrival, entries_.arrival[communicator.members.rank(i)]);
    const bool late = communicator.sequence > paced.current.from_sequence || paced.partly_lost || first_arrival < paced.known_at;
    pacing::RankBlock block;
    block.epoch = paced.current.epoch;
    block.late = late ? 1 : 0;
    block.shortest_wait_ns = ~std::uint64_t{0};
    paced.blocks.assign(communicator.members.count, block);
    const std::uint64_t period = paced.current.period;
    paced.first = paced.current.from_sequence + std::uint64_t{paced.current.skip} * period;
    paced.end = paced.current.length != 0 && period != 0 ? paced.first + std::uint64_t{paced.current.length} * period : ~std::uint64_t{0};
    paced.boundary = paced.current.skip == 0 && !late ? communicator.ended : Communicator::none;
    paced.steps = 0;
    paced.open = true;
}

template <class Delay> double Pacer::hold(Communicator& communicator, double cap, Delay delay) {
    double last = 0;
    for (std::uint32_t i = 0; i < communicator.members.count; ++i) {
        const std::uint32_t rank = communicator.members.rank(i);
        const double entry = entries_.arrival[rank] + std::min(cap, delay(i));
        entries_.entry[rank] = entry;
        last = std::max(last, entry);
    }
    communicator.held = true;
    return last;
}

double Pacer::hold_all_until(Communicator& communicator, double until, double cap) {
    return hold(communicator, cap, [&](std::uint32_t i) { return std::max(0.0, until - entries_.arrival[communicator.members.rank(i)]); });
}

// Members of a node stand together in the communicator's order.
double Pacer::hold_local(Communicator& communicator, double cap) {
    double last = 0;
    const std::uint32_t ranks = scenario_.node.ranks, count = communicator.members.count;
    for (std::uint32_t begin = 0, end = 0; begin < count; begin = end) {
        const std::uint32_t node = communicator.members.rank(begin) / ranks;
        double until = 0;
        for (end = begin; end < count && communicator.members.rank(end) / ranks == node; ++end) until = std::max(until, entries_.arrival[communicator.members.rank(end)]);
        for (std::uint32_t i = begin; i < end; ++i) {
            const std::uint32_t rank = communicator.members.rank(i);
            entries_.entry[rank] = std::min(until, entries_.arrival[rank] + cap);
        }
        last = std::max(last, until);
    }
    communicator.held = true;
    return last;
}

Pacer::Passage Pacer::pass(std::uint32_t index) {
    Communicator& communicator = communicators_[index];
    communicator.held = false;
    Passage passage{communicator.last_arrival, false};
    if (communicator.paced < 0) return passage;
    if (ran_ == Case::oracle) {
        passage.last = hold_all_until(communicator, communicator.last_arrival, longest_delay_s * 1e6);
        return passage;
    }
    Paced& paced = paced_[static_cast<std::size_t>(communicator.paced)];
    if (paced.has_pending && communicator.sequence >= paced.pending.from_sequence) start_block(paced, communicator);
    const Setting& setting = paced.current.setting;
    communicator.limit_bytes_s = setting.arm == Arm::rate && setting.rate_bytes_s > 0 ? static_cast<double>(setting.rate_bytes_s) : std::numeric_limits<double>::infinity();
    const double cap = std::min(window_s_, static_cast<double>(setting.cap_ns) * 1e-9), delay = static_cast<double>(setting.delay_ns) * 1e-9;
    if (!(cap > 0)) return passage;
    switch (setting.arm) {
        case Arm::hold_local:
            passage.last = hold_local(communicator, cap);
            break;
        case Arm::hold_remote: {
            if (paced.shortest_wait_s.empty()) break;
            const double kept = static_cast<double>(setting.service_ns) * 1e-9 + hold_margin_s;
            passage.last = hold(communicator, cap, [&](std::uint32_t i) { return std::min(delay, std::max(0.0, static_cast<double>(paced.shortest_wait_s[i]) - kept)); });
            break;
        }
        case Arm::slots: {
            if (!paced.period.is_data_next()) break;
            const double turn = delay * paced.current.position;
            // of calls that follow each other at once only the first waits
            passage.last = hold(communicator, cap, [&](std::uint32_t i) { return entries_.arrival[communicator.members.rank(i)] - communicator.ended > delay / 2 ? turn : 0.0; });
            break;
        }
        case Arm::phase:
            if (paced.phase_due) passage.last = hold(communicator, cap, [&](std::uint32_t) { return delay; });
            paced.phase_due = false;
            break;
        case Arm::fixed_delay: {
            if (paced.last_wait_s.empty()) break;
            const double service = setting.service_ns > 0 ? static_cast<double>(setting.service_ns) * 1e-9 : paced.last_service_s;
            const double threshold = static_cast<double>(setting.threshold_ns) * 1e-9;
            passage.last = hold(communicator, cap, [&](std::uint32_t i) { return static_cast<double>(paced.last_wait_s[i]) - service > threshold ? delay : 0.0; });
            break;
        }
        case Arm::barrier: {
            // a dissemination barrier over the job's own network
            const double rounds = std::ceil(std::log2(static_cast<double>(communicator.members.count)));
            passage.last = hold_all_until(communicator, communicator.last_arrival + rounds * scenario_.node.nic_latency_s, cap);
            break;
        }
        case Arm::admit: {
            if (paced.given_up || !paced.period.is_data_next() || communicator.members.count > pacing::member_limit) break;
            Message message;
            message.kind = Message::Kind::request;
            message.paced = static_cast<std::uint32_t>(communicator.paced);
            message.sequence = communicator.sequence;
            send_datagram(communicator.last_arrival, message);
            queue_.push(communicator.last_arrival + cap, Event::Kind::deadline, index, communicator.sequence);
            communicator.waits = paced.asked = true;
            passage.asks = true;
            break;
        }
        case Arm::off:
        case Arm::rate: break;
    }
    return passage;
}

double Pacer::let_in(std::uint32_t index, double now) {
    Communicator& communicator = communicators_[index];
    Paced& paced = paced_[static_cast<std::size_t>(communicator.paced)];
    const double cap = std::min(window_s_, static_cast<double>(paced.current.setting.cap_ns) * 1e-9);
    communicator.waits = false;
    const bool timed_out = now >= communicator.last_arrival + cap;
    paced.timeouts = timed_out ? paced.timeouts + 1 : 0;
    if (paced.timeouts >= give_up_after) paced.given_up = true;
    return hold_all_until(communicator, now, cap);
}

// ---- the meter ----

void Pacer::meter(Paced& paced, const Communicator& communicator, double end) {
    const std::uint64_t sequence = communicator.sequence;
    if (sequence < paced.first) {
        paced.boundary = end;
        return;
    }
    const Arm arm = paced.current.setting.arm;
    const bool waits_for_others = arm == Arm::admit || arm == Arm::barrier || arm == Arm::hold_local;
    const double cap = std::min(window_s_, static_cast<double>(paced.current.setting.cap_ns) * 1e-9);
    for (std::uint32_t i = 0; i < communicator.members.count; ++i) {
        const std::uint32_t rank = communicator.members.rank(i);
        const double arrival = entries_.arrival[rank], entry = communicator.held ? entries_.entry[rank] : arrival;
        const std::uint64_t wait = ns(end - arrival), service = ns(end - entry);
        pacing::RankBlock& block = paced.blocks[i];
        ++block.calls;
        block.wait_ns += wait;
        block.shortest_wait_ns = std::min(block.shortest_wait_ns, wait);
        block.longest_wait_ns = std::max(block.longest_wait_ns, wait);
        block.service_ns += service;
        block.longest_service_ns = std::max(block.longest_service_ns, service);
        if (entry <= arrival) continue;
        block.held_ns += wait - std::min(wait, service);
        ++block.held;
        block.timeouts += waits_for_others && entry >= arrival + cap * (1 - 1e-9) ? 1 : 0;
    }
    if (paced.current.period == 0 || ++paced.steps != paced.current.period) return;
    if (paced.boundary >= 0) {
        pacing::RankBlock& block = paced.blocks[0];  // the first member alone counts iterations
        const std::uint64_t took = ns(end - paced.boundary);
        ++block.iterations;
        block.iterations_ns += took;
        block.iterations_ns2 += static_cast<double>(took) * static_cast<double>(took);
        block.longest_ns = std::max(block.longest_ns, took);
    }
    paced.boundary = end;
    paced.steps = 0;
}

void Pacer::finish_block(Paced& paced, const Communicator& communicator, double now) {
    paced.open = false;
    const bool complete = paced.end == ~std::uint64_t{0} || communicator.sequence + 1 >= paced.end;
    if (!complete) paced.blocks[0].late = 1;
    for (pacing::RankBlock& block : paced.blocks)
        if (block.calls == 0) block.shortest_wait_ns = 0;
    if (paced.blocks[0].calls != 0 && paced.blocks[0].late == 0) {
        paced.shortest_wait_s.resize(paced.blocks.size());
        for (std::size_t i = 0; i < paced.blocks.size(); ++i) paced.shortest_wait_s[i] = static_cast<float>(static_cast<double>(paced.blocks[i].shortest_wait_ns) * 1e-9);
    }
    pacing::BlockSummary sum = pacing::summary_of(paced.blocks[0], paced.id, communicator.members.count, 0);
    for (std::uint32_t i = 1; i < communicator.members.count; ++i) pacing::join(sum, pacing::summary_of(paced.blocks[i], paced.id, communicator.members.count, i));
    show(communicator, sum, now);
    if (paced.current.then_length != 0 && !paced.has_pending) follow(paced);
}

void Pacer::follow(Paced& paced) {
    paced.pending = pacing::following(paced.current);
    paced.has_pending = true;
}

// At the agents' next look, then with their next summary.
void Pacer::show(const Communicator& communicator, const pacing::BlockSummary& block, double now) {
    Message message;
    message.kind = Message::Kind::block;
    message.block = block;
    if (is_partly_lost(communicator)) message.block.members -= std::min(message.block.members, communicator.most_local);
    if (message.block.members == 0) return;
    send(now + draws_.uniform() * (agent_look_s + scenario_.pacing.control.interval_s) + to_slowest(communicator), message);
    messages_ += communicator.nodes;
}

void Pacer::completed(std::uint32_t index, const Call& call, double end) {
    const Communicator& communicator = communicators_[index];
    Paced* const paced = communicator.paced >= 0 ? &paced_[static_cast<std::size_t>(communicator.paced)] : nullptr;
    if (is_law()) {
        const std::uint64_t id = paced != nullptr ? paced->id : mixed(index, 0x636f'6d6d) | 1;
        pacing::PeriodFinder::Ended ended{static_cast<std::uint32_t>(call.operation), false, call.bytes, 0, 0};
        const std::uint64_t weight = pacing::PeriodFinder::weight_of(id, ended);
        std::uint64_t* const own = paced == nullptr ? nullptr : called_.empty() ? &paced->called : &called_[communicator.members.first];
        if (own != nullptr) ended.elsewhere = *own;
        if (!called_.empty())
            for (std::uint32_t i = 0; i < communicator.members.count; ++i) called_[communicator.members.rank(i)] += weight;
        else if (own != nullptr) *own += weight;
        if (paced != nullptr) paced->period.add(ended, ended.elsewhere + weight);
    }
    if (paced == nullptr) return;
    if (paced->asked) {
        Message message;
        message.kind = Message::Kind::done;
        message.paced = static_cast<std::uint32_t>(communicator.paced);
        message.sequence = communicator.sequence;
        send_datagram(end, message);
        paced->asked = false;
    }
    if (paced->open) {
        meter(*paced, communicator, end);
        if (communicator.sequence + 1 >= paced->end) finish_block(*paced, communicator, end);
    }
    if (wants_waits_) {
        paced->last_service_s = end - communicator.entered;
        for (std::uint32_t i = 0; i < communicator.members.count; ++i) paced->last_wait_s[i] = static_cast<float>(end - entries_.arrival[communicator.members.rank(i)]);
    }
}

// ---- the leader ----

void Pacer::look(double now, double retransmitted_bytes) {
    const std::uint64_t now_ns = ns(now);
    for (Paced& paced : paced_) {
        const Communicator& communicator = communicators_[paced.communicator];
        // what has not changed is not said again
        if (communicator.sequence == paced.said_calls && paced.period.signature() == paced.said_signature) continue;
        paced.said_calls = communicator.sequence;
        paced.said_signature = paced.period.signature();
        pacing::Progress progress{};
        progress.communicator = paced.id;
        progress.calls = communicator.sequence;
        progress.signature = paced.period.signature();
        progress.bytes = paced.period.bytes();
        progress.period = paced.period.period();
        progress.size = progress.members = communicator.members.count;
        progress.local = progress.most_local = communicator.most_local;
        progress.leaves = communicator.beyond > 0 ? 2 : 1;
        progress.leaf = communicator.beyond > 0 ? 0 : communicator.leaf + 1;
        progress.leaf_set = communicator.leaf_set;
        progress.socket_bytes = static_cast<std::uint64_t>(communicator.socket_bytes);
        conductor_->progress(progress, now_ns);
    }
    conductor_->retransmissions(static_cast<std::uint64_t>(retransmitted_bytes / segment_bytes));
    const std::uint32_t count = conductor_->directives(now_ns, directives_.data(), pacing::conducted_limit);
    for (std::uint32_t i = 0; i < count; ++i) {
        const auto known = std::find_if(paced_.begin(), paced_.end(), [&](const Paced& one) { return one.id == directives_[i].communicator; });
        Message message;
        message.kind = Message::Kind::directive;
        message.paced = static_cast<std::uint32_t>(known - paced_.begin());
        message.directive = directives_[i];
        const Communicator& communicator = communicators_[known->communicator];
        messages_ += communicator.nodes;
        send(now + hops(communicator) * scenario_.pacing.control.latency_s, message);
    }
    pacing::BlockLine lines[16];
    while (conductor_->lines(lines, 16) == 16) {}
    queue_.push(now + scenario_.pacing.control.interval_s, Event::Kind::look, 0);
}

void Pacer::serve_permits(double now) {
    pacing::Permits::Grant grant;
    while (permits_->next(grant)) {
        const auto known = std::find_if(paced_.begin(), paced_.end(), [&](const Paced& one) { return one.id == grant.communicator; });
        Message message;
        message.kind = Message::Kind::grant;
        message.paced = static_cast<std::uint32_t>(known - paced_.begin());
        message.sequence = grant.sequence;
        send_datagram(now, message);
    }
    const std::uint64_t next = permits_->next_tick_ns();
    if (next == ~std::uint64_t{0}) return;
    const double at = std::max(now, static_cast<double>(next) * 1e-9 + 1e-9);
    if (tick_at_ > now && tick_at_ <= at) return;
    tick_at_ = at;
    send(at, Message{});
}

std::int64_t Pacer::message(const Event& event) {
    const Message message = slots_[event.subject];
    free_.push_back(event.subject);
    if (message.kind != Message::Kind::tick) ++messages_;
    const double now = event.at;
    switch (message.kind) {
        case Message::Kind::directive: {
            Paced& paced = paced_[message.paced];
            pacing::Directive& last = paced.has_pending ? paced.pending : paced.current;
            const bool newer = message.directive.epoch > last.epoch;
            if (!newer && !extends(message.directive, last)) break;
            const Communicator& communicator = communicators_[paced.communicator];
            if (newer) {
                paced.pending = message.directive;
                paced.has_pending = true;
            } else {
                last = message.directive;
                if (!paced.has_pending && !paced.open) follow(paced);
            }
            // where the running block is extended this is about the one after it, which is not begun
            paced.partly_lost = is_partly_lost(communicator);
            paced.known_at = now + to_slowest(communicator) - hops(communicator) * scenario_.pacing.control.latency_s;
            break;
        }
        case Message::Kind::block: conductor_->block(message.block); break;
        case Message::Kind::request: {
            const Paced& paced = paced_[message.paced];
            const Setting& setting = paced.current.setting;
            const Communicator& communicator = communicators_[paced.communicator];
            pacing::PermitRule rule;
            rule.width = setting.width;
            rule.longest_ns = std::min(setting.cap_ns, pacing::longest_permit_ns);
            permits_->set(setting.domain, rule);
            const std::uint32_t size = communicator.members.count;
            const std::uint64_t all = size >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << size) - 1;
            if (!permits_->request(setting.domain, paced.id, size, all, message.sequence, ns(now))) {
                Message grant;  // refused: it is not delayed
                grant.kind = Message::Kind::grant;
                grant.paced = message.paced;
                grant.sequence = message.sequence;
                send_datagram(now, grant);
            }
            serve_permits(now);
            break;
        }
        case Message::Kind::done: {
            const Paced& paced = paced_[message.paced];
            const std::uint32_t size = communicators_[paced.communicator].members.count;
            permits_->done(paced.id, size >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << size) - 1, message.sequence, ns(now));
            serve_permits(now);
            break;
        }
        case Message::Kind::grant: {
            const std::uint32_t index = paced_[message.paced].communicator;
            if (communicators_[index].waits && communicators_[index].sequence == message.sequence) return index;
            break;
        }
        case Message::Kind::tick:
            tick_at_ = -1;
            permits_->tick(ns(now));
            serve_permits(now);
            break;
    }
    return -1;
}

std::vector<ClassResult> Pacer::finish() {
    std::vector<ClassResult> results;
    if (!is_law()) return results;
    conductor_->finish();
    for (std::uint32_t i = 0; i < conductor_->classes(); ++i) {
        const pacing::Conductor::ClassAccount& account = conductor_->account(i);
        results.push_back({account.bytes, account.facts, account.account});
    }
    return results;
}

}  // namespace paced::simulation
