// SPDX-License-Identifier: BSD-3-Clause
// The agent of a node that does not lead: finds the leader, keeps the offset of the two clocks, and at the end hands
// over its node's dump. Runs in the agent's thread.
#pragma once

#include "plugin/interposer/exchange/clock.h"
#include "plugin/interposer/exchange/dump.h"
#include "plugin/interposer/exchange/settings.h"

namespace paced::interposer {

class Follower {
public:
    // stopping: becomes true when MPI_Finalize has returned, and wake readable.
    Follower(const ExchangeSettings& settings, Dump& dump, int wake, const bool& stopping) : settings_(settings), dump_(dump), wake_(wake), stopping_(stopping) {}

    void run();
    bool delivered() const { return delivered_; }

private:
    bool connect(std::uint64_t deadline_ns);
    bool greet(std::uint64_t deadline_ns);
    void disconnect();
    bool send(Message type, const void* payload, std::size_t size, std::uint64_t deadline_ns);
    // The next frame; false where none came in time or it was refused. It stays valid until the next call.
    bool receive(Message expected, std::uint64_t deadline_ns);
    template <class T>
    bool receive(Message expected, T& payload, std::uint64_t deadline_ns);
    bool measure_clock(segment::ClockPoint& best);
    bool deliver(std::uint64_t deadline_ns);

    const ExchangeSettings& settings_;
    Dump& dump_;
    const int wake_;
    const bool& stopping_;
    int socket_ = -1;
    int first_attempt_ = 0;  // the candidate port to begin with: the one that last answered
    bool delivered_ = false;
    Channel channel_;
    ClockPoints clock_;
    Channel::Frame frame_{};
    std::size_t have_ = 0;
    std::uint8_t in_[frame_limit], out_[frame_limit];
    std::uint8_t chunk_[payload_limit];
    std::size_t chunked_ = 0;
    std::uint64_t sent_ = 0, deadline_ns_ = 0;
    char plan_[segment::plan_limit];
};

}  // namespace paced::interposer
