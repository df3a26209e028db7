// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/interposer/recorder.h"

#include "plugin/interposer/sampler.h"
#include "plugin/interposer/shared.h"

namespace paced::interposer {
namespace {

BriefLock pool_lock;  // of the blocks; threads of one process alone ask for it, once in 256 calls

// Where several threads use a communicator, the one whose sequence number begins a block opens it; another that is in the
// same block already, or in the one before, sees by the tag that records is not for it and goes without. The tag is
// taken away before the rest changes and put back after it.
void next_block(Tracked& tracked, segment::Slot& slot, std::uint64_t block) {
    store(tracked.tag, 0u);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    if (!pool_lock.try_lock()) return;  // this block is lost, the ones after it are not
    if (const int place = Sampler(&slot).open(tracked.index, block); place >= 0) {
        store(tracked.owner, &slot.owners[place]);
        store(tracked.records, slot.blocks[place]);
        store_release(tracked.tag, segment::owner_of(tracked.index, block));
    }
    pool_lock.unlock();
}

}  // namespace

void Call::begin(std::uint32_t operation, word key) {
    arrival_ns_ = load(process_->paused) == 0 ? now_ns() : 0;
    completion_ns_ = 0;
    operation_ = operation;
    record_ = nullptr;
    alone_ = true;
    tracked_ = find_tracked(key);
    recorded_ = tracked_ != nullptr && tracked_->kind == Tracked::Kind::recorded;
    if (recorded_) open_record();
    if (__builtin_expect(process_->counts_threads, 0)) fetch_add(process_->inside, 1u);
    // Where several threads use a communicator, those that are not alone in it go past the gate, which is one thread's at a time.
    gated_ = recorded_ && alone_ && tracked_->paced != nullptr;
    if (__builtin_expect(gated_, 0)) {
        pass_gate(*process_, *tracked_->paced, operation, sequence_, arrival_ns_, passage_);
        if (passage_.held_ns != 0 && record_ != nullptr && load(*owner_) == tag_) segment::set_held(*record_, passage_.held_ns);
    }
}

void Call::open_record() {
    segment::Communicator& shared = *tracked_->shared;
    const bool threads = tracked_->threads;
    if (threads) alone_ = fetch_add(tracked_->inside, 1u) == 0;
    const std::uint64_t sequence = threads ? fetch_add(shared.calls, std::uint64_t{1}) : load(shared.calls);
    sequence_ = sequence;
    const std::uint64_t position = sequence % segment::block_records, block = sequence / segment::block_records;
    if (position == 0) next_block(*tracked_, *process_->slot, block);
    if (arrival_ns_ != 0) {
        store(shared.last_arrival_ns, arrival_ns_);
        tag_ = segment::owner_of(tracked_->index, block);
        if (load_acquire(tracked_->tag) == tag_) {
            owner_ = load(tracked_->owner);
            record_ = &load(tracked_->records)[position];
            __atomic_thread_fence(__ATOMIC_ACQUIRE);
            if (load(tracked_->tag) != tag_ || load(*owner_) != tag_) record_ = nullptr;
        }
        if (record_ != nullptr) {
            store(record_->sequence_low, sequence);
            store(record_->operation, operation_);
            store_release(record_->arrival_ns, arrival_ns_);
            confirm_record();
        }
    } else {
        fetch_add(process_->slot->rank.unpaid, std::uint64_t{1});
    }
    if (threads) {
        fetch_add(shared.calls_by_operation[operation_], std::uint64_t{1});
    } else {
        add(shared.calls_by_operation[operation_], 1u);
        store_release(shared.calls, sequence + 1);
    }
}

// This thread may have been asleep between asking whose the block is and writing, and have written into a record that by then
// was another call's: then it is nobody's. Its writes are older than this question, and whoever owns the block now either
// writes all of the record after them or loses it: a record may be lost, and is never two calls' in one. (Of the processor's
// own reordering a sleep leaves nothing.)
void Call::confirm_record() {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (__builtin_expect(load(*owner_) == tag_, 1)) return;
    store_release(record_->arrival_ns, std::uint64_t{0});
    record_ = nullptr;
}

void Call::returned() {
    if (arrival_ns_ != 0) completion_ns_ = now_ns();
    if (__builtin_expect(process_->counts_threads, 0)) fetch_add(process_->inside, ~0u);
}

void Call::meet(word key, word handle) {
    if (tracked_ == nullptr) {
        tracked_ = track(mpi(), mpi().handle(handle), 0);
        if (tracked_ != nullptr && key != key_of_handle(handle)) track_alias(key, tracked_);
    }
    if (tracked_ != nullptr && tracked_->kind == Tracked::Kind::known) assign_entry(*tracked_, *process_->slot);
    if (tracked_ != nullptr && tracked_->kind == Tracked::Kind::recorded) {
        recorded_ = true;
        open_record();
    } else if (tracked_ != nullptr && tracked_->kind == Tracked::Kind::intercommunicator) {
        fetch_add(rank().not_recorded[static_cast<std::uint32_t>(segment::Counter::intercommunicator)], std::uint64_t{1});
    } else {
        fetch_add(rank().dropped, std::uint64_t{1});
    }
}

void Call::count_only(segment::Counter kind) {
    if (process_->counts_threads) fetch_add(process_->inside, ~0u);  // returned() is not called
    const bool no_room = tracked_ != nullptr && tracked_->kind == Tracked::Kind::no_room;
    fetch_add(no_room ? rank().dropped : rank().not_recorded[static_cast<std::uint32_t>(kind)], std::uint64_t{1});
}

void Call::finish(std::uint64_t bytes) {
    segment::Communicator& shared = *tracked_->shared;
    // The first call of a communicator is never delayed: it may be what tells that it is one.
    if (__builtin_expect(sequence_ == 0 && process_->paces, 0)) {
        tracked_->paced = pace_communicator(*process_, *tracked_);
        passage_ = {arrival_ns_, 0, false, false};
        gated_ = tracked_->paced != nullptr && alone_;
    }
    if (__builtin_expect(gated_, 0)) leave_gate(*process_, *tracked_->paced, operation_, sequence_, bytes, arrival_ns_, completion_ns_, passage_);
    if (tracked_->threads) {
        fetch_add(shared.bytes, bytes);
        fetch_add(tracked_->inside, ~0u);
    } else {
        add(shared.bytes, bytes);
    }
    if (completion_ns_ == 0) return;
    store(shared.last_completion_ns, completion_ns_);
    // Asked again: while this rank was inside, a thread on another communicator may have been given this block.
    if (record_ == nullptr || load(*owner_) != tag_) return;
    store(record_->bytes, bytes);
    store_release(record_->completion_ns, completion_ns_);
    confirm_record();
}

void Call::release(const Tracked& tracked) {
    if (tracked.paced != nullptr) release_communicator(*process_, *tracked.paced);
}

}  // namespace paced::interposer
