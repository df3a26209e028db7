// SPDX-License-Identifier: BSD-3-Clause
// Blocks: from a law's decision to directives, and from what comes back to what the law is told. Classes are in conductor_classes.cpp.
#include "policy/pacing/conductor.h"

#include <cmath>
#include <initializer_list>

namespace paced::pacing {
namespace {

constexpr std::uint64_t millisecond = 1'000'000;

// A directive's way to the last rank: the node's agent looks at its socket at once, but its core may be busy.
constexpr std::uint64_t lead_ns = 60 * millisecond;
// Iterations that a block may lie behind the others, or its summary behind its calls, before it is given up.
constexpr std::uint64_t lost_iterations = 16;
constexpr std::uint32_t lost_limit = 3;
// Parallel groups of one program count alike; what differs by more are groups that run on their own.
constexpr double common_iterations = 4;

}  // namespace

Conductor::Conductor(const Tuning& tuning, std::uint64_t window_ns, std::uint64_t seed) : tuning_(tuning), window_ns_(window_ns), seed_(seed) {}

void Conductor::block(const BlockSummary& block) {
    Communicator* const known = find(block.communicator);
    if (known == nullptr || known->in_class < 0 || block.epoch < known->now.epoch || block.epoch > last_epoch(known->now)) return;
    BlockSummary& place = known->block[block.epoch - known->now.epoch];
    if (place.epoch == 0) place = block;
}

void Conductor::retransmissions(std::uint64_t segments) { retransmissions_ = segments; }

void Conductor::surroundings(bool tcp, bool pays_for_waiting) {
    tcp_ = tcp;
    pays_for_waiting_ = pays_for_waiting;
}

void Conductor::fault() { faulted_ = true; }

void Conductor::finish() {
    for (std::uint32_t i = 0; i < class_count_; ++i) {
        if (!classes_[i].begun) continue;
        if (classes_[i].left) classes_[i].law.move_on();
        classes_[i].law.finish();
    }
}

double Conductor::predicted_calls(const Communicator& communicator, std::uint64_t now_ns) const {
    const double since = now_ns > communicator.heard_ns ? static_cast<double>(now_ns - communicator.heard_ns) : 0;
    return static_cast<double>(communicator.last.calls) + communicator.calls_per_ns * since;
}

// The iteration at which a directive that is given now is known to all members.
double Conductor::reached(const Communicator& communicator, std::uint64_t now_ns, std::uint64_t lead) const {
    return (predicted_calls(communicator, now_ns) + communicator.calls_per_ns * static_cast<double>(lead)) / (communicator.last.period > 0 ? communicator.last.period : 1);
}

// What runs after the running block, where the law can say so already: it is told along with it.
void Conductor::announce(std::uint32_t index) {
    Class& entry = classes_[index];
    entry.has_then = !entry.over && !entry.left && entry.law.following(entry.then);
    for (std::uint32_t i = 0; i < count_ && entry.has_then; ++i) {
        Communicator& member = communicators_[i];
        if (member.in_class != static_cast<std::int32_t>(index)) continue;
        member.now.then_skip = entry.then.washout < entry.then.iterations ? entry.then.washout : 0;
        member.now.then_length = entry.then.iterations - member.now.then_skip;
        member.now.then = entry.then.setting;
        member.now.then.domain = member.now.setting.domain;
        member.told = false;
    }
}

// The block that was announced runs, and the one after it follows as closely if all members hear of it in time. Else it is given on its own, later.
void Conductor::go_on(std::uint32_t index, std::uint64_t now_ns) {
    Class& entry = classes_[index];
    bool in_time = true;
    for (std::uint32_t i = 0; i < count_; ++i) {
        Communicator& member = communicators_[i];
        if (member.in_class != static_cast<std::int32_t>(index)) continue;
        member.now = following(member.now);
        member.block[0] = member.block[1];
        member.block[1] = BlockSummary();
        member.passed_ns = member.last.calls >= end_of(member.now) ? now_ns : 0;
        in_time = in_time && reached(member, now_ns, 2 * lead_ns) + 2 < static_cast<double>(end_of(member.now)) / member.now.period;
    }
    entry.running = true;
    entry.retransmissions = retransmissions_;
    entry.has_then = false;
    if (in_time) announce(index);
}

// All communicators of the class change at the same time, as far as that can be foreseen. Where they count the same iterations it
// can: then it is the same one for all.
void Conductor::give(std::uint32_t index, const Decision& decision, std::uint64_t now_ns) {
    Class& entry = classes_[index];
    entry.decision = decision;
    double least = INFINITY, most = 0;
    for (std::uint32_t i = 0; i < count_; ++i) {
        const Communicator& member = communicators_[i];
        if (member.in_class != static_cast<std::int32_t>(index)) continue;
        const double at = reached(member, now_ns, lead_ns);
        if (at < least) least = at;
        if (at > most) most = at;
    }
    std::uint32_t positions[domain_limit] = {};
    for (std::uint32_t i = 0; i < count_; ++i) {
        Communicator& member = communicators_[i];
        if (member.in_class != static_cast<std::int32_t>(index)) continue;
        const std::uint64_t period = member.last.period > 0 ? member.last.period : 1;
        const double at = most - least <= common_iterations ? most : reached(member, now_ns, lead_ns);
        Directive next;
        next.communicator = member.last.communicator;
        next.from_sequence = (static_cast<std::uint64_t>(std::ceil(at)) + 1) * period;
        next.epoch = last_epoch(member.now) + 1;
        next.period = static_cast<std::uint32_t>(period);
        next.skip = decision.washout < decision.iterations ? decision.washout : 0;
        next.length = decision.iterations - next.skip;
        next.position = positions[member.domain]++;
        next.setting = decision.setting;
        next.setting.domain = static_cast<std::uint8_t>(index * domain_limit + member.domain);
        member.now = next;
        member.told = false;
        member.block[0] = member.block[1] = BlockSummary();
        member.passed_ns = 0;
    }
    entry.running = true;
    entry.retransmissions = retransmissions_;
    announce(index);
}

bool Conductor::is_complete(std::uint32_t index) const {
    for (std::uint32_t i = 0; i < count_; ++i)
        if (communicators_[i].in_class == static_cast<std::int32_t>(index) && communicators_[i].block[0].epoch == 0) return false;
    return true;
}

// Given up when the calls of a communicator that has not reported are long past the block, or when others have left it behind.
// A program that makes no calls at all (a checkpoint) loses nothing.
bool Conductor::is_lost(std::uint32_t index, std::uint64_t now_ns) const {
    for (std::uint32_t i = 0; i < count_; ++i) {
        const Communicator& member = communicators_[i];
        if (member.in_class != static_cast<std::int32_t>(index) || member.passed_ns == 0) continue;
        const std::uint64_t beyond = member.last.calls - end_of(member.now);
        if (now_ns > member.passed_ns + lost_ns && beyond > lost_iterations * member.now.period) return true;
    }
    return false;
}

// Whether it is lost since a member makes no calls any more: it was freed, or its part of the program is over.
bool Conductor::has_left(std::uint32_t index, std::uint64_t now_ns) const {
    for (std::uint32_t i = 0; i < count_; ++i) {
        const Communicator& member = communicators_[i];
        if (member.in_class == static_cast<std::int32_t>(index) && member.passed_ns == 0 && now_ns > member.heard_ns + lost_ns) return true;
    }
    return false;
}

Observation Conductor::observation(std::uint32_t index) const {
    const Class& entry = classes_[index];
    Observation seen;
    seen.ran = entry.decision.setting;
    seen.valid = true;
    // a node that counts anew must not look like a storm
    seen.retransmissions = retransmissions_ > entry.retransmissions ? retransmissions_ - entry.retransmissions : 0;
    double count = 0, iterations = 0, ended = 0;
    seen.straggler_ns = INFINITY;
    for (std::uint32_t i = 0; i < count_; ++i) {
        const Communicator& member = communicators_[i];
        if (member.in_class != static_cast<std::int32_t>(index)) continue;
        const BlockSummary& block = member.block[0];
        if (block.epoch == 0 || block.members != block.size || block.late > 0 || block.iterations == 0 || block.calls == 0) {
            seen.valid = false;
            continue;
        }
        const double n = block.iterations, mean = static_cast<double>(block.iterations_ns) / n;
        const double variance = n > 1 ? (block.iterations_ns2 - n * mean * mean) / (n - 1) : 0;
        const double members = block.size;
        ++count;
        iterations += n;
        ended += static_cast<double>(end_of(member.now)) / member.now.period;
        seen.mean_ns += mean;
        seen.log_mean += std::log(mean > 1 ? mean : 1);
        seen.cv += variance > 0 && mean > 0 ? std::sqrt(variance) / mean : 0;
        seen.service_ns += static_cast<double>(seen.ran.arm == Arm::off ? block.least_wait_ns : block.least_service_ns);
        seen.shortest_service_ns += static_cast<double>(block.shortest_wait_ns);
        if (static_cast<double>(block.longest_service_ns) > seen.longest_service_ns) seen.longest_service_ns = static_cast<double>(block.longest_service_ns);
        seen.earliness_ns += static_cast<double>(block.most_wait_ns - block.least_wait_ns);
        seen.held_ns += static_cast<double>(block.held_ns);
        seen.held += block.held;
        seen.timeouts += block.timeouts;
        // A straggler of the class is one in each of its communicators: else the others would not wait for it.
        const std::uint64_t others = block.shortest_member == block.late_member ? block.second_shortest_wait_ns : block.shortest_wait_ns;
        const double waits = members > 1 && others > block.least_longest_wait_ns ? static_cast<double>(others - block.least_longest_wait_ns) : 0;
        if (waits < seen.straggler_ns) seen.straggler_ns = waits;
    }
    if (count == 0) {
        seen.valid = false;
        seen.straggler_ns = 0;
        return seen;
    }
    seen.iterations = static_cast<std::uint32_t>(iterations / count);
    seen.at_iteration = static_cast<std::uint64_t>(ended / count);
    for (double* const sum : {&seen.mean_ns, &seen.log_mean, &seen.cv, &seen.service_ns, &seen.shortest_service_ns, &seen.earliness_ns}) *sum /= count;
    return seen;
}

void Conductor::log(const Class& entry, const Observation& seen) {
    BlockLine& line = lines_[lines_written_++ % line_limit];
    if (lines_written_ - lines_read_ > line_limit) lines_read_ = lines_written_ - line_limit;
    line.signature = entry.account.signature;
    line.bytes = entry.account.bytes;
    line.round = entry.law.last_block().round;
    line.iterations = seen.iterations;
    line.communicators = entry.account.facts.communicators;
    line.valid = (seen.valid ? 1u : 0u) | (entry.law.last_block().ours ? 2u : 0u);
    line.ran = seen.ran;
    line.mean_ns = seen.mean_ns;
    line.log_mean = seen.log_mean;
    line.cv = seen.cv;
    line.service_ns = seen.service_ns;
    line.held_ns = seen.held_ns;
    line.retransmissions = seen.retransmissions;
}

void Conductor::turn(std::uint32_t index, std::uint64_t now_ns) {
    Class& entry = classes_[index];
    if (!entry.begun || entry.over) return;
    Facts& facts = entry.account.facts;
    facts.tcp = tcp_;
    facts.pays_for_waiting = pays_for_waiting_;
    bool strange = false;
    for (std::uint32_t i = 0; i < count_; ++i) {
        const Communicator& member = communicators_[i];
        if (member.in_class != static_cast<std::int32_t>(index)) continue;
        strange = strange || member.strange >= steady_reports;
        if (member.last.socket_bytes > facts.socket_bytes) facts.socket_bytes = member.last.socket_bytes;
    }
    entry.law.surroundings(facts.tcp, facts.pays_for_waiting, facts.socket_bytes);
    if (entry.left) return wait_for_loop(index, now_ns);
    // another loop has begun: what was learnt is about the one that was left
    if (strange) return leave_loop(index, now_ns);
    if (entry.running) {
        const bool complete = is_complete(index);
        if (!complete && !is_lost(index, now_ns)) return;
        entry.running = false;
        Observation seen = observation(index);
        entry.lost = complete ? 0 : entry.lost + 1;
        if (!complete) seen.valid = false;
        if (entry.lost == lost_limit) {
            if (has_left(index, now_ns)) return move_on(index, now_ns);
            entry.law.fault();
        }
        const Ended before = entry.law.account().state;
        const Decision decision = entry.law.step(seen);
        log(entry, seen);
        if (entry.law.is_over()) return end_class(index, now_ns);
        const Ended after = entry.law.account().state;
        if (active_ == static_cast<std::int32_t>(index) && before == Ended::running && after != Ended::running) choose_active(now_ns);
        entry.decision = decision;
        if (entry.has_then && decision.setting == entry.then.setting && decision.iterations == entry.then.iterations) return go_on(index, now_ns);
    }
    // A class that rests while another is probed waits for its turn; one that is engaged goes on.
    if (active_ != static_cast<std::int32_t>(index) && entry.law.account().state != Ended::engaged) return;
    give(index, entry.decision, now_ns);
}

std::uint32_t Conductor::directives(std::uint64_t now_ns, Directive* to, std::uint32_t limit) {
    if (faulted_) {
        for (std::uint32_t i = 0; i < class_count_; ++i) {
            if (classes_[i].left) classes_[i].law.move_on();
            classes_[i].law.fault();
            end_class(i, now_ns);
        }
    } else {
        // A class that came late has its turn as soon as nobody is probed.
        const bool is_over = active_ < 0 || classes_[active_].over || classes_[active_].left;
        if (is_over || (begun_ < class_count_ && classes_[active_].law.account().state != Ended::running)) choose_active(now_ns);
        for (std::uint32_t i = 0; i < class_count_; ++i) turn(i, now_ns);
    }
    std::uint32_t written = 0;
    for (std::uint32_t i = 0; i < count_ && written < limit; ++i) {
        if (communicators_[i].told) continue;
        to[written++] = communicators_[i].now;
        communicators_[i].told = true;
    }
    return written;
}

std::uint32_t Conductor::lines(BlockLine* to, std::uint32_t limit) {
    std::uint32_t written = 0;
    while (written < limit && lines_read_ < lines_written_) to[written++] = lines_[lines_read_++ % line_limit];
    return written;
}

const Conductor::ClassAccount& Conductor::account(std::uint32_t index) {
    Class& entry = classes_[index];
    if (entry.begun) entry.account.account = entry.law.account();
    return entry.account;
}

}  // namespace paced::pacing
