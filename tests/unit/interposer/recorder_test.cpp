// SPDX-License-Identifier: BSD-3-Clause
// The recorder without an MPI: what one call leaves in the slot, and what many threads leave when they take one
// another's blocks away.
#include "plugin/interposer/recorder.h"

#include <map>
#include <thread>
#include <vector>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "plugin/interposer/mpi/operations.h"
#include "plugin/interposer/shared.h"
#include "tests/doubles/fake_mpi.h"

namespace paced::interposer {
namespace {

bool one_call(word handle, std::uint64_t bytes = 8) {
    Call call;
    if (!call.enter()) return false;
    call.begin(static_cast<std::uint32_t>(Operation::allreduce), key_of_handle(handle));
    call.returned();
    if (!call.is_known()) call.meet(key_of_handle(handle), handle);
    if (call.is_known()) call.finish(bytes);
    call.leave();
    return true;
}

// One process-wide table: each test uses handles of its own.
TEST(Recorder, FirstAndSecondCall) {
    const segment::Slot& slot = test::engage_with_fake_mpi();
    const std::uint32_t entry = slot.rank.communicators;
    const std::uint64_t before = now_ns();
    ASSERT_TRUE(one_call(0x84000001, 8));
    ASSERT_TRUE(one_call(0x84000001, 16));
    const segment::Communicator& communicator = slot.communicators[entry];
    EXPECT_EQ(communicator.calls, 2u);
    EXPECT_EQ(communicator.bytes, 24u);
    EXPECT_EQ(communicator.size, 2u);
    EXPECT_EQ(communicator.calls_by_operation[3], 2u);
    int place = -1;
    for (int i = 0; i < 64; ++i)
        if (slot.owners[i] == segment::owner_of(entry, 0)) place = i;
    ASSERT_GE(place, 0);
    const segment::Record *first = &slot.blocks[place][0], *second = &slot.blocks[place][1];
    EXPECT_GE(first->arrival_ns, before);
    EXPECT_GE(first->completion_ns, first->arrival_ns);
    EXPECT_GE(second->arrival_ns, first->completion_ns);
    EXPECT_EQ(first->bytes, 8u);
    EXPECT_EQ(second->bytes, 16u);
    EXPECT_EQ(second->sequence_low, 1u);
    EXPECT_EQ(second->operation, 3u);
    EXPECT_EQ(slot.blocks[place][2].arrival_ns, 0u);
}

TEST(Recorder, ArrivalShowsWhileInside) {
    const segment::Slot& slot = test::engage_with_fake_mpi();
    const std::uint32_t entry = slot.rank.communicators;
    one_call(0x84000002);
    Call call;
    ASSERT_TRUE(call.enter());
    call.begin(static_cast<std::uint32_t>(Operation::barrier), 0x84000002);
    EXPECT_EQ(slot.communicators[entry].calls, 2u);
    for (int i = 0; i < 64; ++i)
        if (slot.owners[i] == segment::owner_of(entry, 0)) {
            EXPECT_GT(slot.blocks[i][1].arrival_ns, 0u);
            EXPECT_EQ(slot.blocks[i][1].completion_ns, 0u);
        }
    EXPECT_FALSE(one_call(0x84000002)) << "the library calling itself";
    call.returned();
    call.finish(0);
    call.leave();
    EXPECT_EQ(slot.communicators[entry].calls, 2u);
}

TEST(Recorder, FreedHandleIsAnotherCommunicator) {
    const segment::Slot& slot = test::engage_with_fake_mpi();
    const std::uint32_t entry = slot.rank.communicators;
    one_call(0x84000003);
    forget(key_of_handle(0x84000003));
    one_call(0x84000003);
    EXPECT_EQ(slot.rank.communicators, entry + 2);
    EXPECT_NE(slot.communicators[entry].id, slot.communicators[entry + 1].id);
    EXPECT_EQ(slot.communicators[entry + 1].calls, 1u);
}

TEST(Recorder, ForkedChildIsNotEngaged) {
    test::engage_with_fake_mpi();
    Process* const plain = process_page;
    // as start_process makes it
    void* const page = ::mmap(nullptr, sizeof(Process), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_EQ(::madvise(page, sizeof(Process), MADV_WIPEONFORK), 0);
    process_page = new (page) Process(*plain);
    EXPECT_TRUE(one_call(0x84000004));
    const pid_t child = ::fork();
    if (child == 0) ::_exit(one_call(0x84000004) ? 1 : 0);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_TRUE(one_call(0x84000004));
    process_page = plain;
}

// Eight threads, each on a communicator of its own, with far more calls than there is room for. Whatever is there
// afterwards is right: each record is that of its communicator and sequence number, and bears its bytes. A thread that was
// interrupted in the midst of writing while its block was given away may cost one record of another's.
TEST(Recorder, ThreadsThatTakeBlocksFromOneAnother) {
    const segment::Slot& slot = test::engage_with_fake_mpi();
    constexpr int threads = 8;
    constexpr std::uint64_t calls = 30'000;
    std::map<std::uint64_t, std::uint64_t> bytes_of_id;
    for (int t = 0; t < threads; ++t) {
        const std::uint32_t entry = slot.rank.communicators;
        one_call(0x84000100 + static_cast<word>(t), static_cast<std::uint64_t>(t + 1));
        bytes_of_id[slot.communicators[entry].id] = static_cast<std::uint64_t>(t + 1);
    }
    std::vector<std::thread> running;
    for (int t = 0; t < threads; ++t)
        running.emplace_back([t] {
            for (std::uint64_t i = 1; i < calls; ++i) one_call(0x84000100 + static_cast<word>(t), static_cast<std::uint64_t>(t + 1));
        });
    for (auto& thread : running) thread.join();
    std::map<std::uint64_t, std::size_t> blocks;
    std::size_t lost = 0;
    for (int place = 0; place < 64; ++place) {
        if (slot.owners[place] == 0) continue;
        const segment::Communicator& communicator = slot.communicators[segment::communicator_of(slot.owners[place])];
        if (!bytes_of_id.contains(communicator.id)) continue;
        EXPECT_EQ(communicator.calls, calls);
        EXPECT_EQ(communicator.bytes, calls * bytes_of_id[communicator.id]);
        ++blocks[communicator.id];
        const std::uint64_t block = segment::block_of(slot.owners[place]);
        EXPECT_EQ(block % communicator.stride, 0u);
        for (std::uint64_t i = 0; i < 256 && block * 256 + i < calls; ++i) {
            const segment::Record& record = slot.blocks[place][i];
            if (record.arrival_ns == 0) {
                ++lost;
                continue;
            }
            ASSERT_GE(record.completion_ns, record.arrival_ns);
            ASSERT_EQ(record.sequence_low, block * 256 + i);
            ASSERT_EQ(record.bytes, bytes_of_id[communicator.id]);
        }
    }
    EXPECT_LE(lost, static_cast<std::size_t>(threads));
    EXPECT_EQ(blocks.size(), static_cast<std::size_t>(threads));
}

// Eight threads on one communicator, as PyTorch's two workers use a Gloo context: every call is counted once, has a sequence
// number of its own, and no record is another call's.
TEST(Recorder, ThreadsOnOneCommunicator) {
    segment::Slot& slot = test::engage_with_fake_mpi();
    constexpr int threads = 8;
    constexpr std::uint64_t calls = 20'000;
    const std::uint32_t entry = slot.rank.communicators;
    Tracked* const tracked = enter_communicator(0x55550000, 77, 2, 1);
    ASSERT_NE(tracked, nullptr);
    assign_entry(*tracked, slot);
    std::vector<std::thread> running;
    for (int t = 0; t < threads; ++t)
        running.emplace_back([] {
            for (std::uint64_t i = 0; i < calls; ++i) {
                Call call;
                ASSERT_TRUE(call.enter_unguarded());
                call.begin(static_cast<std::uint32_t>(Operation::allreduce), 0x55550000);
                ASSERT_TRUE(call.is_known());
                call.returned();
                call.finish(3);
            }
        });
    for (auto& thread : running) thread.join();
    const segment::Communicator& communicator = slot.communicators[entry];
    EXPECT_EQ(communicator.id, 77u);
    EXPECT_EQ(communicator.rank, 1u);
    EXPECT_EQ(communicator.calls, threads * calls);
    EXPECT_EQ(communicator.bytes, threads * calls * 3);
    EXPECT_EQ(communicator.calls_by_operation[3], threads * calls);
    EXPECT_EQ(tracked->inside, 0u);
    std::size_t kept = 0, blocks = 0;
    for (int place = 0; place < 64; ++place) {
        if (slot.owners[place] == 0 || segment::communicator_of(slot.owners[place]) != entry) continue;
        const std::uint64_t block = segment::block_of(slot.owners[place]);
        EXPECT_EQ(block % communicator.stride, 0u);
        ++blocks;
        for (std::uint64_t i = 0; i < 256 && block * 256 + i < threads * calls; ++i) {
            const segment::Record& record = slot.blocks[place][i];
            if (record.arrival_ns == 0) continue;  // a thread was in the block before it was opened
            ++kept;
            ASSERT_EQ(record.sequence_low, block * 256 + i);
            ASSERT_TRUE(record.completion_ns == 0 || (record.completion_ns >= record.arrival_ns && record.bytes == 3));
        }
    }
    EXPECT_GT(blocks, 8u);
    EXPECT_GT(kept, blocks * 128);
}

// Alone or not, and a key that is used for another communicator.
TEST(Recorder, CommunicatorOfAnotherLibrary) {
    segment::Slot& slot = test::engage_with_fake_mpi();
    const std::uint32_t entry = slot.rank.communicators;
    assign_entry(*enter_communicator(0x55550010, 78, 2, 0), slot);
    Call first, second, third;
    for (Call* call : {&first, &second}) {
        ASSERT_TRUE(call->enter_unguarded());
        call->begin(static_cast<std::uint32_t>(Operation::barrier), 0x55550010);
    }
    EXPECT_TRUE(first.is_alone());
    EXPECT_FALSE(second.is_alone());
    for (Call* call : {&first, &second}) {
        call->returned();
        call->finish(0);
    }
    third.enter_unguarded();
    third.begin(static_cast<std::uint32_t>(Operation::barrier), 0x55550010);
    EXPECT_TRUE(third.is_alone());
    third.returned();
    third.finish(0);
    EXPECT_EQ(slot.communicators[entry].calls, 3u);

    assign_entry(*enter_communicator(0x55550010, 79, 4, 3), slot);
    EXPECT_EQ(find_tracked(0x55550010)->id, 79u);
    EXPECT_EQ(slot.communicators[entry + 1].id, 79u);
    forget(0x55550010);
    EXPECT_EQ(find_tracked(0x55550010), nullptr);
}

}  // namespace
}  // namespace paced::interposer
