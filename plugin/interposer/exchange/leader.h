// SPDX-License-Identifier: BSD-3-Clause
// The agent of the leader's node: listens, proves itself to each follower and has it prove itself, answers its pings,
// and at the end writes the dumps into the run folder. One thread, one poll loop; a peer that is slow, silent or wrong
// costs itself.
#pragma once

#include "plugin/interposer/exchange/settings.h"
#include "plugin/interposer/exchange/wire.h"

namespace paced::interposer {

class Leader {
public:
    // peers: zeroed memory for peer_count(nodes) of them.
    struct Peer;
    static std::size_t peers_size(std::uint32_t nodes);

    Leader(const ExchangeSettings& settings, void* peers, int wake, const bool& stopping);

    // Listening on the first candidate port that is free; false: none was.
    bool listen();
    void run();
    // Nodes whose dump did not come.
    std::uint32_t missing() const { return settings_.nodes - 1 - delivered_; }

private:
    void accept();
    void drop(Peer& peer);
    void read_from(Peer& peer);
    bool answer(Peer& peer, const Channel::Frame& frame, std::uint64_t received_ns);
    bool reply(Peer& peer, Message type, const void* payload, std::size_t size);
    bool welcome(Peer& peer, const Channel::Frame& frame);
    bool store_chunk(Peer& peer, const Channel::Frame& frame);
    bool complete(Peer& peer, const Channel::Frame& frame);
    void collect();
    bool is_ready_to_collect() const;

    const ExchangeSettings& settings_;
    Peer* const peers_;
    const std::uint32_t peer_limit_;
    const int wake_;
    const bool& stopping_;
    int listener_ = -1;
    int folder_ = -1;
    std::uint32_t delivered_ = 0;
    std::uint64_t stopped_ns_ = 0;  // 0: the job still runs
    bool collecting_ = false;
    std::uint32_t coarsening_ = 0;
    std::uint64_t stored_ = 0;
    std::uint8_t out_[frame_limit];
};

}  // namespace paced::interposer
