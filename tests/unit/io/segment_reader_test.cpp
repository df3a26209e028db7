// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/segment_reader.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "policy/io/segment.h"

namespace paced::io {
namespace {

namespace fs = std::filesystem;

// A segment of `ranks` ranks in memory, each with one communicator and two blocks of records.
std::vector<std::byte> make_segment(std::uint32_t ranks) {
    segment::Header header{};
    header.magic = segment::segment_magic;
    header.version = segment::version;
    header.header_bytes = sizeof header;
    header.slot_bytes = sizeof(segment::Slot);
    header.slots = segment::slot_limit;
    header.total_bytes = segment::total_bytes;
    header.claimed = ranks;
    std::strcpy(header.node, "n1");
    std::vector<std::byte> bytes(sizeof header + ranks * sizeof(segment::Slot));
    std::memcpy(bytes.data(), &header, sizeof header);
    for (std::uint32_t r = 0; r < ranks; ++r) {
        auto slot = std::make_unique<segment::Slot>();
        slot->rank.state = segment::State::running;
        slot->rank.world_rank = static_cast<std::int32_t>(ranks - 1 - r);
        slot->rank.world_size = static_cast<std::int32_t>(ranks);
        slot->rank.communicators = 1;
        slot->communicators[0].id = 42;
        slot->communicators[0].size = ranks;
        slot->communicators[0].rank = ranks - 1 - r;
        slot->communicators[0].calls = 300;
        slot->communicators[0].calls_by_operation[0] = 300;
        slot->owners[5] = segment::owner_of(0, 1);
        slot->owners[9] = segment::owner_of(0, 0);
        for (std::uint32_t i = 0; i < 300; ++i) slot->blocks[i < 256 ? 9 : 5][i % 256] = {i + 1, i < 299 ? i + 2 : 0, 8, i, 0, {}};
        std::memcpy(bytes.data() + sizeof header + r * sizeof(segment::Slot), slot.get(), sizeof *slot);
    }
    return bytes;
}

template <class T>
void put(std::vector<std::byte>& bytes, std::size_t offset, T value) {
    std::memcpy(bytes.data() + offset, &value, sizeof value);
}
constexpr std::size_t first_slot = sizeof(segment::Header);

TEST(SegmentReader, SortsRanksAndRecords) {
    const auto node = parse_node(make_segment(3));
    ASSERT_TRUE(node) << node.error().message;
    ASSERT_EQ(node->ranks.size(), 3u);
    for (int r = 0; r < 3; ++r) {
        const auto& rank = node->ranks[static_cast<std::size_t>(r)];
        EXPECT_EQ(rank.rank, r);
        ASSERT_EQ(rank.communicators.size(), 1u);
        const auto& records = rank.communicators[0].records;
        ASSERT_EQ(records.size(), 300u);
        for (std::uint64_t i = 0; i < 300; ++i) EXPECT_EQ(records[i].sequence, i);
        EXPECT_EQ(records[299].completion_ns, 0u);  // still inside
        EXPECT_EQ(rank.recording_calls, 300u);
    }
}

TEST(SegmentReader, TellsWhatIsWrong) {
    const auto error = [](std::vector<std::byte> bytes) {
        const auto node = parse_node(bytes);
        return node ? std::string("accepted") : node.error().message;
    };
    EXPECT_EQ(error({}), "too short to be a segment or a dump");
    EXPECT_EQ(error(std::vector<std::byte>(100)), "neither a segment nor a dump of paced-fabric");
    auto bytes = make_segment(1);
    put(bytes, offsetof(segment::Header, version), std::uint32_t{2});
    EXPECT_EQ(error(bytes), "segment of version 2, this program reads 1");
    bytes = make_segment(1);
    put(bytes, offsetof(segment::Header, slot_bytes), std::uint32_t{64});
    EXPECT_EQ(error(bytes), "segment with impossible sizes");
    bytes = make_segment(1);
    put(bytes, offsetof(segment::Header, slots), std::uint32_t{1'000'000});
    EXPECT_EQ(error(bytes), "segment with impossible sizes");
    bytes = make_segment(2);
    bytes.resize(bytes.size() - 1);
    EXPECT_EQ(error(bytes), "segment is cut off in the slot of its rank 1");
    bytes.resize(100);
    EXPECT_EQ(error(bytes), "segment is cut off");
}

TEST(SegmentReader, LeavesOutWhatCannotBe) {
    const auto records_after = [](auto change) {
        auto bytes = make_segment(1);
        change(bytes);
        const auto node = parse_node(bytes);
        return node && !node->ranks.empty() && !node->ranks[0].communicators.empty() ? node->ranks[0].communicators[0].records.size() : 9999;
    };
    constexpr std::size_t owners = first_slot + offsetof(segment::Slot, owners), block9 = first_slot + offsetof(segment::Slot, blocks) + 9 * 256 * 32;
    EXPECT_EQ(records_after([&](auto& bytes) { put(bytes, owners + 9 * 8, segment::owner_of(7, 0)); }), 44u);        // an owner that there is not
    EXPECT_EQ(records_after([&](auto& bytes) { put(bytes, owners + 9 * 8, segment::owner_of(0, 3)); }), 44u);        // another block's records
    EXPECT_EQ(records_after([&](auto& bytes) { put(bytes, owners + 5 * 8, segment::owner_of(0, 0)); }), 256u);       // two of one block
    EXPECT_EQ(records_after([&](auto& bytes) { put(bytes, block9 + offsetof(segment::Record, operation), std::uint8_t{17}); }), 299u);
    EXPECT_EQ(records_after([&](auto& bytes) { put(bytes, block9 + offsetof(segment::Record, arrival_ns), std::uint64_t{50}); }), 299u);  // ended before it began
    EXPECT_EQ(records_after([&](auto& bytes) { put(bytes, first_slot + offsetof(segment::Rank, communicators), std::uint32_t{0xffffffff}); }), 300u);
}

TEST(SegmentReader, RanksWithoutAStateAreNotThere) {
    auto bytes = make_segment(2);
    put(bytes, first_slot, segment::State::claimed);
    const auto node = parse_node(bytes);
    ASSERT_TRUE(node);
    EXPECT_EQ(node->ranks.size(), 1u);
}

TEST(SegmentReader, NamesArePrintable) {
    auto bytes = make_segment(1);
    std::memset(bytes.data() + offsetof(segment::Header, node), 0x1b, 64);  // no end, all escapes
    const auto node = parse_node(bytes);
    ASSERT_TRUE(node);
    EXPECT_EQ(node->node, std::string(64, '?'));
}

TEST(SegmentReader, SurvivesAnything) {
    const auto whole = make_segment(2);
    std::mt19937 random(7);
    for (int round = 0; round < 300; ++round) {
        auto bytes = whole;
        for (unsigned i = 0; i < 1 + random() % 40; ++i) {
            // more often in the header and the counters, where it hurts
            const std::size_t at = random() % 3 == 0 ? random() % bytes.size() : random() % 3 == 0 ? random() % 128 : first_slot + random() % 5000;
            bytes[at] = static_cast<std::byte>(random());
        }
        if (random() % 4 == 0) bytes.resize(random() % bytes.size());
        (void)parse_node(bytes);
    }
}

class RunFolder : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_NE(::mkdtemp(path_.data()), nullptr);
    }
    void TearDown() override { fs::remove_all(path_); }
    void write(const std::string& name, const std::vector<std::byte>& bytes) {
        std::ofstream(path_ + "/" + name, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    }
    std::string path_ = "/tmp/paced-reader.XXXXXX";
};

TEST_F(RunFolder, Empty) {
    const auto trace = read_run_folder(path_);
    ASSERT_FALSE(trace);
    EXPECT_EQ(trace.error().message, "cannot read " + path_ + "/segment: No such file or directory");
}

TEST_F(RunFolder, OwnSegmentPlanAndBrokenDump) {
    write("segment", make_segment(2));
    std::ofstream(path_ + "/plan.json") << "{}";
    std::ofstream(path_ + "/node-n2.dump") << "garbage of some length";
    const auto trace = read_run_folder(path_);
    ASSERT_TRUE(trace) << trace.error().message;
    ASSERT_EQ(trace->nodes.size(), 1u);
    EXPECT_EQ(trace->nodes[0].plan, "{}");
    EXPECT_EQ(trace->warnings, (std::vector<std::string>{"cannot read " + path_ + "/node-n2.dump: neither a segment nor a dump of paced-fabric"}));
}

TEST_F(RunFolder, SaysWhichRanksAreMissing) {
    auto bytes = make_segment(3);
    put(bytes, first_slot, segment::State::empty);
    write("segment", bytes);
    const auto trace = read_run_folder(path_);
    ASSERT_TRUE(trace);
    EXPECT_EQ(trace->warnings, (std::vector<std::string>{"records of 1 of 3 ranks are missing"}));
}

TEST_F(RunFolder, OfSeveralProgramsTheLastIsShown) {
    auto bytes = make_segment(4);  // two programs of two ranks
    for (std::uint32_t slot = 0; slot < 4; ++slot) {
        const std::size_t at = first_slot + slot * sizeof(segment::Slot);
        put(bytes, at + offsetof(segment::Rank, world_rank), static_cast<std::int32_t>(slot % 2));
        put(bytes, at + offsetof(segment::Rank, world_size), std::int32_t{2});
        put(bytes, at + offsetof(segment::Rank, started_ns), std::uint64_t{slot < 2 ? 100u : 900u});
    }
    write("segment", bytes);
    const auto trace = read_run_folder(path_);
    ASSERT_TRUE(trace);
    ASSERT_EQ(trace->nodes[0].ranks.size(), 2u);
    for (const auto& rank : trace->nodes[0].ranks) EXPECT_EQ(rank.started_ns, 900u);
    EXPECT_EQ(trace->warnings, (std::vector<std::string>{"several MPI programs ran in this step, each rank's last one is shown"}));
}

TEST_F(RunFolder, LinksAndDevicesAreNotFollowed) {
    fs::create_symlink("/dev/zero", path_ + "/segment");
    const auto trace = read_run_folder(path_);
    ASSERT_FALSE(trace);
    EXPECT_EQ(trace.error().message, "cannot read " + path_ + "/segment: Too many levels of symbolic links");
    fs::remove(path_ + "/segment");
    fs::create_directory(path_ + "/segment");
    EXPECT_EQ(read_run_folder(path_).error().message, "cannot read " + path_ + "/segment: not a regular file");
}

}  // namespace
}  // namespace paced::io
