// SPDX-License-Identifier: BSD-3-Clause
// The agent of the leader's node: answers its followers' pings, and at the end writes their dumps into the run folder. Under
// `pace` it also joins what all nodes say, has the conductor decide, and makes the tree where there are more than 64 nodes. A job of one
// node has a leader under `pace` too, which listens to nobody. One thread, one poll loop.
#pragma once

#include "plugin/interposer/exchange/branch.h"
#include "plugin/interposer/exchange/decider.h"
#include "plugin/interposer/exchange/peers.h"
#include "plugin/interposer/exchange/permit_server.h"
#include "plugin/interposer/exchange/settings.h"

namespace paced::interposer {

class Leader {
public:
    // peers: zeroed memory of Peers::size_of(nodes). branch, decider: under `pace`, else nullptr.
    Leader(const ExchangeSettings& settings, void* peers, int wake, const bool& stopping, Branch* branch, Decider* decider);

    // Listening on the first candidate port that is free; false: none was. A job of one node needs none.
    bool listen();
    void run();
    // Nodes whose dump did not come.
    std::uint32_t missing() const { return settings_.nodes > 1 ? settings_.nodes - 1 - delivered_ : 0; }

private:
    bool answer(Peer& peer, const Channel::Frame& frame, std::uint64_t received_ns);
    void gone(Peer& peer);
    void pace(std::uint64_t now);
    void make_tree();
    bool store_chunk(Peer& peer, const Channel::Frame& frame);
    bool complete(Peer& peer, const Channel::Frame& frame);
    void collect();
    bool is_ready_to_collect();

    const ExchangeSettings& settings_;
    Peers peers_;
    const Peers::Owner owner_;
    const int wake_;
    const bool& stopping_;
    Branch* const branch_;
    Decider* const decider_;
    PermitServer permits_;  // under `pace`
    bool tree_made_ = false, own_faulted_ = false;
    std::uint32_t waiting_ = 0;  // followers that have said where they listen
    int folder_ = -1;
    std::uint32_t delivered_ = 0;
    std::uint64_t stopped_ns_ = 0;  // 0: the job still runs
    bool collecting_ = false;
    std::uint32_t coarsening_ = 0;
    std::uint64_t stored_ = 0;
};

}  // namespace paced::interposer
