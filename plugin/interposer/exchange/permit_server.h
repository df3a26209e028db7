// SPDX-License-Identifier: BSD-3-Clause
// The permits' server: ranks' datagrams into the arbiter, its grants back to them. At the leader, in a thread of its own:
// every grant's way goes through here while the bottleneck waits, and the agent's thread is busy with summaries for milliseconds
// at a time (docs/pacing.md, Permits). The thread sleeps in ppoll until there is a datagram or the arbiter's clock strikes.
//
// It is told nothing of directives: rule, width and the longest permit stand in each request, and only ranks of this step can
// make one. Nothing that it does or fails to do can hold a rank beyond the rank's own deadline.
#pragma once

#include <cstdint>

#include "plugin/interposer/exchange/datagram.h"
#include "plugin/interposer/exchange/permit_wire.h"
#include "policy/pacing/permits.h"

namespace paced::interposer {

class PermitServer {
public:
    struct Counts {
        std::uint64_t received = 0, dropped = 0, granted = 0, refused = 0;
    };

    // Bound to this UDP port, for all addresses; false: it is taken, or there is no memory, and there are no permits.
    bool open(const Secrets& secrets, std::uint16_t port);
    // A thread that serves until stop(). false: there is none, and open is undone.
    bool start();
    // Bounded; whatever still waits for a grant ends by its own deadline.
    void stop();

    // One turn, for the thread and for tests: what has arrived by now (at most turn_limit datagrams), then the grants.
    void serve(std::uint64_t now_ns);
    const Counts& counts() const { return counts_; }
    std::uint16_t port() const { return port_of(socket_); }
    // For measurements, before start: otherwise the default.
    void set_lead(std::uint32_t percent) { lead_percent_ = percent; }

private:
    // A flood of garbage costs the grants in between at most this many datagrams' time, about 0.2 ms.
    static constexpr std::uint32_t turn_limit = 256;

    // Who asked, of one communicator: one rank for each node or more.
    struct Askers {
        std::uint64_t communicator, sequence;
        std::uint32_t count;
        struct {
            std::uint64_t members;
            Address address;
        } asker[pacing::member_limit];
    };

    static void* thread(void* self);
    void run();
    void take(const PermitMessage& message, const Address& from, std::uint64_t now_ns);
    Askers* askers_of(std::uint64_t communicator);
    void remember(const PermitMessage& message, const Address& from);
    void answer(const pacing::Permits::Grant& grant);
    void send_grant(std::uint64_t communicator, std::uint64_t sequence, std::uint64_t members, const Address& to);

    PermitKey key_;
    pacing::Permits permits_;
    pacing::PermitRule rules_[pacing::permit_domains];
    std::uint32_t lead_percent_ = pacing::default_lead_percent;
    Askers* askers_ = nullptr;  // permit_limit of them, in a mapping of their own
    int socket_ = -1, wake_ = -1;
    bool stopping_ = false, done_ = true;
    Counts counts_;
};

}  // namespace paced::interposer
