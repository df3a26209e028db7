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

    bool is_leader() const { return leader[0] == 's'; }
};

// false: there is nobody to speak to. problem: set where there should have been.
bool read_exchange_settings(ExchangeSettings& settings, const char** problem);

}  // namespace paced::interposer
