// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/interposer/exchange/dump.h"

#include <cstdio>
#include <cstring>

#include <unistd.h>

namespace paced::interposer {
namespace {

constexpr std::size_t counters_bytes = offsetof(segment::Slot, blocks);  // all but the records

bool is_in_use(const segment::Rank& rank) { return rank.state == segment::State::running || rank.state == segment::State::finished; }

std::uint32_t communicators_of(const segment::Slot& slot) {
    return slot.rank.communicators < segment::communicator_limit ? slot.rank.communicators : segment::communicator_limit;
}

bool is_kept(std::uint64_t owner, int coarsening) { return owner != 0 && segment::block_of(owner) % (std::uint64_t{1} << coarsening) == 0; }

}  // namespace

template <class Visit>
void Dump::for_each_slot(std::size_t bytes, Visit visit) const {
    segment::Header header;
    if (pread(file_, &header, sizeof header, 0) != static_cast<ssize_t>(sizeof header)) return;
    for (std::uint32_t i = 0; i < header.claimed && i < segment::slot_limit; ++i) {
        const auto from = static_cast<off_t>(sizeof header + i * sizeof(segment::Slot));
        if (pread(file_, slot_, bytes, from) == static_cast<ssize_t>(bytes) && is_in_use(slot_->rank)) visit(*slot_);
    }
}

int Dump::unfinished() const {
    int count = 0;
    for_each_slot(sizeof(segment::Rank), [&](const segment::Slot& slot) { count += slot.rank.state != segment::State::finished ? 1 : 0; });
    return count;
}

void Dump::cpus_of_ranks(std::uint64_t (&cpus)[16]) const {
    std::memset(cpus, 0, sizeof cpus);
    for_each_slot(sizeof(segment::Rank), [&](const segment::Slot& slot) {
        for (int i = 0; i < 16; ++i) cpus[i] |= slot.rank.cpus[i];
    });
}

Offer Dump::measure(const ClockPoints& clock, std::size_t plan_bytes) const {
    Offer offer;
    for (std::uint64_t& bytes : offer.bytes)
        bytes = sizeof(segment::DumpHeader) + clock.count() * sizeof(segment::ClockPoint) + segment::padded(plan_bytes);
    for_each_slot(counters_bytes, [&](const segment::Slot& slot) {
        for (int k = 0; k < coarsening_limit; ++k) {
            offer.bytes[k] += sizeof(segment::DumpRank) + communicators_of(slot) * sizeof(segment::Communicator);
            for (const std::uint64_t owner : slot.owners) offer.bytes[k] += is_kept(owner, k) ? sizeof(segment::DumpBlock) : 0;
        }
    });
    return offer;
}

bool Dump::write(const char* node, const ClockPoints& clock, const char* plan, std::size_t plan_bytes, int coarsening, Sink sink, void* context) const {
    segment::DumpHeader header{};
    header.magic = segment::dump_magic;
    header.version = segment::version;
    header.header_bytes = sizeof header;
    header.clock_points = clock.count();
    header.plan_bytes = static_cast<std::uint32_t>(plan_bytes);
    header.coarsened = static_cast<std::uint32_t>(coarsening);
    std::snprintf(header.node, sizeof header.node, "%s", node);
    for_each_slot(sizeof(segment::Rank), [&](const segment::Slot&) { ++header.ranks; });
    // total_bytes stays 0: the leader, which has counted, enters it
    constexpr char padding[8] = {};
    if (!sink(context, &header, sizeof header) || !sink(context, clock.data(), clock.count() * sizeof(segment::ClockPoint)) || !sink(context, plan, plan_bytes)
        || !sink(context, padding, segment::padded(plan_bytes) - plan_bytes))
        return false;
    bool flowing = true;
    std::uint32_t sent = 0;
    for_each_slot(sizeof(segment::Slot), [&](const segment::Slot& slot) {
        if (!flowing || sent++ == header.ranks) return;
        segment::DumpRank rank{slot.rank, communicators_of(slot), 0};
        for (const std::uint64_t owner : slot.owners) rank.blocks += is_kept(owner, coarsening) ? 1 : 0;
        flowing = sink(context, &rank, sizeof rank) && sink(context, slot.communicators, rank.communicators * sizeof(segment::Communicator));
        for (std::uint32_t i = 0; i < segment::block_limit && flowing; ++i)
            if (is_kept(slot.owners[i], coarsening))
                flowing = sink(context, &slot.owners[i], sizeof slot.owners[i]) && sink(context, slot.blocks[i], sizeof slot.blocks[i]);
    });
    return flowing && sent >= header.ranks;
}

}  // namespace paced::interposer
