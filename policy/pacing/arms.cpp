// SPDX-License-Identifier: BSD-3-Clause
// AIMD: Chiu, Jain 1989, "Analysis of the increase and decrease algorithms for congestion avoidance in computer networks".
#include "policy/pacing/arms.h"

#include <cmath>
#include <initializer_list>

namespace paced::pacing {
namespace {

constexpr double air = 1.25;                   // of a slot; with a tenth a call in sixty still ran into the next and met a time-out
constexpr double more_air = 1.5;
constexpr std::uint64_t least_rate = 125'000;  // bytes/s, 1 Mbit/s: a slower socket stalls for longer than any gain
constexpr double most_ns = 1e15;               // 11 days: beyond it a double is no duration

std::uint64_t whole_ns(double ns) { return ns > 1 ? static_cast<std::uint64_t>(ns < most_ns ? ns : most_ns) : 1; }
std::uint64_t smaller(std::uint64_t a, std::uint64_t b) { return a < b ? a : b; }
// Communicators that take turns with one another.
std::uint32_t rivals_of(const Facts& facts) { return facts.rivals > 0 ? facts.rivals : facts.communicators; }

// Two digits are all that such a measurement has, and a name like slots:11ms is read more easily.
std::uint64_t rounded(std::uint64_t value) {
    std::uint64_t step = 1;
    while (value / step >= 100) step *= 10;
    return (value + step / 2) / step * step;
}

// The rate at which the busiest socket of a member sends if all share the bottleneck fairly: its part of a call over the wire time. That time is
// above the quickest call that was seen (one of several communicators may have had the link to itself: then nothing is known of a single call), and
// below the quickest mean of a block. So the rate lies between `least`, which takes no longer than OFF at its best, and `most`, above which a
// rate takes no overload away: both and one between, or one a little above where they are the same.
std::uint32_t rates_of(const Facts& facts, const OffWindow& off, Setting (&to)[candidate_limit]) {
    constexpr double below = 0.85, above = 1.15, apart = 1.2;
    const double mean = off.least_service_ns(), shortest = off.shortest_service_ns();
    if (!(mean > 0)) return 0;
    const double quickest = facts.calls == 1 && rivals_of(facts) == 1 && shortest > 0 && shortest < mean ? shortest : mean;
    const double bytes = 1e9 * static_cast<double>(facts.socket_bytes);
    const double most = below * bytes / quickest, least = below * bytes / mean;
    if (!(most < 1e12)) return 0;
    const double other_end = most > apart * least ? most : least / below * above;
    std::uint32_t count = 0;
    for (const double rate : {least, other_end, std::sqrt(least * other_end)}) {
        bool known = rate < static_cast<double>(least_rate);
        for (std::uint32_t i = 0; i < count; ++i) {
            const double other = static_cast<double>(to[i].rate_bytes_s);
            known = known || (rate * apart > other && other * apart > rate);
        }
        if (known) continue;
        to[count] = {};
        to[count].arm = Arm::rate;
        to[count++].rate_bytes_s = rounded(static_cast<std::uint64_t>(8 * rate)) / 8;
    }
    return count;
}

// The sockets of a process are slowed down together, so a rate must be one for what they mostly carry: a class whose payload, sent twice at most
// (ring), is less than what the busiest socket sends for each of its calls is not that. Where nobody has looked yet nothing is known.
bool knows_sockets(const Facts& facts) { return facts.tcp && facts.socket_bytes > 0 && facts.socket_bytes <= 2 * facts.bytes; }

// Each member sends to several others at once, and so several send to each: the members of one communicator overrun a port by themselves. Turns
// make them enter together, which is the worst they can do; a rate is what helps.
bool is_fan_in(const Facts& facts) { return knows_sockets(facts) && facts.size > 2 && facts.socket_bytes * 2 < facts.bytes; }

}  // namespace

bool can_act(Arm arm, const Facts& facts) {
    if (facts.window_ns == 0) return false;  // the user wants no delay, of any kind
    switch (arm) {
        case Arm::hold_local: return facts.most_local >= 2;
        case Arm::hold_remote: return facts.size >= 2;
        case Arm::admit:
        case Arm::slots: return rivals_of(facts) >= 2 && facts.size >= 2 && facts.crosses && !is_fan_in(facts);
        case Arm::rate: return knows_sockets(facts) && facts.size >= 2;
        case Arm::phase: return facts.size >= 2 && facts.crosses;
        default: return false;
    }
}

std::uint32_t arms_to_try(const Facts& facts, const Signature& seen, bool anyway, Arm (&to)[arm_count]) {
    std::uint32_t count = 0;
    const auto add = [&](Arm arm, bool wanted) {
        if (wanted && can_act(arm, facts)) to[count++] = arm;
    };
    // Slots before permits: they take the same turns, and no turn waits for a message (docs/pacing.md, Permits: what that costs).
    add(Arm::slots, seen.congested);
    // Where TCP's own counters would show an overload and show none, there is none to look for.
    add(Arm::admit, seen.congested || (anyway && !facts.tcp));
    add(Arm::rate, seen.retransmits);
    add(Arm::hold_local, seen.waits || anyway);
    add(Arm::hold_remote, seen.waits);
    add(Arm::phase, seen.foreign_blocks > 0);
    return count;
}

std::uint32_t candidates_of(Arm arm, const Facts& facts, const OffWindow& off, const Tuning& tuning, Setting (&to)[candidate_limit]) {
    std::uint32_t count = 0;
    Setting setting;
    setting.arm = arm;
    switch (arm) {
        case Arm::admit:
            setting.width = rivals_of(facts) / 2;
            to[count++] = setting;
            if (setting.width > 3) {
                setting.width /= 2;
                to[count++] = setting;
            }
            if (setting.width > 1) {
                setting.width = 1;
                to[count++] = setting;
            }
            break;
        case Arm::slots:
            // What one takes alone: they share the link now, and the quickest mean seen is near the wire time of all, a little below it where
            // some began before the others, and far above it where each block held some loss. These two find out (slot_of).
            if (!(off.least_service_ns() > 0)) break;
            for (const double more : {air, more_air}) {
                setting.delay_ns = rounded(whole_ns(more * off.least_service_ns() / rivals_of(facts)));
                to[count++] = setting;
            }
            break;
        case Arm::rate: count = rates_of(facts, off, to); break;
        case Arm::hold_local:
        case Arm::hold_remote: to[count++] = setting; break;
        case Arm::phase:
            setting.delay_ns = whole_ns(off.mean_ns() / 2);
            to[count++] = setting;
            break;
        default: break;
    }
    for (std::uint32_t i = 0; i < count; ++i) to[i] = with_cap(to[i], facts, off, tuning);
    return count;
}

bool slot_of(double service_ns, const Setting& under, const Facts& facts, const OffWindow& off, const Tuning& tuning, Setting& to) {
    if (!(service_ns >= 1) || !(service_ns < most_ns)) return false;
    const double slot_ns = static_cast<double>(under.delay_ns);
    to = {};
    to.arm = Arm::slots;
    to.delay_ns = rounded(whole_ns(service_ns > slot_ns ? 1.25 * slot_ns : air * service_ns));
    to = with_cap(to, facts, off, tuning);
    return true;
}

Setting control_of(const Setting& setting, const OffWindow& off) {
    Setting control;
    if (setting.arm != Arm::phase) return control;
    control = setting;  // forward by the rest of the iteration is back to where it was
    const std::uint64_t iteration = whole_ns(off.mean_ns());
    control.delay_ns = smaller(iteration > setting.delay_ns ? iteration - setting.delay_ns : 1, setting.cap_ns);
    return control;
}

Setting with_cap(Setting setting, const Facts& facts, const OffWindow& off, const Tuning& tuning) {
    const double mean = off.mean_ns(), calls = facts.calls > 0 ? facts.calls : 1;
    std::uint64_t cap = setting.cap_ns > 0 ? setting.cap_ns : longest_auto_hold_ns;
    switch (setting.arm) {
        case Arm::off:
        case Arm::rate: cap = 0; break;
        case Arm::hold_remote:
            cap = smaller(cap, whole_ns(mean * tuning.hold_percent / 100 / calls));
            setting.delay_ns = setting.delay_ns > 0 ? smaller(setting.delay_ns, cap) : cap;
            break;
        case Arm::hold_local:
        case Arm::barrier:
            if (facts.window_ns != ~std::uint64_t{0}) {
                cap = setting.cap_ns > 0 ? setting.cap_ns : facts.window_ns;
            } else {
                const double local = tuning.local_hold_ms * 1e6;
                cap = smaller(cap, whole_ns(local > mean ? local : mean));
            }
            break;
        case Arm::admit: {
            const std::uint32_t width = setting.width > 0 ? setting.width : 1;
            const std::uint32_t turns = (rivals_of(facts) + width - 1) / width;
            const double usual = 4 * off.service_ns(), longest = off.longest_service_ns();
            const double turn = longest < usual ? longest : usual;
            cap = turns > 1 ? whole_ns((turns - 1) * turn) : 1;
            if (setting.cap_ns > 0) cap = smaller(cap, setting.cap_ns);
            break;
        }
        case Arm::slots:
            cap = rivals_of(facts) > 1 && setting.delay_ns < longest_auto_hold_ns ? setting.delay_ns * (rivals_of(facts) - 1) : longest_auto_hold_ns;
            break;
        case Arm::phase:
        case Arm::fixed_delay: cap = setting.delay_ns; break;
    }
    setting.cap_ns = smaller(cap, facts.window_ns);
    if (setting.delay_ns > setting.cap_ns) setting.delay_ns = setting.cap_ns;
    setting.service_ns = setting.arm == Arm::hold_remote || setting.arm == Arm::fixed_delay ? whole_ns(off.service_ns()) : 0;
    return setting;
}

bool neighbour_of(const Setting& setting, bool congested, const Facts& facts, Setting& to) {
    to = setting;
    to.cap_ns = 0;
    if (setting.arm == Arm::admit) {
        to.width = congested ? setting.width / 2 : setting.width + 1;
        return to.width >= 1 && to.width < rivals_of(facts);
    }
    if (setting.arm == Arm::rate) {
        to.rate_bytes_s = congested ? setting.rate_bytes_s * 17 / 20 : setting.rate_bytes_s + setting.rate_bytes_s / 4;
        return to.rate_bytes_s >= least_rate;
    }
    if (setting.arm == Arm::slots && congested) {
        to.delay_ns = rounded(setting.delay_ns + setting.delay_ns / 4);
        return true;
    }
    return false;
}

bool are_alike(const Setting& a, const Setting& b) {
    if (a.arm != b.arm || a.width != b.width) return false;
    const auto near = [](std::uint64_t one, std::uint64_t other, double share) { return std::fabs(static_cast<double>(one) - static_cast<double>(other)) <= share * static_cast<double>(one > other ? one : other); };
    return a.arm == Arm::slots ? near(a.delay_ns, b.delay_ns, 0.1) : near(a.rate_bytes_s, b.rate_bytes_s, 0.05);
}

bool is_as_bold(const Setting& setting, const Setting& as) {
    if (setting.arm != as.arm) return false;
    switch (setting.arm) {
        case Arm::admit: return setting.width >= as.width;
        case Arm::rate: return setting.rate_bytes_s >= as.rate_bytes_s;
        case Arm::slots: return setting.delay_ns <= as.delay_ns;
        default: return false;
    }
}

}  // namespace paced::pacing
