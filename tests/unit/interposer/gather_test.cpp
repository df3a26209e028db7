// SPDX-License-Identifier: BSD-3-Clause
// What the agent reads out of the node's segment, and how it writes into it, while ranks work.
#include "plugin/interposer/exchange/gather.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "plugin/interposer/exchange/paced_segment.h"
#include "plugin/interposer/node_segment.h"
#include "plugin/interposer/shared.h"

namespace paced::interposer {
namespace {

class Gather : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
        add_rank();
        file_ = ::open((folder_ + "/segment").c_str(), O_RDONLY);
        gatherer_ = std::make_unique<Gatherer>(file_, *header_, 77);
    }
    void TearDown() override {
        gatherer_.reset();
        for (auto* slot : slots_) ::munmap(slot, sizeof *slot);
        ::close(file_);
        ::unlink((folder_ + "/segment").c_str());
        ::rmdir(folder_.c_str());
    }

    segment::Slot& add_rank() {
        char reason[256];
        const NodeSegment joined = join_segment(folder_.c_str(), "n", reason);
        EXPECT_NE(joined.slot, nullptr) << reason;
        header_ = joined.header;
        slots_.push_back(joined.slot);
        joined.slot->rank.pid = static_cast<std::uint32_t>(::getpid());
        joined.slot->rank.cpus[0] = 3;
        joined.slot->rank.state = segment::State::running;
        return *joined.slot;
    }
    // Member `rank` of a communicator of 8 in the first free place of this slot.
    static void join(segment::Slot& slot, std::uint64_t id, std::uint32_t rank, std::uint64_t calls, std::uint64_t signature = 5) {
        const std::uint32_t place = slot.rank.communicators++;
        slot.communicators[place] = {id, 8, rank, calls, 0, 0, 0, 1, 0, {}};
        slot.paced[place].period = 4;
        slot.paced[place].bytes = 1024;
        slot.paced[place].signature = signature;
    }
    static void finish(segment::Slot& slot, std::uint32_t place, std::uint32_t epoch, std::uint64_t wait_ns) {
        pacing::RankBlock& block = slot.paced[place].blocks[epoch % 2];
        block = {};
        block.epoch = epoch;
        block.calls = 1;
        block.wait_ns = wait_ns;
        store_release(slot.paced[place].finished, epoch);
    }
    const SummaryHead& look() {
        gatherer_->look(now_ns());
        return gatherer_->head();
    }

    std::string folder_ = "/tmp/paced-gather.XXXXXX";
    segment::Header* header_ = nullptr;
    std::vector<segment::Slot*> slots_;
    int file_ = -1;
    std::unique_ptr<Gatherer> gatherer_;
};

TEST_F(Gather, ProgressOfLocalMembersTogether) {
    add_rank();
    add_rank();
    join(*slots_[0], 100, 0, 10);
    join(*slots_[1], 100, 1, 12);
    join(*slots_[1], 200, 0, 3);
    join(*slots_[2], 200, 1, 3, 6);
    join(*slots_[2], 300, 1, 0);
    EXPECT_EQ(look().progresses, 2u) << "a communicator without a call is none yet";
    const pacing::Progress* const p = gatherer_->progresses();
    EXPECT_EQ(p[0].communicator, 100u);
    EXPECT_EQ(p[0].calls, 12u);
    EXPECT_EQ(p[0].members, 2u);
    EXPECT_EQ(p[0].most_local, 2u);
    EXPECT_EQ(p[0].signature, 5u);
    EXPECT_EQ(p[0].period, 4u);
    EXPECT_EQ(p[0].bytes, 1024u);
    EXPECT_EQ(p[0].size, 8u);
    EXPECT_EQ(p[0].leaf, 77u);
    EXPECT_EQ(p[0].leaf_set, std::uint64_t{1} << 77 % 64);
    EXPECT_EQ(p[0].leaves, 1u);
    EXPECT_EQ(p[1].signature, 0u) << "its members do not agree";
    EXPECT_EQ(p[1].period, 0u);
    slots_[2]->paced[0].signature = 5;
    look();
    EXPECT_EQ(gatherer_->progresses()[1].signature, 5u);
    EXPECT_EQ(gatherer_->progresses()[1].members, 2u);
}

TEST_F(Gather, BlocksOnceEach) {
    join(*slots_[0], 100, 3, 10);
    EXPECT_EQ(look().blocks, 0u);
    finish(*slots_[0], 0, 1, 50);
    ASSERT_EQ(look().blocks, 1u);
    EXPECT_EQ(gatherer_->blocks()[0].epoch, 1u);
    EXPECT_EQ(gatherer_->blocks()[0].communicator, 100u);
    EXPECT_EQ(gatherer_->blocks()[0].members, 1u);
    EXPECT_EQ(gatherer_->blocks()[0].late_member, 3u);
    EXPECT_EQ(gatherer_->blocks()[0].wait_ns, 50u);
    EXPECT_EQ(look().blocks, 0u);
    finish(*slots_[0], 0, 2, 60);
    finish(*slots_[0], 0, 3, 70);
    ASSERT_EQ(look().blocks, 2u) << "two at once, since there is room for two";
    EXPECT_EQ(gatherer_->blocks()[0].epoch, 2u);
    EXPECT_EQ(gatherer_->blocks()[1].epoch, 3u);
    slots_[0]->paced[0].finished = 9;
    EXPECT_EQ(look().blocks, 0u) << "what is not there is not invented";
}

TEST_F(Gather, ThoseOfAnEarlierProgramAreNotOurs) {
    join(*slots_[0], 100, 0, 10);
    slots_[0]->rank.state = segment::State::finished;
    join(add_rank(), 100, 0, 4);
    look();
    EXPECT_EQ(gatherer_->progresses()[0].members, 1u);
    EXPECT_EQ(gatherer_->progresses()[0].calls, 4u);
    slots_[1]->rank.state = segment::State::finished;
    look();
    EXPECT_EQ(gatherer_->progresses()[0].members, 1u) << "one of ours that has finished still counts";
}

TEST_F(Gather, FactsAboutTheNode) {
    EXPECT_EQ(look().flags, 0u);
    add_rank();
    EXPECT_EQ(look().flags, 0u) << "two ranks on two CPUs";
    add_rank();
    EXPECT_EQ(look().flags, std::uint32_t{summary_pays_for_waiting});
    slots_[2]->rank.cpus[0] = 4;
    slots_[1]->rank.fabric_sockets = 2;
    EXPECT_NE(look().flags & summary_tcp, 0u);
}

TEST_F(Gather, TheBusiestSocketOfAnyRank) {
    join(*slots_[0], 100, 0, 10);
    segment::Slot& second = add_rank();
    join(second, 100, 1, 10);
    slots_[0]->paced[0].socket_bytes = 200;
    second.paced[0].socket_bytes = 700;
    look();
    EXPECT_EQ(gatherer_->progresses()[0].socket_bytes, 700u);
}

// What is not said here is left to ThoseOfAnEarlierProgramAreNotOurs: a slot that is claimed and never filled is a hole.
TEST_F(Gather, AHoleIsNeverTouched) {
    header_->claimed = 200;  // as if ranks had claimed slots and found no room for them
    join(*slots_[0], 100, 0, 10);
    EXPECT_EQ(look().progresses, 1u);
}

TEST(Retransmissions, OutOfTheKernelsText) {
    const char text[] =
        "Ip: Forwarding DefaultTTL\nIp: 1 64\nTcp: RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens PassiveOpens AttemptFails EstabResets CurrEstab InSegs OutSegs RetransSegs InErrs\n"
        "Tcp: 1 200 120000 -1 27 30 4 6 2 8031 7964 815 0\nUdp: InDatagrams\nUdp: 3\n";
    std::uint64_t segments = 0;
    EXPECT_TRUE(find_retransmissions(text, segments));
    EXPECT_EQ(segments, 815u);
    EXPECT_FALSE(find_retransmissions("", segments));
    EXPECT_FALSE(find_retransmissions("Tcp: RetransSegs\n", segments));
    EXPECT_FALSE(find_retransmissions("Tcp: A RetransSegs\nTcp: 1\n", segments));
}

// A rank that copies under the version sees one directive or the other, never half of each.
TEST_F(Gather, DirectivesAreWholeForWhoReadsMeanwhile) {
    header_->communicators[5].id = 100;
    PacedSegment segment(*header_);
    pacing::Directive made;
    made.communicator = 100;
    EXPECT_FALSE(segment.write([] { pacing::Directive other; other.communicator = 9; return other; }()));
    std::atomic<bool> stop = false;
    std::thread writer([&] {
        for (std::uint32_t epoch = 1; !stop; ++epoch) {
            made.epoch = epoch;
            made.from_sequence = made.setting.delay_ns = made.setting.rate_bytes_s = epoch;
            segment.write(made);
            if (epoch % 16 == 0) std::this_thread::yield();  // on one core the reader would find it writing for ever
        }
    });
    const pacing::PacedCommunicator& entry = header_->communicators[5];
    int read = 0;
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (read <= 1000 && std::chrono::steady_clock::now() < limit) {
        const std::uint32_t version = load_acquire(entry.version);
        pacing::Directive seen;
        load_words(&seen, &entry.next, sizeof seen);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (version % 2 != 0 || load(entry.version) != version) continue;
        ++read;
        ASSERT_TRUE(seen.from_sequence == seen.epoch && seen.setting.delay_ns == seen.epoch && seen.setting.rate_bytes_s == seen.epoch);
    }
    stop = true;
    writer.join();
    EXPECT_GT(read, 1000);
}

TEST_F(Gather, OffAtOnceAndForgotten) {
    PacedSegment segment(*header_);
    for (std::uint64_t id : {100, 200}) {
        header_->communicators[id / 100].id = id;
        pacing::Directive made;
        made.communicator = id;
        made.epoch = 4;
        made.from_sequence = 900;
        made.setting.arm = id == 100 ? pacing::Arm::admit : pacing::Arm::off;
        segment.write(made);
    }
    EXPECT_TRUE(segment.is_pacing());
    segment.all_off();
    EXPECT_FALSE(segment.is_pacing());
    const pacing::Directive& off = header_->communicators[1].next;
    EXPECT_EQ(off.epoch, 5u);
    EXPECT_EQ(off.from_sequence, 0u) << "holds at once, wherever the ranks are";
    EXPECT_EQ(header_->communicators[2].next.epoch, 4u) << "was off";
    EXPECT_EQ(header_->communicators[1].version % 2, 0u);
    segment.forget();
    EXPECT_EQ(header_->communicators[1].id, 0u);
    EXPECT_EQ(header_->communicators[1].next.epoch, 0u);
}

}  // namespace
}  // namespace paced::interposer
