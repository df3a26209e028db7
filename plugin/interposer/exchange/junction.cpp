// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/interposer/exchange/junction.h"

#include <cstring>

#include "policy/pacing/progress.h"

namespace paced::interposer {
namespace {

// More than any machine has, and little enough that sums of what a liar says cannot run over.
constexpr std::uint32_t size_limit = 1u << 24, count_limit = 1u << 30;
constexpr std::uint64_t time_limit = std::uint64_t{1} << 56;  // two years, in ns

template <class T>
bool same(const T& a, const T& b) {
    return std::memcmp(&a, &b, sizeof a) == 0;
}

bool makes_sense(const pacing::Progress& progress) {
    return progress.communicator != 0 && progress.size >= 1 && progress.size <= size_limit && progress.members >= 1 && progress.members <= progress.size
        && progress.local <= progress.members && progress.most_local <= progress.members && progress.period <= count_limit && progress.calls < time_limit
        && progress.bytes < time_limit && progress.socket_bytes < time_limit && (progress.leaves == 1 || (progress.leaves == 2 && progress.leaf == 0));
}

bool makes_sense(const pacing::BlockSummary& block) {
    const std::uint64_t times[] = {block.iterations_ns, block.longest_ns, block.least_wait_ns, block.most_wait_ns, block.wait_ns, block.least_longest_wait_ns,
                                   block.shortest_wait_ns, block.least_service_ns, block.longest_service_ns, block.held_ns};
    for (const std::uint64_t time : times)
        if (time >= time_limit) return false;
    return block.communicator != 0 && block.epoch != 0 && block.members >= 1 && block.members <= block.size && block.iterations <= count_limit
        && block.calls <= count_limit && block.late <= block.members && block.iterations_ns2 >= 0 && block.iterations_ns2 < 1e34;  // false also for NaN
}

}  // namespace

std::size_t Junction::size() { return place_limit * sizeof(Entry); }

Junction::Entry* Junction::find(std::uint64_t id, bool make) {
    for (std::uint32_t place = static_cast<std::uint32_t>(id % place_limit);; place = (place + 1) % place_limit) {
        Entry& entry = entries_[place];
        if (entry.id == id) return &entry;
        if (entry.id != 0) continue;
        if (!make || used_ == entry_limit) return nullptr;
        order_[used_++] = static_cast<std::uint16_t>(place);
        entry.id = id;
        return &entry;
    }
}

void Junction::join_again(Entry& entry) {
    entry.joined = {};
    for (std::uint32_t child = 0; child <= most_child_; ++child) {
        if (entry.of[child].members == 0) continue;
        if (entry.joined.members == 0) entry.joined = entry.of[child];
        else pacing::join(entry.joined, entry.of[child]);
    }
}

bool Junction::hear(std::uint32_t child, const std::uint8_t* payload, std::size_t size, std::uint64_t now_ns) {
    SummaryHead head;
    if (size < sizeof head) return false;
    std::memcpy(&head, payload, sizeof head);
    constexpr std::size_t most = payload_limit / sizeof(pacing::Progress);
    if (head.progresses > most || head.blocks > most || size != sizeof head + head.progresses * sizeof(pacing::Progress) + head.blocks * sizeof(pacing::BlockSummary)) return false;
    // one by one, since a frame's payload is not aligned
    const std::uint8_t* from = payload + sizeof head;
    const std::uint32_t progresses = head.progresses, blocks = head.blocks;
    head.progresses = head.blocks = 0;
    if (!hear(child, head, nullptr, nullptr, now_ns)) return false;
    for (std::uint32_t i = 0; i < progresses; ++i, from += sizeof(pacing::Progress)) {
        pacing::Progress progress;
        std::memcpy(&progress, from, sizeof progress);
        if (!hear_progress(child, progress)) return false;
    }
    for (std::uint32_t i = 0; i < blocks; ++i, from += sizeof(pacing::BlockSummary)) {
        pacing::BlockSummary block;
        std::memcpy(&block, from, sizeof block);
        if (!hear_block(child, block, now_ns)) return false;
    }
    return true;
}

bool Junction::hear(std::uint32_t child, const SummaryHead& head, const pacing::Progress* progresses, const pacing::BlockSummary* blocks, std::uint64_t now_ns) {
    if (child >= child_limit || head.nodes < 1 || head.nodes > size_limit || head.retransmissions >= time_limit || head.messages >= time_limit || head.bytes >= time_limit) return false;
    heads_[child] = head;
    if (child > most_child_) most_child_ = child;
    for (std::uint32_t i = 0; i < head.progresses; ++i)
        if (!hear_progress(child, progresses[i])) return false;
    for (std::uint32_t i = 0; i < head.blocks; ++i)
        if (!hear_block(child, blocks[i], now_ns)) return false;
    return true;
}

bool Junction::hear_progress(std::uint32_t child, const pacing::Progress& progress) {
    if (!makes_sense(progress)) return false;
    Entry* const entry = find(progress.communicator, true);
    if (entry == nullptr) return true;  // no room: left alone
    if (same(entry->of[child], progress)) return true;
    entry->of[child] = progress;
    join_again(*entry);
    return entry->joined.members <= entry->joined.size;  // the same members twice?
}

bool Junction::hear_block(std::uint32_t child, const pacing::BlockSummary& block, std::uint64_t now_ns) {
    if (!makes_sense(block)) return false;
    Entry* const entry = find(block.communicator, false);
    if (entry == nullptr) return used_ == entry_limit;
    // nobody can have run what nobody was told of, nor speak for members that are not there
    if (entry->of[child].members < block.members || block.size != entry->of[child].size || block.epoch > last_epoch(entry->latest)) return false;
    Part& part = entry->parts[block.epoch % 2];
    if (part.block.epoch == block.epoch) {
        if (part.block.members == 0) return true;  // handed out already
        pacing::join(part.block, block);
        return part.block.members <= block.size;
    }
    if (part.block.epoch > block.epoch) return true;  // long over
    part.block = block;
    part.since_ns = now_ns;
    return true;
}

void Junction::leave(std::uint32_t child, bool lost) {
    if (lost) ++lost_;
    else return;  // what it has said stays true
    const SummaryHead& head = heads_[child];
    heads_[child] = {0, 0, 0, 0, head.retransmissions, head.messages, head.bytes};
    for (std::uint32_t i = 0; i < used_; ++i) {
        Entry& entry = entries_[order_[i]];
        if (entry.of[child].members == 0) continue;
        entry.of[child] = {};
        entry.told[child] = 0;
        join_again(entry);
    }
}

bool Junction::tell(const pacing::Directive& directive) {
    if (directive.communicator == 0 || directive.epoch == 0 || static_cast<std::uint32_t>(directive.setting.arm) >= pacing::arm_count) return false;
    Entry* const entry = find(directive.communicator, false);
    if (entry != nullptr && directive.epoch > entry->latest.epoch) entry->latest = directive;
    return true;
}

std::size_t Junction::compose_directives(std::uint32_t child, std::uint8_t* payload, std::size_t limit) {
    DirectivesHead head{0, 0};
    std::size_t size = sizeof head;
    for (std::uint32_t i = 0; i < used_; ++i) {
        Entry& entry = entries_[order_[i]];
        if (entry.latest.epoch == 0 || entry.told[child] == entry.latest.epoch || entry.of[child].members == 0) continue;
        if (size + sizeof entry.latest > limit) break;
        std::memcpy(payload + size, &entry.latest, sizeof entry.latest);
        size += sizeof entry.latest;
        entry.told[child] = entry.latest.epoch;
        ++head.count;
    }
    std::memcpy(payload, &head, sizeof head);
    return head.count > 0 ? size : 0;
}

const pacing::Directive* Junction::take_own() {
    for (std::uint32_t i = 0; i < used_; ++i) {
        Entry& entry = entries_[order_[i]];
        if (entry.latest.epoch == 0 || entry.told[own] == entry.latest.epoch || entry.of[own].members == 0) continue;
        entry.told[own] = entry.latest.epoch;
        return &entry.latest;
    }
    return nullptr;
}

bool Junction::is_due(const Entry& entry, const Part& part, std::uint64_t now_ns, bool whole, std::uint64_t patience) const {
    if (part.block.epoch == 0 || part.block.members == 0) return false;
    return part.block.members >= (whole ? part.block.size : entry.joined.members) || now_ns > part.since_ns + patience;
}

bool Junction::has_block(std::uint64_t now_ns) const {
    for (std::uint32_t i = 0; i < used_; ++i)
        for (const Part& part : entries_[order_[i]].parts)
            if (is_due(entries_[order_[i]], part, now_ns, false, patience_ns)) return true;
    return false;
}

bool Junction::has_progress() const {
    for (std::uint32_t i = 0; i < used_; ++i)
        if (!same(entries_[order_[i]].joined, entries_[order_[i]].said)) return true;
    return false;
}

bool Junction::take_block(std::uint64_t now_ns, bool whole, std::uint64_t patience, pacing::BlockSummary& block) {
    for (std::uint32_t i = 0; i < used_; ++i) {
        Entry& entry = entries_[order_[i]];
        for (Part& part : entry.parts) {
            if (!is_due(entry, part, now_ns, whole, patience)) continue;
            block = part.block;
            // The epoch stays, for what comes late: on the way up as another part, at the leader (whole) to be refused.
            if (whole) part.block.members = 0;
            else part.block = {};
            return true;
        }
    }
    return false;
}

bool Junction::take_progress(pacing::Progress& progress) {
    for (std::uint32_t i = 0; i < used_; ++i) {
        Entry& entry = entries_[order_[i]];
        if (same(entry.joined, entry.said)) continue;
        progress = entry.said = entry.joined;
        if (progress.members > 0) return true;
    }
    return false;
}

std::size_t Junction::compose_summary(std::uint8_t* payload, std::size_t limit, std::uint64_t now_ns, std::uint32_t more_flags) {
    SummaryHead head = total();
    head.flags |= more_flags;
    std::uint8_t blocks[payload_limit / 2];
    std::size_t blocks_size = 0, size = sizeof head;
    for (pacing::BlockSummary block; blocks_size + sizeof block <= sizeof blocks && take_block(now_ns, false, patience_ns, block); ++head.blocks) {
        std::memcpy(blocks + blocks_size, &block, sizeof block);
        blocks_size += sizeof block;
    }
    for (std::uint32_t i = 0; i < used_; ++i) {
        Entry& entry = entries_[order_[(turn_ + i) % used_]];
        if (same(entry.joined, entry.said) || entry.joined.members == 0) continue;
        if (size + blocks_size + sizeof entry.joined > limit) {
            turn_ = (turn_ + i) % used_;
            break;
        }
        std::memcpy(payload + size, &entry.joined, sizeof entry.joined);
        size += sizeof entry.joined;
        entry.said = entry.joined;
        ++head.progresses;
    }
    std::memcpy(payload, &head, sizeof head);
    std::memcpy(payload + size, blocks, blocks_size);
    return size + blocks_size;
}

SummaryHead Junction::total() const {
    SummaryHead sum{0, 0, 0, lost_ > 0 ? std::uint32_t{summary_lost} : 0, 0, messages_, bytes_};
    for (std::uint32_t child = 0; child <= most_child_; ++child) {
        const SummaryHead& head = heads_[child];
        sum.nodes += head.nodes;
        sum.flags |= head.flags & (summary_tcp | summary_pays_for_waiting | summary_lost);
        sum.retransmissions += head.retransmissions;
        sum.messages += head.messages;
        sum.bytes += head.bytes;
    }
    return sum;
}

}  // namespace paced::interposer
