// SPDX-License-Identifier: BSD-3-Clause
// What the agent needs, copied out of the environment when it starts: the host may change its environment at any
// time, and reading it from another thread would be a race.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plugin/interposer/exchange/wire.h"

namespace paced::interposer {

// How long anything may take at the end of a job. Running out costs records, never the job.
inline constexpr std::uint64_t local_ranks_limit_ns = 1'000'000'000;
inline constexpr std::uint64_t exchange_limit_ns = 3'000'000'000;
inline constexpr std::uint64_t reporter_limit_ns = 5'000'000'000;
inline constexpr std::uint64_t dumps_limit_bytes = 64u << 20;  // of all nodes, at the leader

struct ExchangeSettings {
    char run_folder[512];
    char plan[512];
    char leader[64];  // numeric address; "self": this node is it; "": none
    char ports[32];
    char session[64];
    char node[64];
    std::uint32_t nodes;
    Secrets secrets;

    // What follows matters under `pace` alone.
    bool pace;
    std::uint64_t window_ns;  // longest delay of one call; ~0: the law's own caps alone
    char tuning[1024];        // "name=value name=value"
    std::uint64_t leaf;       // hash of the leaf's name; 0: not known
    std::uint32_t arity;             // of the tree of nodes
    std::uint64_t silence_limit_ns;  // a node of which nothing was heard for so long is lost

    // A job of one node leads itself.
    bool is_leader() const { return nodes < 2 || leader[0] == 's'; }
    bool has_tree() const { return pace && nodes > star_limit(); }
    std::uint32_t star_limit() const { return arity == tree_arity ? star_nodes : arity + 1; }

    // Up to 64 nodes the leader speaks to each. Beyond, each node speaks to at most 32 others: 320 messages a second, of which
    // each costs 10 to 15 us (one system call, one MAC over a kilobyte), are half a percent of one core on the few nodes that are not
    // leaves of the tree. With 32, two levels reach 1,057 nodes and three reach 4,096, and a level costs up to 100 ms of delay.
    static constexpr std::uint32_t star_nodes = 64, tree_arity = 32;
    // A sign of life is due every second. Long, since an agent on a node with more runnable threads than cores may have to wait for its
    // turn, and every delay that a rank makes meanwhile has its own deadline.
    static constexpr std::uint64_t long_silence_ns = 10'000'000'000;
};

// false: there is nobody to speak to, and nothing to pace. problem: set where there should have been.
bool read_exchange_settings(ExchangeSettings& settings, const char** problem);

}  // namespace paced::interposer
