// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/interposer/recorder.h"

#include "plugin/interposer/sampler.h"
#include "plugin/interposer/shared.h"

namespace paced::interposer {
namespace {

BriefLock pool_lock;  // of the blocks; threads of one process alone ask for it, once in 256 calls

void next_block(Tracked& tracked, segment::Slot& slot, std::uint64_t block) {
    tracked.records = nullptr;
    if (!pool_lock.try_lock()) return;  // this block is lost, the ones after it are not
    if (const int place = Sampler(&slot).open(tracked.index, block); place >= 0) {
        tracked.owner = &slot.owners[place];
        tracked.tag = segment::owner_of(tracked.index, block);
        tracked.records = slot.blocks[place];
    }
    pool_lock.unlock();
}

}  // namespace

void Call::begin(std::uint32_t operation, word key) {
    arrival_ns_ = load(process_->paused) == 0 ? now_ns() : 0;
    completion_ns_ = 0;
    operation_ = operation;
    record_ = nullptr;
    tracked_ = find_tracked(key);
    recorded_ = tracked_ != nullptr && tracked_->kind == Tracked::Kind::recorded;
    if (recorded_) open_record();
    if (__builtin_expect(process_->counts_threads, 0)) fetch_add(process_->inside, 1u);
    if (recorded_ && __builtin_expect(tracked_->paced != nullptr, 0)) {
        pass_gate(*process_, *tracked_->paced, operation, sequence_, arrival_ns_, passage_);
        if (passage_.held_ns != 0 && record_ != nullptr && load(*tracked_->owner) == tracked_->tag) segment::set_held(*record_, passage_.held_ns);
    }
}

void Call::open_record() {
    segment::Communicator& shared = *tracked_->shared;
    const std::uint64_t sequence = load(shared.calls);
    const std::uint64_t position = sequence % segment::block_records;
    sequence_ = sequence;
    if (position == 0) next_block(*tracked_, *process_->slot, sequence / segment::block_records);
    if (arrival_ns_ != 0) {
        store(shared.last_arrival_ns, arrival_ns_);
        if (tracked_->records != nullptr && load(*tracked_->owner) == tracked_->tag) {
            record_ = &tracked_->records[position];
            store(record_->sequence_low, sequence);
            store(record_->operation, operation_);
            store_release(record_->arrival_ns, arrival_ns_);
        }
    } else {
        fetch_add(process_->slot->rank.unpaid, std::uint64_t{1});
    }
    add(shared.calls_by_operation[operation_], 1u);
    store_release(shared.calls, sequence + 1);
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
        if (process_->paces && sequence_ == 0) tracked_->paced = pace_communicator(*process_, *tracked_);
        passage_ = {arrival_ns_, 0, false, false};
    } else if (tracked_ != nullptr && tracked_->kind == Tracked::Kind::intercommunicator) {
        fetch_add(rank().not_recorded[static_cast<std::uint32_t>(segment::Counter::intercommunicator)], std::uint64_t{1});
    } else {
        fetch_add(rank().dropped, std::uint64_t{1});
    }
}

void Call::finish(std::uint64_t bytes) {
    segment::Communicator& shared = *tracked_->shared;
    add(shared.bytes, bytes);
    if (__builtin_expect(tracked_->paced != nullptr, 0))
        leave_gate(*process_, *tracked_->paced, operation_, sequence_, bytes, arrival_ns_, completion_ns_, passage_);
    if (completion_ns_ == 0) return;
    store(shared.last_completion_ns, completion_ns_);
    // Asked again: while this rank was inside, a thread on another communicator may have been given this block.
    if (record_ == nullptr || load(*tracked_->owner) != tracked_->tag) return;
    store(record_->bytes, bytes);
    store_release(record_->completion_ns, completion_ns_);
}

void Call::release(const Tracked& tracked) {
    if (tracked.paced != nullptr) release_communicator(*process_, *tracked.paced);
}

}  // namespace paced::interposer
