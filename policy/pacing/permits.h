// SPDX-License-Identifier: BSD-3-Clause
// Who may enter: the arbiter of the bottleneck domains. At most `width` communicators of a domain are in flight (and as many again
// in what is expected to be their last moments, see lead_percent); a communicator asks by its members' arrivals, is granted as a whole, and gives back when its members are done. Work-conserving:
// nobody waits while a permit is free. In the order of asking. A permit that is not given back is taken back after a
// while (a member that died, a message that was lost), so nothing here can stop a job; the gate's own deadline is the second fence.
//
// Messages may be lost, come twice or in the wrong order: members are bits of a set, sequence numbers only grow, what is
// older than the newest is dropped, and what is asked for again after it was granted is granted again.
//
// What is refused: communicators of more than member_limit, a 257th communicator while all others are in use, and what comes
// faster than message_limit. The server answers those at once with a grant of its own: they are not delayed.
// Pure, fixed memory; the same object in the interposer and in the simulator. Times: nanoseconds of one clock that never steps back.
#pragma once

#include <cstdint>

namespace paced::pacing {

inline constexpr std::uint32_t permit_limit = 256;   // communicators, over all domains
inline constexpr std::uint32_t permit_domains = 128;
inline constexpr std::uint32_t member_limit = 64;    // of one communicator
// Requests and dones in one second. At about 5 us each this is a tenth of a core at the leader; beyond it permits cost more than they can gain.
inline constexpr std::uint32_t message_limit = 20000;
// No permit lasts longer, whatever is asked for: the default of the site's window_max.
inline constexpr std::uint64_t longest_permit_ns = 100'000'000;

// See PermitRule::lead_percent. None: where an overlap costs time-outs it costs more than the turns' ends do (docs/pacing.md, Permits).
inline constexpr std::uint32_t default_lead_percent = 0;

struct PermitRule {
    enum class Kind : std::uint8_t {
        admit,    // as above
        barrier,  // granted when all members have asked, any number in flight
    };
    Kind kind = Kind::admit;
    // Granted when the first member asks (true) or when all have. An early grant spares the last arriver a round trip, but only where
    // nobody waits, and keeps the link idle until it comes.
    bool on_first_request = false;
    // Given back when the first member is done (true) or when all are. A synchronizing call is over when its first member leaves it, and
    // on a crowded node another one can be milliseconds late to notice, while the link is idle.
    bool on_first_done = true;
    std::uint32_t width = 1;      // at least 1
    std::uint64_t longest_ns = longest_permit_ns;
    // The next one is granted this long before the running one is expected to end, which covers the way of `done` and of the
    // grant and the start of the next call; 0: when it has ended. In percent of the expected time, since both ends of a call grow with it.
    std::uint32_t lead_percent = default_lead_percent;

    friend constexpr bool operator==(const PermitRule&, const PermitRule&) = default;
};

class Permits {
public:
    struct Grant {
        std::uint64_t communicator;
        std::uint64_t sequence;
        std::uint64_t members;  // whom to tell: who have asked and do not know
    };

    // From now on. Permits that are out stay out.
    void set(std::uint32_t domain, const PermitRule& rule);
    // Members (bit r: rank r) have arrived at their call `sequence`. false: refused, they shall enter at once.
    bool request(std::uint32_t domain, std::uint64_t communicator, std::uint32_t size, std::uint64_t members, std::uint64_t sequence, std::uint64_t now_ns);
    // Members have left it.
    void done(std::uint64_t communicator, std::uint64_t members, std::uint64_t sequence, std::uint64_t now_ns);
    // Takes back what is too old, and passes on what is expected to end.
    void tick(std::uint64_t now_ns);
    // When tick will next have something to do; ~0: not before the next message.
    std::uint64_t next_tick_ns() const;
    // The next grant to be sent; false: none.
    bool next(Grant& grant);

    bool knows(std::uint64_t communicator) const;

    // For tests and the simulator: permits of the domain that are out and not yet passed on.
    std::uint32_t in_flight(std::uint32_t domain) const { return domain < permit_domains ? domains_[domain].out : 0; }
    std::uint64_t expired() const { return expired_; }

private:
    enum class State : std::uint8_t { free, asking, queued, out, over };
    struct Entry {
        std::uint64_t communicator, sequence;
        std::uint64_t asked, left;    // members
        std::uint64_t to_tell;        // members
        std::uint64_t granted_ns, touched_ns;
        std::uint64_t expected_ns;    // from grant to release; 0: not known
        std::uint32_t size;
        std::uint8_t domain;
        State state;
        bool counts;                  // it is one of its domain's `out`
        bool listed;                  // in `sending_`
    };
    struct Domain {
        PermitRule rule;
        std::uint32_t out = 0;       // permits held
        std::uint32_t passed = 0;    // calls whose permit was passed on before they ended
        std::uint16_t queue[permit_limit];
        std::uint32_t head = 0, queued = 0;
    };

    std::uint32_t find(std::uint64_t communicator) const;
    std::uint32_t place(std::uint64_t communicator, std::uint64_t now_ns);
    void enqueue(std::uint32_t index);
    void unqueue(std::uint32_t index);
    void start(Entry& entry, std::uint64_t sequence);
    void admit(Domain& domain, std::uint64_t now_ns);
    void grant(std::uint32_t index, std::uint64_t now_ns);
    void tell(std::uint32_t index, std::uint64_t members);
    void release(Entry& entry);
    void pass_on(Entry& entry);
    std::uint64_t passed_on_at(const Entry& entry) const;
    bool is_whole(const Entry& entry, std::uint64_t members) const;

    Entry entries_[permit_limit] = {};
    std::uint32_t used_ = 0;              // entries_ below this have been used
    Domain domains_[permit_domains];
    std::uint16_t sending_[permit_limit];
    std::uint32_t first_ = 0, to_send_ = 0;
    std::uint64_t expired_ = 0;
    std::uint64_t second_ns_ = 0;         // messages_ are counted from here on
    std::uint32_t messages_ = 0;
};

}  // namespace paced::pacing
