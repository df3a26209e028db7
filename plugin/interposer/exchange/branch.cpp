// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/interposer/exchange/branch.h"

#include <cstring>
#include <ctime>

#include "plugin/interposer/shared.h"

namespace paced::interposer {
namespace {

constexpr std::uint64_t look_interval_ns = 25'000'000, longest_look_interval_ns = 1'000'000'000;
// Ten a second are allowed; a bucket of a hundred forgives what a busy core or a queue has held back.
constexpr std::uint32_t summaries_limit = 100;
constexpr std::size_t around_payload = sizeof(FrameHeader) + mac_size;

// Of this thread: on a busy machine a look may last much longer than it works, and that is no reason to look more rarely.
std::uint64_t worked_ns() {
    timespec time;
    return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0 ? static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec) : 0;
}

}  // namespace

void Branch::look(std::uint64_t now) {
    if (now < next_look_ns_) return;
    const std::uint64_t before = worked_ns();
    gatherer_.look(now);
    // what it reads is the user's own memory: nonsense there (a program that writes astray) is off for good, like any other
    if (!junction_.hear(Junction::own, gatherer_.head(), gatherer_.progresses(), gatherer_.blocks(), now)) off();
    const std::uint64_t behind = now_ns(), spent = worked_ns() - before;
    const std::uint64_t interval = spent * 1000 > look_interval_ns ? spent * 1000 : look_interval_ns;
    next_look_ns_ = behind + (interval < longest_look_interval_ns ? interval : longest_look_interval_ns);
}

bool Branch::hear_summary(Peer& peer, const Channel::Frame& frame, std::uint64_t now_ns) {
    if (peer.child == 0) {
        if (children_ + 1 == Junction::child_limit) return false;
        peer.child = ++children_;
        peer.heard_ns = now_ns;
    }
    const std::uint64_t drained = (now_ns - peer.heard_ns) / message_interval_ns;
    peer.summaries -= drained < peer.summaries ? static_cast<std::uint32_t>(drained) : peer.summaries;
    peer.heard_ns = now_ns;
    return ++peer.summaries <= summaries_limit && junction_.hear(peer.child, frame.payload, frame.size, now_ns);
}

bool Branch::child_gone(const Peer& peer) {
    if (peer.child == 0) return false;
    const bool lost = !junction_.is_ending(peer.child) && peer.state == Peer::State::ready;
    junction_.leave(peer.child, lost);
    return lost;
}

void Branch::drop_silent(Peers& peers, const Peers::Owner& owner, std::uint64_t now_ns) {
    for (Peer& peer : peers)
        if (peer.state == Peer::State::ready && peer.child != 0 && !junction_.is_ending(peer.child) && now_ns > peer.heard_ns + settings_.silence_limit_ns) peers.drop(peer, &owner);
}

void Branch::tell_children(Peers& peers, const Peers::Owner& owner, std::uint64_t now_ns) {
    for (Peer& peer : peers) {
        if (peer.state != Peer::State::ready || peer.child == 0 || now_ns < peer.said_ns + message_interval_ns || peer.posted > peer.flushed) continue;
        std::size_t size = junction_.compose_directives(peer.child, payload_, sizeof payload_);
        if (size == 0) {
            if (now_ns < peer.said_ns + life_interval_ns) continue;
            const DirectivesHead none{0, 0};
            std::memcpy(payload_, &none, size = sizeof none);
        }
        peer.said_ns = now_ns;
        junction_.count_message(size + around_payload);
        if (!peers.post(peer, Message::directives, payload_, size)) peers.drop(peer, &owner);
    }
}

bool Branch::say_summary(Link& up, std::uint64_t now_ns, bool ending) {
    if (up.is_busy() && !ending) return up.flush();
    const std::uint64_t silent = now_ns - said_ns_;
    const bool due = ending || silent >= life_interval_ns || (silent >= message_interval_ns && junction_.has_block(now_ns))
        || (silent >= progress_interval_ns && junction_.has_progress());
    if (!due) return true;
    said_ns_ = now_ns;
    if (heard_ns_ == 0) heard_ns_ = now_ns;  // from now on there is something to hear
    const std::size_t size = junction_.compose_summary(payload_, sizeof payload_, now_ns, ending ? std::uint32_t{summary_ending} : 0);
    junction_.count_message(size + around_payload);
    // the last one is worth a wait: without it the end would look like a loss
    return ending ? up.send(Message::summary, payload_, size, now_ns + message_interval_ns) : up.post(Message::summary, payload_, size);
}

bool Branch::hear_directives(const Channel::Frame& frame, std::uint64_t now_ns) {
    DirectivesHead head;
    if (frame.size < sizeof head) return false;
    std::memcpy(&head, frame.payload, sizeof head);
    if (head.count > payload_limit / sizeof(pacing::Directive) || frame.size != sizeof head + head.count * sizeof(pacing::Directive)) return false;
    heard_ns_ = now_ns;
    for (std::uint32_t i = 0; i < head.count; ++i) {
        pacing::Directive directive;
        std::memcpy(&directive, frame.payload + sizeof head + i * sizeof directive, sizeof directive);
        if (!junction_.tell(directive)) return false;
    }
    apply();
    return true;
}

// Ranks make an entry at their first call, long before anything is decided about it: a directive without one (their table is full)
// has nobody to follow it.
void Branch::apply() {
    while (const pacing::Directive* const directive = junction_.take_own())
        if (!off_) segment_.write(*directive);
}

void Branch::off() {
    off_ = true;
    segment_.all_off();
}

}  // namespace paced::interposer
