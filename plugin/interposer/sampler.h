// SPDX-License-Identifier: BSD-3-Clause
// Which blocks of calls a rank keeps (segment.h, "Sampling"), over the slot itself: the owners and strides that readers
// see are the sampler's only state. Called at the first call of every block, never between.
#pragma once

#include <cstring>

#include "plugin/interposer/shared.h"
#include "policy/io/segment.h"

namespace paced::interposer {

class Sampler {
public:
    explicit constexpr Sampler(segment::Slot* slot = nullptr) : slot_(slot) {}

    // Place for block `block` of communicator `index`, zeroed and owned: its number in the pool; -1: not kept.
    // Not for two threads at once.
    int open(std::uint32_t index, std::uint64_t block) {
        for (;;) {
            const std::uint32_t stride = load(slot_->communicators[index].stride);
            if (stride == 0 || block % stride != 0) return -1;
            if (const int place = free_place(); place >= 0) {
                take(place, index, block);
                return place;
            }
            if (stride > stride_limit) return -1;
            make_room(index);
        }
    }

private:
    static constexpr std::uint32_t stride_limit = 1u << 30;  // 2^38 calls: never met

    int free_place() const {
        for (std::uint32_t i = 0; i < segment::block_limit; ++i)
            if (load(slot_->owners[i]) == 0) return static_cast<int>(i);
        return -1;
    }

    void take(int place, std::uint32_t index, std::uint64_t block) {
        // Zeroed while nobody owns it: a reader skips a free block, and a valid record needs an arrival.
        std::memset(static_cast<void*>(slot_->blocks[place]), 0, sizeof slot_->blocks[place]);
        store_release(slot_->owners[place], segment::owner_of(index, block));
    }

    // Doubles the stride of the communicator that owns most blocks (the first such), and frees what falls out. Where
    // nobody owns more than one, which is block 0 and falls out never, the asker's own is doubled, until it no longer
    // wants this block. Block 0 itself always finds a place: there are as many places as communicators.
    void make_room(std::uint32_t asker) {
        std::uint32_t owned[segment::communicator_limit] = {};
        for (const std::uint64_t& owner : slot_->owners) ++owned[segment::communicator_of(load(owner))];
        std::uint32_t most = 0;
        for (std::uint32_t i = 1; i < segment::communicator_limit; ++i)
            if (owned[i] > owned[most]) most = i;
        if (owned[most] <= 1) most = asker;
        std::uint32_t& stride = slot_->communicators[most].stride;
        store(stride, load(stride) * 2);
        for (std::uint64_t& owner : slot_->owners)
            if (segment::communicator_of(load(owner)) == most && segment::block_of(load(owner)) % load(stride) != 0) store_release(owner, 0u);
    }

    segment::Slot* slot_;
};

}  // namespace paced::interposer
