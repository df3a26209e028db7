// SPDX-License-Identifier: BSD-3-Clause
// Classes: which communicators form one, leave it, come back and meet on a link, and whose turn it is to be probed.
#include "policy/pacing/conductor.h"
#include "policy/pacing/permits.h"

namespace paced::pacing {
namespace {

constexpr std::uint64_t millisecond = 1'000'000;

// No law begins before the classes have been complete for this long: parallel groups come out of their set-up one by one.
constexpr std::uint64_t settle_ns = 500 * millisecond;
// Nor while one is on its way into a class, for so long at most.
constexpr std::uint64_t gathering_ns = 10'000 * millisecond;
// One whose members do not agree may only lack the word of a busy node, which speaks a second late: such are waited for too, for so long
// after the last one that joined.
constexpr std::uint64_t disagreeing_ns = 2'500 * millisecond;
// Weight of the newest report in a communicator's rate.
constexpr double rate_weight = 0.3;

bool is_same_class(const Progress& a, std::uint64_t signature, const Facts& facts) {
    return a.signature == signature && a.size == facts.size && (a.leaves > 1) == facts.crosses;
}

}  // namespace

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
        if (one.in_class < 0 && one.now.epoch == 0 && (oldest == nullptr || one.heard_ns < oldest->heard_ns)) oldest = &one;
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
    if (entry.running && known->passed_ns == 0 && progress.calls >= end_of(known->now)) known->passed_ns = now_ns;
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

std::uint32_t Conductor::present(std::uint32_t index) const {
    std::uint32_t members = 0;
    for (std::uint32_t i = 0; i < count_; ++i) members += communicators_[i].in_class == static_cast<std::int32_t>(index);
    return members;
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

}  // namespace paced::pacing
