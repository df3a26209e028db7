// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/interposer/communicators.h"

#include "plugin/interposer/hash.h"
#include "plugin/interposer/shared.h"

namespace paced::interposer {
namespace {

constexpr std::uint32_t key_limit = 1024, tracked_limit = 512, ordinal_limit = 512;
constexpr word no_key = 0, erased_key = 1;

struct Entry {
    word key;
    Tracked* tracked;
};
Entry entries[key_limit];
Tracked tracked_pool[tracked_limit];
struct {
    std::uint64_t key;
    std::uint32_t count;
} ordinals[ordinal_limit];
BriefLock table_lock;

std::uint32_t first_place(word key) { return static_cast<std::uint32_t>((key * 0x9e37'79b9'7f4a'7c15) >> 54); }
static_assert(key_limit == 1u << (64 - 54));

// Half full at most: every search ends soon at an empty place.
std::uint32_t used_keys = 0;

bool insert(word key, Tracked* tracked) {
    std::uint32_t place = first_place(key);
    while (load(entries[place].key) != no_key && load(entries[place].key) != erased_key) place = (place + 1) % key_limit;
    if (load(entries[place].key) == no_key) {
        if (used_keys >= key_limit / 2) return false;
        ++used_keys;
    }
    store(entries[place].tracked, tracked);
    store_release(entries[place].key, key);
    return true;
}

Tracked* free_tracked() {
    for (Tracked& tracked : tracked_pool)
        if (tracked.kind == Tracked::Kind::free) return &tracked;
    return nullptr;
}

// How many communicators with this key came before; false: no room to count.
bool next_ordinal(std::uint64_t key, std::uint32_t& ordinal) {
    for (std::uint32_t i = 0, place = static_cast<std::uint32_t>(key % ordinal_limit); i < ordinal_limit; ++i, place = (place + 1) % ordinal_limit) {
        if (ordinals[place].count != 0 && ordinals[place].key != key) continue;
        ordinals[place].key = key;
        ordinal = ordinals[place].count++;
        return true;
    }
    return false;
}

// World ranks of the members, of all up to 128, else of 128 spread evenly: translating is quadratic in some libraries,
// and size, parent and ordinal tell the rest apart.
bool hash_members(const Library& mpi, word handle, int size, Hash& hash) {
    constexpr int sample = 128;
    word group = 0, world_group = 0;
    if (mpi.comm_group(handle, &group) != 0) return false;
    bool hashed = false;
    if (mpi.comm_group(mpi.world, &world_group) == 0) {
        int ranks[sample], world_ranks[sample];
        const int count = size < sample ? size : sample;
        for (int i = 0; i < count; ++i) ranks[i] = size <= sample ? i : static_cast<int>(std::int64_t{i} * (size - 1) / (sample - 1));
        if (mpi.group_translate_ranks(mpi.handle(group), count, ranks, mpi.handle(world_group), world_ranks) == 0) {
            hash.add(static_cast<std::uint64_t>(size));
            for (int i = 0; i < count; ++i) hash.add(static_cast<std::uint64_t>(world_ranks[i]));
            hashed = true;
        }
        mpi.group_free(&world_group);
    }
    mpi.group_free(&group);
    return hashed;
}

}  // namespace

Tracked* find_tracked(word key) {
    if (key <= erased_key) return nullptr;
    for (std::uint32_t place = first_place(key);; place = (place + 1) % key_limit) {
        const word found = load_acquire(entries[place].key);
        if (found == key) return load(entries[place].tracked);
        if (found == no_key) return nullptr;
    }
}

Tracked* track(const Library& mpi, word handle, std::uint64_t parent) {
    if (Tracked* const known = find_tracked(key_of_handle(handle))) return known;
    int inter = 0, size = 0, rank = 0;
    if (mpi.comm_test_inter(handle, &inter) != 0) return nullptr;
    Hash hash(parent);
    if (inter == 0 && (mpi.comm_size(handle, &size) != 0 || mpi.comm_rank(handle, &rank) != 0 || !hash_members(mpi, handle, size, hash))) return nullptr;

    if (!table_lock.try_lock()) return nullptr;
    Tracked* tracked = free_tracked();
    std::uint32_t ordinal = 0;
    if (tracked != nullptr && (inter != 0 || next_ordinal(hash.value(), ordinal))) {
        hash.add(ordinal);
        *tracked = Tracked{inter != 0 ? Tracked::Kind::intercommunicator : Tracked::Kind::known, static_cast<std::uint32_t>(size),
                           static_cast<std::uint32_t>(rank), 0, hash.value(), nullptr, nullptr, nullptr, 0, false, 0, nullptr};
        if (!insert(key_of_handle(handle), tracked)) {
            tracked->kind = Tracked::Kind::free;
            tracked = nullptr;
        }
    } else {
        tracked = nullptr;
    }
    table_lock.unlock();
    return tracked;
}

Tracked* enter_communicator(word key, std::uint64_t id, std::uint32_t size, std::uint32_t rank) {
    forget(key);
    if (!table_lock.try_lock()) return nullptr;
    Tracked* tracked = free_tracked();
    if (tracked != nullptr) {
        *tracked = Tracked{Tracked::Kind::known, size, rank, 0, id, nullptr, nullptr, nullptr, 0, true, 0, nullptr};
        if (!insert(key, tracked)) {
            tracked->kind = Tracked::Kind::free;
            tracked = nullptr;
        }
    }
    table_lock.unlock();
    return tracked;
}

void track_alias(word key, Tracked* tracked) {
    if (!table_lock.try_lock()) return;
    insert(key, tracked);
    table_lock.unlock();
}

void forget(word key) {
    Tracked* const tracked = find_tracked(key);
    if (tracked == nullptr || !table_lock.try_lock()) return;
    for (Entry& entry : entries)
        if (load(entry.key) > erased_key && entry.tracked == tracked) store_release(entry.key, erased_key);
    tracked->kind = Tracked::Kind::free;
    table_lock.unlock();
}

void assign_entry(Tracked& tracked, segment::Slot& slot) {
    const std::uint32_t index = fetch_add(slot.rank.communicators, 1u);
    if (index >= segment::communicator_limit) {
        store(slot.rank.communicators, segment::communicator_limit);
        tracked.kind = Tracked::Kind::no_room;
        return;
    }
    segment::Communicator& shared = slot.communicators[index];
    shared.size = tracked.size;
    shared.rank = tracked.rank;
    store(shared.stride, tracked.size > 1 ? 1u : 0u);  // alone, there is nobody to be late for
    store_release(shared.id, tracked.id);
    tracked.index = index;
    tracked.shared = &shared;
    tracked.kind = Tracked::Kind::recorded;
}

}  // namespace paced::interposer
