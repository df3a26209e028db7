// SPDX-License-Identifier: BSD-3-Clause
// What every node does under `pace`, whether it leads or not: looks at its own ranks, hears the nodes below, and sees to it that
// directives reach both. Off for good once anything is wrong on the way to the leader. One thread.
#pragma once

#include "plugin/interposer/exchange/gather.h"
#include "plugin/interposer/exchange/junction.h"
#include "plugin/interposer/exchange/link.h"
#include "plugin/interposer/exchange/paced_segment.h"
#include "plugin/interposer/exchange/peers.h"

namespace paced::interposer {

// Between two messages to the same node. Progress alone is said half as often, so that a block, which somebody waits for, mostly finds
// the line free; and a sign of life once a second.
inline constexpr std::uint64_t message_interval_ns = 100'000'000;
inline constexpr std::uint64_t progress_interval_ns = 2 * message_interval_ns;
inline constexpr std::uint64_t life_interval_ns = 1'000'000'000;

class Branch {
public:
    // memory: Junction::size() bytes of zeros.
    Branch(const ExchangeSettings& settings, int segment, segment::Header& header, void* memory)
        : settings_(settings), segment_(header), gatherer_(segment, header, settings.leaf), junction_(memory) {}

    void begin() { segment_.clear_directives(); }
    void set_permits_port(std::uint16_t port) { segment_.set_permits_port(port); }
    // Looks at the ranks if it is time to. Often enough that a finished block does not wait, and never for more than a thousandth of
    // this thread's time.
    void look(std::uint64_t now_ns);
    std::uint64_t next_look_ns() const { return next_look_ns_; }

    // From below. false: the peer is to be dropped.
    bool hear_summary(Peer& peer, const Channel::Frame& frame, std::uint64_t now_ns);
    // A peer goes. true: it was a child, and did not say that it would.
    bool child_gone(const Peer& peer);
    // Drops children that have been silent.
    void drop_silent(Peers& peers, const Peers::Owner& owner, std::uint64_t now_ns);
    void tell_children(Peers& peers, const Peers::Owner& owner, std::uint64_t now_ns);

    // To and from above. false: the connection is of no more use.
    bool say_summary(Link& up, std::uint64_t now_ns, bool ending);
    bool hear_directives(const Channel::Frame& frame, std::uint64_t now_ns);
    // Something should have been heard from above for long.
    bool is_forgotten(std::uint64_t now_ns) const { return heard_ns_ != 0 && now_ns > heard_ns_ + settings_.silence_limit_ns; }

    void apply();
    // Nothing is paced here any more.
    void off();
    bool is_off() const { return off_; }
    bool is_pacing() const { return segment_.is_pacing(); }
    void forget() { segment_.forget(); }

    Junction& junction() { return junction_; }

private:
    const ExchangeSettings& settings_;
    PacedSegment segment_;
    std::uint64_t next_look_ns_ = 0, said_ns_ = 0, heard_ns_ = 0;
    std::uint32_t children_ = 0;
    bool off_ = false;
    Gatherer gatherer_;
    Junction junction_;
    std::uint8_t payload_[payload_limit];
};

}  // namespace paced::interposer
