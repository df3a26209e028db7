// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/interposer/exchange/gather.h"

#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "plugin/interposer/exchange/socket.h"
#include "plugin/interposer/shared.h"

namespace paced::interposer {
namespace {

constexpr std::uint64_t snmp_interval_ns = 100'000'000;

}  // namespace

// Two lines "Tcp: ..." : names, then numbers in the same order.
bool find_retransmissions(const char* text, std::uint64_t& segments) {
    const char* names = std::strstr(text, "Tcp: ");
    if (names == nullptr) return false;
    const char* numbers = std::strstr(names + 5, "\nTcp: ");
    if (numbers == nullptr) return false;
    numbers += 6;
    for (names += 5; *names != '\0' && *names != '\n';) {
        const std::size_t length = std::strcspn(names, " \n");
        char* behind = nullptr;
        const std::uint64_t number = std::strtoull(numbers, &behind, 10);
        if (behind == numbers) return false;
        if (length == 11 && std::memcmp(names, "RetransSegs", 11) == 0) {
            segments = number;
            return true;
        }
        names += length + (names[length] == ' ' ? 1 : 0);
        numbers = behind;
    }
    return false;
}

void Gatherer::look(std::uint64_t now_ns) {
    head_.nodes = 1;
    head_.blocks = 0;
    head_.flags &= ~std::uint32_t{summary_tcp};
    for (std::uint32_t i = 0; i < known_; ++i) progresses_[i].local = progresses_[i].members = 0;
    const std::uint32_t claimed = load_acquire(header_->claimed);
    for (std::uint32_t i = 0; i < claimed && i < segment::slot_limit; ++i) {
        if (seen_[i].state == Seen::State::unknown && !map(i)) continue;
        if (seen_[i].state == Seen::State::mapped) read_rank(seen_[i]);
    }
    head_.progresses = known_;
    for (std::uint32_t i = 0; i < known_; ++i) progresses_[i].members = progresses_[i].most_local = progresses_[i].local;
    if (ranks_ > cpu_count_) head_.flags |= summary_pays_for_waiting;
    if (now_ns < snmp_ns_ + snmp_interval_ns) return;
    snmp_ns_ = now_ns;
    if (!snmp_tried_) snmp_ = high_descriptor(open("/proc/net/snmp", O_RDONLY | O_CLOEXEC));
    char text[4096];
    const ssize_t got = snmp_ >= 0 ? pread(snmp_, text, sizeof text - 1, 0) : -1;
    std::uint64_t segments = 0;
    if (got > 0) {
        text[got] = '\0';
        if (find_retransmissions(text, segments)) {
            if (!snmp_tried_) first_retransmissions_ = segments;
            head_.retransmissions = segments >= first_retransmissions_ ? segments - first_retransmissions_ : 0;
        }
    }
    snmp_tried_ = true;
}

// Ranks of a program that ran in this segment before are finished at the first look, and none of ours.
bool Gatherer::map(std::uint32_t index) {
    segment::Rank rank;
    const auto from = static_cast<off_t>(sizeof(segment::Header) + index * sizeof(segment::Slot));
    if (pread(file_, &rank, sizeof rank, from) != static_cast<ssize_t>(sizeof rank)) return false;
    Seen& seen = seen_[index];
    if (rank.state == segment::State::finished) seen.state = Seen::State::ignored;
    if (rank.state != segment::State::running) return false;
    void* const place = mmap(nullptr, sizeof(segment::Slot), PROT_READ, MAP_SHARED, file_, from);
    seen.state = place == MAP_FAILED ? Seen::State::ignored : Seen::State::mapped;
    seen.slot = static_cast<const segment::Slot*>(place);
    if (seen.state != Seen::State::mapped) return false;
    ++ranks_;
    cpu_count_ = 0;
    for (int i = 0; i < 16; ++i) cpu_count_ += static_cast<std::uint32_t>(__builtin_popcountll(cpus_[i] |= rank.cpus[i]));
    return true;
}

void Gatherer::read_rank(Seen& seen) {
    const segment::Slot& slot = *seen.slot;
    if (load(slot.rank.fabric_sockets) > 0) head_.flags |= summary_tcp;
    const std::uint32_t communicators = load_acquire(slot.rank.communicators);
    for (std::uint32_t i = 0; i < communicators && i < segment::communicator_limit; ++i) {
        const segment::Communicator& communicator = slot.communicators[i];
        if (load_acquire(communicator.id) == 0 || load(communicator.size) < 2 || load(communicator.calls) == 0) continue;
        if (seen.place[i] == 0 && (seen.place[i] = place_of(load(communicator.id))) == 0) continue;
        read_progress(seen, i, communicator, slot.paced[i]);
        read_blocks(seen, i, communicator, slot.paced[i]);
    }
}

void Gatherer::read_progress(Seen& seen, std::uint32_t i, const segment::Communicator& communicator, const pacing::PacedRank& paced) {
    pacing::Progress& progress = progresses_[seen.place[i] - 1];
    const std::uint64_t calls = load(communicator.calls);
    // period and bytes stand still while there is a signature
    std::uint64_t signature = load_acquire(paced.signature);
    const std::uint32_t period = load(paced.period);
    const std::uint64_t bytes = load(paced.bytes);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (signature != load(paced.signature) || period == 0) signature = 0;
    if (progress.local == 0) {
        progress.size = load(communicator.size);
        progress.signature = signature;
        progress.period = signature != 0 ? period : 0;
        progress.bytes = signature != 0 ? bytes : 0;
    } else if (progress.signature != signature || progress.period != period || progress.size != load(communicator.size)) {
        progress.signature = 0;
        progress.period = 0;
    } else if (bytes > progress.bytes) {
        progress.bytes = bytes;
    }
    if (calls > progress.calls) progress.calls = calls;
    if (const std::uint64_t sent = load(paced.socket_bytes); sent > progress.socket_bytes) progress.socket_bytes = sent;
    ++progress.local;
}

// The rank writes blocks[e % 2] whole before it stores e into finished, the epoch first, and leaves it alone until e + 1 is there: then e + 2
// may come at any moment.
void Gatherer::read_blocks(Seen& seen, std::uint32_t i, const segment::Communicator& communicator, const pacing::PacedRank& paced) {
    const std::uint32_t finished = load_acquire(paced.finished);
    if (finished == seen.handled[i]) return;
    for (std::uint32_t epoch = finished > 1 ? finished - 1 : 1; epoch <= finished; ++epoch) {
        if (epoch <= seen.handled[i] || head_.blocks == pacing::paced_limit) continue;
        pacing::RankBlock block;
        static_assert(sizeof block % 8 == 0);
        load_words(&block, &paced.blocks[epoch % 2], sizeof block);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (block.epoch != epoch || load(paced.blocks[epoch % 2].epoch) != epoch) continue;  // never run, or overwritten meanwhile: missed
        blocks_[head_.blocks++] = pacing::summary_of(block, load(communicator.id), load(communicator.size), load(communicator.rank));
    }
    seen.handled[i] = finished;
}

std::uint16_t Gatherer::place_of(std::uint64_t id) {
    for (std::uint32_t i = 0; i < known_; ++i)
        if (progresses_[i].communicator == id) return static_cast<std::uint16_t>(i + 1);
    if (known_ == pacing::paced_limit) return 0;
    pacing::Progress& made = progresses_[known_++];
    made = {};
    made.communicator = id;
    made.leaves = 1;
    made.leaf = leaf_;
    made.leaf_set = leaf_ != 0 ? std::uint64_t{1} << leaf_ % 64 : 0;
    return static_cast<std::uint16_t>(known_);
}

}  // namespace paced::interposer
