// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/interposer/pacing/node_table.h"

#include <cstring>

#include "plugin/interposer/shared.h"

namespace paced::interposer {

using pacing::Directive;
using pacing::PacedCommunicator;

PacedCommunicator* join_paced(segment::Header& header, std::uint64_t id, std::uint32_t size) {
    std::uint64_t place = id % pacing::paced_limit;
    for (std::uint32_t i = 0; i < pacing::paced_limit; ++i, place = (place + 1) % pacing::paced_limit) {
        PacedCommunicator& entry = header.communicators[place];
        std::uint64_t found = load_acquire(entry.id);
        if (found == 0) {
            if (__atomic_compare_exchange_n(&entry.id, &found, id, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
                fetch_add(header.paced, 1u);
                found = id;
            }
        }
        if (found != id) continue;
        // Each member says it, since whoever made the entry may not have come to it yet.
        std::uint32_t before = 0;
        if (!__atomic_compare_exchange_n(&entry.size, &before, size, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) && before != size) return nullptr;
        fetch_add(entry.local, 1u);
        return &entry;
    }
    fetch_add(header.paced, 1u);
    return nullptr;
}

bool read_directive(const PacedCommunicator& entry, Directive& directive, std::uint32_t& version) {
    using Word [[gnu::may_alias]] = std::uint64_t;
    constexpr std::size_t count = sizeof(Directive) / sizeof(Word);
    static_assert(sizeof(Directive) % sizeof(Word) == 0 && offsetof(PacedCommunicator, next) % sizeof(Word) == 0);
    const std::uint32_t before = load_acquire(entry.version);
    if (before % 2 != 0) return false;
    std::uint64_t words[count];
    const auto* const from = reinterpret_cast<const Word*>(&entry.next);
    for (std::size_t i = 0; i < count; ++i) words[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (load(entry.version) != before) return false;
    std::memcpy(static_cast<void*>(&directive), words, sizeof directive);
    version = before;
    return true;
}

}  // namespace paced::interposer
