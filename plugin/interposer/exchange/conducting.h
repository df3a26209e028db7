// SPDX-License-Identifier: BSD-3-Clause
// The conductor as the leader sees it: a table of functions, so that tests can put another in its place. Virtual functions
// would do the same, but pull in symbols of the C++ runtime.
#pragma once

#include "policy/pacing/conductor.h"

namespace paced::interposer {

struct Conducting {
    void* conductor;
    void (*progress)(void*, const pacing::Progress&, std::uint64_t now_ns);
    void (*block)(void*, const pacing::BlockSummary&);
    void (*retransmissions)(void*, std::uint64_t);
    void (*surroundings)(void*, bool tcp, bool pays_for_waiting);
    void (*fault)(void*);
    void (*finish)(void*);
    std::uint32_t (*directives)(void*, std::uint64_t now_ns, pacing::Directive*, std::uint32_t limit);
    std::uint32_t (*lines)(void*, pacing::BlockLine*, std::uint32_t limit);
    std::uint32_t (*classes)(void*);
    const pacing::Conductor::ClassAccount& (*account)(void*, std::uint32_t);
};

// C: pacing::Conductor, or anything with its functions.
template <class C>
Conducting conducting(C& conductor) {
    return {&conductor,
            [](void* c, const pacing::Progress& progress, std::uint64_t now_ns) { static_cast<C*>(c)->progress(progress, now_ns); },
            [](void* c, const pacing::BlockSummary& block) { static_cast<C*>(c)->block(block); },
            [](void* c, std::uint64_t segments) { static_cast<C*>(c)->retransmissions(segments); },
            [](void* c, bool tcp, bool pays_for_waiting) { static_cast<C*>(c)->surroundings(tcp, pays_for_waiting); },
            [](void* c) { static_cast<C*>(c)->fault(); },
            [](void* c) { static_cast<C*>(c)->finish(); },
            [](void* c, std::uint64_t now_ns, pacing::Directive* to, std::uint32_t limit) { return static_cast<C*>(c)->directives(now_ns, to, limit); },
            [](void* c, pacing::BlockLine* to, std::uint32_t limit) { return static_cast<C*>(c)->lines(to, limit); },
            [](void* c) { return static_cast<C*>(c)->classes(); },
            [](void* c, std::uint32_t index) -> const pacing::Conductor::ClassAccount& { return static_cast<C*>(c)->account(index); }};
}

}  // namespace paced::interposer
