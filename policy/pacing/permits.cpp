// SPDX-License-Identifier: BSD-3-Clause
#include "policy/pacing/permits.h"


namespace paced::pacing {
namespace {

constexpr std::uint32_t none = ~std::uint32_t{0};
// One call that met a retransmission time-out must not make the next ones be expected to take as long: what is measured
// counts at most twice what was expected, and moves it by an eighth.
constexpr std::uint64_t most_growth = 2, weight = 8;

}  // namespace

void Permits::set(std::uint32_t domain, const PermitRule& rule) {
    if (domain >= permit_domains) return;
    PermitRule& own = domains_[domain].rule;
    own = rule;
    if (own.width == 0) own.width = 1;
    if (own.longest_ns == 0 || own.longest_ns > longest_permit_ns) own.longest_ns = longest_permit_ns;
    if (own.lead_percent > 90) own.lead_percent = 90;
}

bool Permits::request(std::uint32_t domain, std::uint64_t communicator, std::uint32_t size, std::uint64_t members, std::uint64_t sequence, std::uint64_t now_ns) {
    if (domain >= permit_domains || communicator == 0 || size == 0 || size > member_limit || members == 0) return false;
    if (size < 64 && members >> size != 0) return false;
    if (now_ns - second_ns_ >= 1'000'000'000) second_ns_ = now_ns, messages_ = 0;
    if (++messages_ > message_limit) return false;
    const std::uint32_t index = place(communicator, now_ns);
    if (index == none) return false;
    Entry& entry = entries_[index];
    if (entry.state == State::free) {
        entry.communicator = communicator;
        entry.domain = static_cast<std::uint8_t>(domain);
        entry.size = size;
        start(entry, sequence);
    } else if (sequence < entry.sequence) {
        return true;  // long granted, or never to be: its sender has gone on
    } else if (sequence > entry.sequence) {
        // Whoever asks for the next call has left the last one.
        if (entry.state == State::out) release(entry);
        if (entry.state == State::queued) unqueue(index);
        if (entry.size != size) entry.size = size, entry.expected_ns = 0;
        entry.domain = static_cast<std::uint8_t>(domain);
        start(entry, sequence);
    }
    entry.touched_ns = now_ns;
    entry.asked |= members;
    Domain& own = domains_[entry.domain];
    if (entry.state == State::asking) {
        const bool barrier = own.rule.kind == PermitRule::Kind::barrier;
        if (is_whole(entry, entry.asked) || (own.rule.on_first_request && !barrier)) enqueue(index);
        if (entry.state == State::queued) admit(own, now_ns);
    } else if (entry.state == State::out || entry.state == State::over) {
        tell(index, members);  // asked again, or a late member: the grant holds for it too
    }
    return true;
}

void Permits::done(std::uint64_t communicator, std::uint64_t members, std::uint64_t sequence, std::uint64_t now_ns) {
    if (now_ns - second_ns_ >= 1'000'000'000) second_ns_ = now_ns, messages_ = 0;
    ++messages_;  // never refused: it costs less than what it frees
    const std::uint32_t index = find(communicator);
    if (index == none || entries_[index].sequence != sequence) return;
    Entry& entry = entries_[index];
    entry.left |= members;
    Domain& domain = domains_[entry.domain];
    if (!(domain.rule.on_first_done || is_whole(entry, entry.left))) return;
    if (entry.state == State::queued) {
        // All went in without a grant: their deadlines were shorter than the queue.
        unqueue(index);
        entry.state = State::over;
    } else if (entry.state == State::out) {
        const std::uint64_t took_ns = now_ns - entry.granted_ns;
        if (entry.expected_ns == 0) {
            entry.expected_ns = took_ns;
        } else {
            const std::uint64_t counted = took_ns < most_growth * entry.expected_ns ? took_ns : most_growth * entry.expected_ns;
            entry.expected_ns = (entry.expected_ns * (weight - 1) + counted) / weight;
        }
        release(entry);
    } else {
        entry.state = State::over;
    }
    entry.touched_ns = now_ns;
    admit(domain, now_ns);
}

void Permits::tick(std::uint64_t now_ns) {
    for (std::uint32_t i = 0; i < used_; ++i) {
        Entry& entry = entries_[i];
        if (entry.state != State::out) continue;
        if (now_ns - entry.granted_ns >= domains_[entry.domain].rule.longest_ns) {
            ++expired_;
            release(entry);
        } else if (entry.counts && now_ns >= passed_on_at(entry)) {
            pass_on(entry);
        }
    }
    for (Domain& domain : domains_) admit(domain, now_ns);
}

std::uint64_t Permits::next_tick_ns() const {
    std::uint64_t next_ns = ~std::uint64_t{0};
    for (std::uint32_t i = 0; i < used_; ++i) {
        const Entry& entry = entries_[i];
        if (entry.state != State::out) continue;
        const std::uint64_t expiry_ns = entry.granted_ns + domains_[entry.domain].rule.longest_ns, pass_ns = entry.counts ? passed_on_at(entry) : ~std::uint64_t{0};
        const std::uint64_t own_ns = pass_ns < expiry_ns ? pass_ns : expiry_ns;
        if (own_ns < next_ns) next_ns = own_ns;
    }
    return next_ns;
}

bool Permits::next(Grant& grant) {
    while (to_send_ > 0) {
        Entry& entry = entries_[sending_[first_]];
        first_ = (first_ + 1) % permit_limit;
        --to_send_;
        entry.listed = false;
        if (entry.to_tell == 0) continue;  // they have asked for a later call meanwhile
        grant = {entry.communicator, entry.sequence, entry.to_tell};
        entry.to_tell = 0;
        return true;
    }
    return false;
}

bool Permits::knows(std::uint64_t communicator) const { return find(communicator) != none; }

std::uint32_t Permits::find(std::uint64_t communicator) const {
    for (std::uint32_t i = 0; i < used_; ++i)
        if (entries_[i].state != State::free && entries_[i].communicator == communicator) return i;
    return none;
}

// Its entry, or one for it: fresh, or that of a communicator that has been quiet for longer than any permit lasts.
std::uint32_t Permits::place(std::uint64_t communicator, std::uint64_t now_ns) {
    const std::uint32_t found = find(communicator);
    if (found != none) return found;
    if (used_ < permit_limit) return used_++;
    std::uint32_t oldest = none;
    for (std::uint32_t i = 0; i < used_; ++i) {
        const Entry& entry = entries_[i];
        const bool idle = (entry.state == State::over || entry.state == State::asking) && !entry.listed && now_ns - entry.touched_ns > longest_permit_ns;
        if (idle && (oldest == none || entry.touched_ns < entries_[oldest].touched_ns)) oldest = i;
    }
    if (oldest != none) entries_[oldest] = {};
    return oldest;
}

void Permits::start(Entry& entry, std::uint64_t sequence) {
    entry.sequence = sequence;
    entry.asked = entry.left = entry.to_tell = 0;
    entry.state = State::asking;
}

void Permits::enqueue(std::uint32_t index) {
    Domain& domain = domains_[entries_[index].domain];
    domain.queue[(domain.head + domain.queued++) % permit_limit] = static_cast<std::uint16_t>(index);
    entries_[index].state = State::queued;
}

void Permits::unqueue(std::uint32_t index) {
    Domain& domain = domains_[entries_[index].domain];
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < domain.queued; ++i) {
        const std::uint16_t other = domain.queue[(domain.head + i) % permit_limit];
        if (other != index) domain.queue[(domain.head + kept++) % permit_limit] = other;
    }
    domain.queued = kept;
}

void Permits::admit(Domain& domain, std::uint64_t now_ns) {
    while (domain.queued > 0 && (domain.rule.kind == PermitRule::Kind::barrier || domain.out < domain.rule.width)) {
        const std::uint32_t index = domain.queue[domain.head];
        domain.head = (domain.head + 1) % permit_limit;
        --domain.queued;
        grant(index, now_ns);
    }
}

void Permits::grant(std::uint32_t index, std::uint64_t now_ns) {
    Entry& entry = entries_[index];
    Domain& domain = domains_[entry.domain];
    entry.granted_ns = now_ns;
    if (domain.rule.kind == PermitRule::Kind::barrier) {
        entry.state = State::over;
    } else {
        entry.state = State::out;
        entry.counts = true;
        ++domain.out;
    }
    tell(index, entry.asked);
}

void Permits::tell(std::uint32_t index, std::uint64_t members) {
    Entry& entry = entries_[index];
    entry.to_tell |= members;
    if (!entry.listed) sending_[(first_ + to_send_++) % permit_limit] = static_cast<std::uint16_t>(index);
    entry.listed = true;
}

void Permits::release(Entry& entry) {
    Domain& domain = domains_[entry.domain];
    if (entry.counts) --domain.out;
    else --domain.passed;
    entry.counts = false;
    entry.state = State::over;
}

void Permits::pass_on(Entry& entry) {
    Domain& domain = domains_[entry.domain];
    entry.counts = false;
    --domain.out;
    ++domain.passed;
}

// Never while another one that was passed on has not ended: a call that takes longer than expected stops the passing on, so
// that no more than twice the width are ever in flight.
std::uint64_t Permits::passed_on_at(const Entry& entry) const {
    const Domain& domain = domains_[entry.domain];
    if (domain.rule.lead_percent == 0 || entry.expected_ns == 0 || domain.queued == 0 || domain.passed >= domain.rule.width) return ~std::uint64_t{0};
    return entry.granted_ns + entry.expected_ns / 100 * (100 - domain.rule.lead_percent);
}

// Counted here: where the machine has no instruction for it the compiler would call libgcc.
bool Permits::is_whole(const Entry& entry, std::uint64_t members) const {
    std::uint32_t count = 0;
    for (; members != 0; members &= members - 1) ++count;
    return count >= entry.size;
}

}  // namespace paced::pacing
