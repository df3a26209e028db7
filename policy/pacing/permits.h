// SPDX-License-Identifier: BSD-3-Clause
// Who may enter: the arbiter of one bottleneck domain. At most `width` communicators are in flight; a communicator asks
// by its members' arrivals, is granted as a whole, and gives back when its members are done. Work-conserving: nobody waits
// while a permit is free. In the order of asking. A permit that is not given back is taken back after a while (a member
// that died, a message that was lost), so nothing here can stop a job; the gate's own deadline is the second fence.
// Pure, fixed memory; the same object in the interposer and in the simulator.
#pragma once

#include <cstdint>

namespace paced::pacing {

inline constexpr std::uint32_t permit_limit = 256;  // communicators of a domain

class Permits {
public:
    enum class Rule : std::uint8_t {
        admit,    // as above
        barrier,  // granted when all members have asked, any number in flight
    };
    struct Grant {
        std::uint64_t communicator;
        std::uint64_t sequence;
    };

    Permits() = default;
    // longest_ns: a permit older than this is taken back.
    void set(Rule rule, std::uint32_t width, std::uint64_t longest_ns);
    // A member has arrived at its call `sequence`.
    void request(std::uint64_t communicator, std::uint32_t size, std::uint64_t sequence, std::uint64_t now_ns);
    // A member has left it.
    void done(std::uint64_t communicator, std::uint64_t sequence, std::uint64_t now_ns);
    // Takes back what is too old.
    void tick(std::uint64_t now_ns);
    // The next grant to be sent; false: none.
    bool next(Grant& grant);
};

}  // namespace paced::pacing
