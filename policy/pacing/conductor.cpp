// SPDX-License-Identifier: BSD-3-Clause
#include "policy/pacing/conductor.h"

#include <cmath>
#include <initializer_list>

#include "policy/pacing/permits.h"

namespace paced::pacing {
namespace {

constexpr std::uint64_t millisecond = 1'000'000;

// A directive's way to the last rank: the node's agent looks at its socket at once, but its core may be busy.
constexpr std::uint64_t lead_ns = 60 * millisecond;
// Reports with one period before a communicator is believed to be in its loop.
constexpr std::uint32_t steady_reports = 3;
// No law begins before the classes have been complete for this long: parallel groups come out of their set-up one by one.
constexpr std::uint64_t settle_ns = 500 * millisecond;
// Nor while one is on its way into a class, for so long at most.
constexpr std::uint64_t gathering_ns = 10'000 * millisecond;
// One whose members do not agree may only lack the word of a busy node, which speaks a second late: such are waited for too, for so long
// after the last one that joined.
constexpr std::uint64_t disagreeing_ns = 2'500 * millisecond;
// Iterations that a block may lie behind the others, or its summary behind its calls, before it is given up.
constexpr std::uint64_t lost_iterations = 16;
constexpr std::uint64_t lost_ns = 2'000 * millisecond;
constexpr std::uint32_t lost_limit = 3;
// Parallel groups of one program count alike; what differs by more are groups that run on their own.
constexpr double common_iterations = 4;
// Weight of the newest report in a communicator's rate.
constexpr double rate_weight = 0.3;

// Where the first or the second block of its directive ends.
template <class Communicator> std::uint64_t end_of_half(const Communicator& communicator, std::uint32_t half) {
    return end_of(half == 0 ? communicator.next : following(communicator.next));
}

bool is_same_class(const Progress& a, std::uint64_t signature, const Facts& facts) {
    return a.signature == signature && a.size == facts.size && (a.leaves > 1) == facts.crosses;
}

}  // namespace

Conductor::Conductor(const Tuning& tuning, std::uint64_t window_ns, std::uint64_t seed) : tuning_(tuning), window_ns_(window_ns), seed_(seed) {}

Conductor::Communicator* Conductor::find(std::uint64_t id) {
    for (std::uint32_t i = 0; i < count_; ++i)
        if (communicators_[i].last.communicator == id) return &communicators_[i];
    return nullptr;
}

// A program that makes and frees communicators all the time: one of which nothing was ever decided, and which was not heard of
// for longest, makes room.
Conductor::Communicator* Conductor::free_place() {
    if (count_ < conducted_limit) return &communicators_[count_++];
    Communicator* oldest = nullptr;
    for (Communicator& one : communicators_)
        if (one.in_class < 0 && one.next.epoch == 0 && (oldest == nullptr || one.heard_ns < oldest->heard_ns)) oldest = &one;
    return oldest;
}

void Conductor::progress(const Progress& progress, std::uint64_t now_ns) {
    Communicator* known = find(progress.communicator);
    if (known == nullptr) {
        known = free_place();
        if (known == nullptr) return;
        *known = Communicator();
        known->last = progress;
        known->heard_ns = known->met_ns = now_ns;
        return;
    }
    if (now_ns > known->heard_ns && progress.calls >= known->last.calls) {
        const double rate = static_cast<double>(progress.calls - known->last.calls) / static_cast<double>(now_ns - known->heard_ns);
        known->calls_per_ns = known->calls_per_ns > 0 ? known->calls_per_ns + rate_weight * (rate - known->calls_per_ns) : rate;
    }
    const bool same = progress.signature != 0 && progress.period != 0 && progress.signature == known->last.signature && progress.period == known->last.period;
    known->reports = same && progress.calls > known->last.calls ? known->reports + 1 : same ? known->reports : 0;
    known->last = progress;
    known->heard_ns = now_ns;
    if (known->in_class < 0) {
        if (known->reports >= steady_reports && progress.size > 1 && progress.members == progress.size && join_class(*known, now_ns)) joined_ns_ = now_ns;
        return;
    }
    Class& entry = classes_[known->in_class];
    known->strange = is_same_class(progress, entry.account.signature, entry.account.facts) ? 0 : known->strange + 1;
    if (entry.running && known->passed_ns == 0 && progress.calls >= end_of_half(*known, entry.half)) known->passed_ns = now_ns;
}

// A law that has begun keeps the communicators it began with, or as many.
bool Conductor::join_class(Communicator& communicator, std::uint64_t now_ns) {
    const Progress& last = communicator.last;
    for (std::uint32_t i = 0; i < class_count_; ++i) {
        Class& entry = classes_[i];
        if (entry.over || !is_same_class(last, entry.account.signature, entry.account.facts)) continue;
        Facts& facts = entry.account.facts;
        if (entry.begun) {
            if (!entry.left || present(i) == facts.communicators) continue;
            communicator.in_class = static_cast<std::int32_t>(i);
            communicator.strange = 0;
            if (entry.back_ns == 0) entry.back_ns = now_ns;
            if (present(i) == facts.communicators) {
                find_domains(i);
                resume_loop(i);
            }
            return true;
        }
        communicator.in_class = static_cast<std::int32_t>(i);
        ++facts.communicators;
        if (last.most_local > facts.most_local) facts.most_local = last.most_local;
        return true;
    }
    if (class_count_ == class_limit) return false;
    Class& entry = classes_[class_count_];
    entry.account.signature = last.signature;
    entry.account.bytes = last.bytes;
    entry.account.facts = Facts{.communicators = 1, .size = last.size, .most_local = last.most_local, .crosses = last.leaves > 1, .window_ns = window_ns_, .calls = last.period};
    communicator.in_class = static_cast<std::int32_t>(class_count_++);
    return true;
}

void Conductor::block(const BlockSummary& block) {
    Communicator* const known = find(block.communicator);
    if (known == nullptr || known->in_class < 0 || block.epoch < known->next.epoch || block.epoch > last_epoch(known->next)) return;
    BlockSummary& place = known->block[block.epoch - known->next.epoch];
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

// All communicators of the class change at the same time, as far as that can be foreseen. Where they count the same iterations it
// can: then it is the same one for all.
void Conductor::give(std::uint32_t index, const Decision& decision, std::uint64_t now_ns) {
    Class& entry = classes_[index];
    entry.decision = decision;
    entry.half = 0;
    entry.has_then = !entry.over && !entry.left && entry.law.following(entry.then);
    double least = INFINITY, most = 0;
    for (std::uint32_t i = 0; i < count_; ++i) {
        const Communicator& member = communicators_[i];
        if (member.in_class != static_cast<std::int32_t>(index)) continue;
        const double at = (predicted_calls(member, now_ns) + member.calls_per_ns * static_cast<double>(lead_ns)) / (member.last.period > 0 ? member.last.period : 1);
        if (at < least) least = at;
        if (at > most) most = at;
    }
    std::uint32_t positions[domain_limit] = {};
    for (std::uint32_t i = 0; i < count_; ++i) {
        Communicator& member = communicators_[i];
        if (member.in_class != static_cast<std::int32_t>(index)) continue;
        const std::uint64_t period = member.last.period > 0 ? member.last.period : 1;
        const double own = (predicted_calls(member, now_ns) + member.calls_per_ns * static_cast<double>(lead_ns)) / static_cast<double>(period);
        const double at = most - least <= common_iterations ? most : own;
        Directive next;
        next.communicator = member.last.communicator;
        next.from_sequence = (static_cast<std::uint64_t>(std::ceil(at)) + 1) * period;
        next.epoch = last_epoch(member.next) + 1;
        next.period = static_cast<std::uint32_t>(period);
        next.skip = decision.washout < decision.iterations ? decision.washout : 0;
        next.length = decision.iterations - next.skip;
        next.position = positions[member.domain]++;
        next.setting = decision.setting;
        next.setting.domain = static_cast<std::uint8_t>(index * domain_limit + member.domain);
        if (entry.has_then) {
            next.then_skip = entry.then.washout < entry.then.iterations ? entry.then.washout : 0;
            next.then_length = entry.then.iterations - next.then_skip;
            next.then = entry.then.setting;
            next.then.domain = next.setting.domain;
        }
        member.next = next;
        member.told = false;
        member.block[0] = member.block[1] = BlockSummary();
        member.passed_ns = 0;
    }
    entry.running = true;
    entry.retransmissions = retransmissions_;
}

bool Conductor::is_complete(std::uint32_t index) const {
    for (std::uint32_t i = 0; i < count_; ++i)
        if (communicators_[i].in_class == static_cast<std::int32_t>(index) && communicators_[i].block[classes_[index].half].epoch == 0) return false;
    return true;
}

// Given up when the calls of a communicator that has not reported are long past the block, or when others have left it behind.
// A program that makes no calls at all (a checkpoint) loses nothing.
bool Conductor::is_lost(std::uint32_t index, std::uint64_t now_ns) const {
    for (std::uint32_t i = 0; i < count_; ++i) {
        const Communicator& member = communicators_[i];
        if (member.in_class != static_cast<std::int32_t>(index) || member.passed_ns == 0) continue;
        const std::uint64_t beyond = member.last.calls - end_of_half(member, classes_[index].half);
        if (now_ns > member.passed_ns + lost_ns && beyond > lost_iterations * member.next.period) return true;
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
        const BlockSummary& block = member.block[entry.half];
        if (block.epoch == 0 || block.members != block.size || block.late > 0 || block.iterations == 0 || block.calls == 0) {
            seen.valid = false;
            continue;
        }
        const double n = block.iterations, mean = static_cast<double>(block.iterations_ns) / n;
        const double variance = n > 1 ? (block.iterations_ns2 - n * mean * mean) / (n - 1) : 0;
        const double members = block.size;
        ++count;
        iterations += n;
        ended += static_cast<double>(end_of_half(member, entry.half)) / member.next.period;
        seen.mean_ns += mean;
        seen.log_mean += std::log(mean > 1 ? mean : 1);
        seen.cv += variance > 0 && mean > 0 ? std::sqrt(variance) / mean : 0;
        seen.service_ns += static_cast<double>(seen.ran.arm == Arm::off ? block.least_wait_ns : block.least_service_ns);
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
    for (double* const sum : {&seen.mean_ns, &seen.log_mean, &seen.cv, &seen.service_ns, &seen.earliness_ns}) *sum /= count;
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

static_assert(class_limit * domain_limit <= permit_domains && permit_domains <= 256);  // Setting::domain has 8 bits

// Two communicators meet on a link where they have members under one leaf, for all of them cross its uplink. Those that do not meet, not even
// by way of others, need not wait for each other: each domain takes turns by itself.
void Conductor::find_domains(std::uint32_t index) {
    std::uint64_t leaves[domain_limit] = {};
    std::uint32_t domains = 0;
    for (std::uint32_t i = 0; i < count_; ++i) {
        if (communicators_[i].in_class != static_cast<std::int32_t>(index)) continue;
        std::uint64_t set = communicators_[i].last.leaf_set != 0 ? communicators_[i].last.leaf_set : ~std::uint64_t{0};
        std::uint32_t kept = 0;
        for (std::uint32_t d = 0; d < domains; ++d) {
            if ((leaves[d] & set) != 0) {
                set |= leaves[d];
            } else {
                leaves[kept++] = leaves[d];
            }
        }
        if (kept == domain_limit) set |= leaves[--kept];
        leaves[kept++] = set;
        domains = kept;
    }
    std::uint32_t members[domain_limit] = {}, most = 0;
    for (std::uint32_t i = 0; i < count_; ++i) {
        Communicator& member = communicators_[i];
        if (member.in_class != static_cast<std::int32_t>(index)) continue;
        member.domain = 0;
        while (member.last.leaf_set != 0 && (leaves[member.domain] & member.last.leaf_set) == 0) ++member.domain;
        if (++members[member.domain] > most) most = members[member.domain];
    }
    classes_[index].account.facts.rivals = most;
}

void Conductor::begin_law(std::uint32_t index, std::uint64_t now_ns) {
    Class& entry = classes_[index];
    Facts& facts = entry.account.facts;
    facts.tcp = tcp_;
    facts.pays_for_waiting = pays_for_waiting_;
    facts.bytes = entry.account.bytes;
    facts.error_share = error_share_of_class(begun_++);
    find_domains(index);
    entry.law = Law(tuning_, facts, seed_ + index);
    entry.begun = true;
    give(index, entry.law.first(), now_ns);
}

void Conductor::end_class(std::uint32_t index, std::uint64_t now_ns) {
    Class& entry = classes_[index];
    if (entry.over) return;
    entry.over = true;
    if (entry.begun) give(index, Decision{}, now_ns);
    entry.running = false;
}

std::uint32_t Conductor::present(std::uint32_t index) const {
    std::uint32_t members = 0;
    for (std::uint32_t i = 0; i < count_; ++i) members += communicators_[i].in_class == static_cast<std::int32_t>(index);
    return members;
}

// The communicators may be in another class once they are steady again.
void Conductor::leave_loop(std::uint32_t index, std::uint64_t now_ns) {
    Class& entry = classes_[index];
    const Decision undone = entry.decision;
    entry.left = true;
    entry.back_ns = 0;
    give(index, Decision{}, now_ns);
    entry.decision = undone;
    entry.running = false;
    release(index);
}

void Conductor::resume_loop(std::uint32_t index) {
    Class& entry = classes_[index];
    entry.left = false;
    entry.lost = 0;
    entry.law.resume();
    if (active_ < 0 || !is_probed(classes_[active_])) active_ = static_cast<std::int32_t>(index);
}

// Some are back: those that go on elsewhere are let go again, and if the others do not come the class is over.
void Conductor::wait_for_loop(std::uint32_t index, std::uint64_t now_ns) {
    Class& entry = classes_[index];
    if (entry.back_ns == 0) return;
    for (std::uint32_t i = 0; i < count_; ++i) {
        Communicator& member = communicators_[i];
        if (member.in_class != static_cast<std::int32_t>(index) || member.strange < steady_reports) continue;
        member.in_class = -1;
        member.reports = member.strange = 0;
    }
    if (present(index) == 0) entry.back_ns = 0;
    if (entry.back_ns != 0 && now_ns > entry.back_ns + gathering_ns) move_on(index, now_ns);
}

void Conductor::move_on(std::uint32_t index, std::uint64_t now_ns) {
    classes_[index].law.move_on();
    end_class(index, now_ns);
    release(index);
}

void Conductor::release(std::uint32_t index) {
    for (std::uint32_t i = 0; i < count_; ++i) {
        Communicator& member = communicators_[i];
        if (member.in_class != static_cast<std::int32_t>(index)) continue;
        member.in_class = -1;
        member.reports = member.strange = 0;
    }
}

bool Conductor::is_gathering(std::uint64_t now_ns) const {
    if (begun_ > 0 || class_count_ == class_limit) return false;
    for (std::uint32_t i = 0; i < count_; ++i) {
        const Communicator& one = communicators_[i];
        const std::uint64_t until_ns = one.last.signature != 0 ? one.met_ns + gathering_ns : joined_ns_ + disagreeing_ns;
        if (one.in_class < 0 && one.last.size > 1 && one.heard_ns + lost_ns > now_ns && now_ns < until_ns) return true;
    }
    return false;
}

bool Conductor::is_probed(const Class& entry) const { return entry.begun && !entry.over && !entry.left && entry.law.account().state == Ended::running; }

// What takes most time comes first, as far as that is known without a block: calls made times their bytes.
void Conductor::choose_active(std::uint64_t now_ns) {
    if (active_ >= 0 && is_probed(classes_[active_])) return;  // as long as it is nobody else is
    if (now_ns < joined_ns_ + settle_ns || is_gathering(now_ns)) return;
    // What is only there to be compared with acts on one class, the heaviest: two of them would overlap.
    if (tuning_.method != Method::ours && begun_ > 0) return;
    double most = -1;
    std::int32_t chosen = -1;
    for (std::uint32_t i = 0; i < class_count_; ++i) {
        const Class& entry = classes_[i];
        if (entry.begun || entry.over) continue;
        double weight = 0;
        for (std::uint32_t j = 0; j < count_; ++j)
            if (communicators_[j].in_class == static_cast<std::int32_t>(i)) weight += communicators_[j].calls_per_ns * (1e3 + static_cast<double>(communicators_[j].last.bytes));
        if (weight > most) most = weight, chosen = static_cast<std::int32_t>(i);
    }
    if (chosen >= 0) {
        begin_law(static_cast<std::uint32_t>(chosen), now_ns);
        active_ = chosen;
        return;
    }
    if (active_ < 0) return;
    // All have begun: those that rest take turns, each until its next probe has ended.
    for (std::uint32_t step = 1; step <= class_count_; ++step) {
        const std::uint32_t i = static_cast<std::uint32_t>(active_ + static_cast<std::int32_t>(step)) % class_count_;
        if (classes_[i].over || classes_[i].left || classes_[i].law.account().state == Ended::engaged) continue;
        active_ = static_cast<std::int32_t>(i);
        return;
    }
}

void Conductor::turn(std::uint32_t index, std::uint64_t now_ns) {
    Class& entry = classes_[index];
    if (!entry.begun || entry.over) return;
    entry.account.facts.tcp = tcp_;
    entry.account.facts.pays_for_waiting = pays_for_waiting_;
    entry.law.surroundings(tcp_, pays_for_waiting_);
    if (entry.left) return wait_for_loop(index, now_ns);
    for (std::uint32_t i = 0; i < count_; ++i) {
        // another loop has begun: what was learnt is about the one that was left
        if (communicators_[i].in_class == static_cast<std::int32_t>(index) && communicators_[i].strange >= steady_reports) return leave_loop(index, now_ns);
    }
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
        const bool goes_on = entry.half == 0 && entry.has_then && decision.setting == entry.then.setting && decision.iterations == entry.then.iterations;
        entry.decision = decision;
        if (goes_on) {
            entry.half = 1;
            entry.running = true;
            entry.retransmissions = retransmissions_;
            for (std::uint32_t i = 0; i < count_; ++i)
                if (communicators_[i].in_class == static_cast<std::int32_t>(index)) communicators_[i].passed_ns = 0;
            return;
        }
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
        to[written++] = communicators_[i].next;
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
