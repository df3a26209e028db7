// SPDX-License-Identifier: BSD-3-Clause
// A segment, as the ranks fill it, makes a dump that reads back as the same trace.
#include "plugin/interposer/exchange/dump.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "plugin/interposer/node_segment.h"
#include "plugin/interposer/sampler.h"
#include "policy/io/segment_reader.h"

namespace paced::interposer {
namespace {

class DumpTest : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
        char reason[256];
        for (int rank = 0; rank < 2; ++rank) {
            NodeSegment joined = join_segment(folder_.c_str(), "node7", reason);
            ASSERT_NE(joined.slot, nullptr) << reason;
            ASSERT_EQ(joined.index, static_cast<std::uint32_t>(rank));
            // rank 0 is finished when rank 1 comes, so rank 1 is the first of another program
            EXPECT_TRUE(joined.first);
            fill(*joined.slot, rank);
        }
        file_ = ::open((folder_ + "/segment").c_str(), O_RDONLY);
        ASSERT_GE(file_, 0);
    }
    void TearDown() override {
        ::close(file_);
        ::unlink((folder_ + "/segment").c_str());
        ::rmdir(folder_.c_str());
    }

    static void fill(segment::Slot& slot, int rank) {
        slot.rank.world_rank = rank;
        slot.rank.world_size = 2;
        slot.rank.pid = static_cast<std::uint32_t>(::getpid());
        slot.rank.state = rank == 0 ? segment::State::finished : segment::State::running;
        slot.rank.communicators = 1;
        slot.rank.started_ns = 5;
        slot.rank.cpus[0] = rank == 0 ? 1 : 6;
        slot.rank.not_recorded[3] = 9;
        std::strcpy(slot.rank.library, "Test MPI 1");
        segment::Communicator& world = slot.communicators[0];
        world = {77, 2, static_cast<std::uint32_t>(rank), 700, 5600, 0, 0, 1, 0, {}};
        world.calls_by_operation[3] = 700;
        for (std::uint64_t sequence = 0; sequence < 700; ++sequence) {
            static int place = 0;
            if (sequence % 256 == 0) place = Sampler(&slot).open(0, sequence / 256);
            slot.blocks[place][sequence % 256] = {1000 + sequence * 10, 1005 + sequence * 10, 8, static_cast<std::uint32_t>(sequence), 3, {}};
        }
    }

    std::vector<std::byte> dump(int coarsening, const char* plan = "{}") {
        Dump dump(file_, scratch_.get());
        clock_->add({100, -20, 3});
        std::vector<std::byte> bytes;
        const Sink sink = [](void* context, const void* data, std::size_t size) {
            auto& to = *static_cast<std::vector<std::byte>*>(context);
            const auto* from = static_cast<const std::byte*>(data);
            to.insert(to.end(), from, from + size);
            return true;
        };
        EXPECT_TRUE(dump.write("node7", *clock_, plan, std::strlen(plan), coarsening, sink, &bytes));
        EXPECT_EQ(dump.measure(*clock_, std::strlen(plan)).bytes[coarsening], bytes.size());
        const std::uint64_t total = bytes.size();
        std::memcpy(bytes.data() + offsetof(segment::DumpHeader, total_bytes), &total, sizeof total);
        return bytes;
    }

    std::string folder_ = "/tmp/paced-dump.XXXXXX";
    int file_ = -1;
    std::unique_ptr<segment::Slot> scratch_ = std::make_unique<segment::Slot>();
    std::unique_ptr<ClockPoints> clock_ = std::make_unique<ClockPoints>();
};

TEST_F(DumpTest, ReadsBackAsTheSegment) {
    const auto from_segment = io::read_node(folder_ + "/segment");
    ASSERT_TRUE(from_segment) << from_segment.error().message;
    const auto from_dump = io::parse_node(dump(0, "{\"a\": 1}"));
    ASSERT_TRUE(from_dump) << from_dump.error().message;
    EXPECT_EQ(from_dump->node, "node7");
    EXPECT_EQ(from_dump->plan, "{\"a\": 1}");
    ASSERT_EQ(from_dump->clock.size(), 1u);
    EXPECT_EQ(from_dump->clock[0].offset_ns, -20);
    for (const auto* node : {&*from_segment, &*from_dump}) {
        ASSERT_EQ(node->ranks.size(), 2u);
        for (int r = 0; r < 2; ++r) {
            const auto& rank = node->ranks[static_cast<std::size_t>(r)];
            EXPECT_EQ(rank.rank, r);
            EXPECT_EQ(rank.library, "Test MPI 1");
            EXPECT_EQ(rank.not_recorded, (std::map<std::string, std::uint64_t>{{"MPI_Iallreduce", 9}}));
            ASSERT_EQ(rank.communicators.size(), 1u);
            EXPECT_EQ(rank.communicators[0].calls, 700u);
            ASSERT_EQ(rank.communicators[0].records.size(), 700u);
            for (std::uint64_t i = 0; i < 700; ++i) EXPECT_EQ(rank.communicators[0].records[i].arrival_ns, 1000 + i * 10);
        }
    }
}

TEST_F(DumpTest, OneAgentAProgram) {
    char reason[256];
    const NodeSegment late = join_segment(folder_.c_str(), "node7", reason);  // while rank 1 (this process) runs
    ASSERT_NE(late.slot, nullptr) << reason;
    EXPECT_FALSE(late.first);
}

TEST_F(DumpTest, CoarserKeepsMultiples) {
    const auto node = io::parse_node(dump(1));
    ASSERT_TRUE(node) << node.error().message;
    for (const auto& rank : node->ranks) {
        ASSERT_EQ(rank.communicators[0].records.size(), 256u + (700 - 512));
        for (const auto& record : rank.communicators[0].records) EXPECT_EQ(record.sequence / 256 % 2, 0u);
    }
}

TEST_F(DumpTest, KnowsWhoIsUnfinishedAndWhereRanksRun) {
    Dump dump(file_, scratch_.get());
    EXPECT_EQ(dump.unfinished(), 1);
    std::uint64_t cpus[16];
    dump.cpus_of_ranks(cpus);
    EXPECT_EQ(cpus[0], 7u);
}

// Any cut and any flipped byte gives an answer or an error, and what is claimed is never more than is there.
TEST_F(DumpTest, CutAndAlteredDumpsAreHarmless) {
    const auto whole = dump(0);
    for (std::size_t length = 0; length < whole.size(); length += length < 2048 ? 1 : 997) {
        EXPECT_FALSE(io::parse_node(std::span(whole).first(length))) << length;
    }
    for (std::size_t at = 0; at < whole.size(); at += at < 4096 ? 1 : 769)
        for (const unsigned flip : {0x01u, 0x80u, 0xffu}) {
            auto altered = whole;
            altered[at] ^= static_cast<std::byte>(flip);
            if (const auto node = io::parse_node(altered)) {
                EXPECT_LE(node->ranks.size(), 2u);
            }
        }
}

}  // namespace
}  // namespace paced::interposer
