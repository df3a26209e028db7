// SPDX-License-Identifier: BSD-3-Clause
// The agent of a node that does not lead: finds the leader, keeps the offset of the two clocks, and at the end hands
// over its node's dump. Under `pace` it also says what its ranks do and hands them the leader's directives, through a parent where the
// nodes form a tree, and then for its children too. Runs in the agent's thread.
#pragma once

#include "plugin/interposer/exchange/branch.h"
#include "plugin/interposer/exchange/clock.h"
#include "plugin/interposer/exchange/dump.h"
#include "plugin/interposer/exchange/link.h"
#include "plugin/interposer/exchange/settings.h"

namespace paced::interposer {

class Follower {
public:
    // children: zeroed memory of Peers::size_of(arity), used where there is a tree. stopping: becomes true when MPI_Finalize has returned,
    // and wake readable. branch: under `pace`, else nullptr.
    Follower(const ExchangeSettings& settings, Dump& dump, void* children, int wake, const bool& stopping, Branch* branch);

    void run();
    bool delivered() const { return delivered_; }

private:
    bool connect(std::uint64_t deadline_ns);
    void lose_leader();
    bool measure_clock(segment::ClockPoint& best);
    bool deliver(std::uint64_t deadline_ns);
    bool hear(const Channel::Frame& frame);
    void adopt(const Channel::Frame& frame);
    void pace(std::uint64_t now);
    void fall_out();
    bool read_from(Link& link);
    void wait(std::uint64_t until_ns);
    std::uint64_t clock_interval() const;

    const ExchangeSettings& settings_;
    Dump& dump_;
    const int wake_;
    const bool& stopping_;
    Branch* const branch_;
    Link leader_, parent_;
    Link* up_ = nullptr;     // where summaries go; nullptr: nowhere (yet, or no more)
    Peers children_;
    const Peers::Owner owner_;
    int first_attempt_ = 0;  // the candidate port to begin with: the one that last answered
    std::uint64_t clock_ns_ = 0, backoff_ns_ = 0;
    bool delivered_ = false;
    ClockPoints clock_;
    std::uint8_t chunk_[payload_limit];
    std::size_t chunked_ = 0;
    std::uint64_t sent_ = 0, deadline_ns_ = 0;
    char plan_[segment::plan_limit];
};

}  // namespace paced::interposer
