// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/pacing_reader.h"

#include <cstring>
#include <fstream>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "policy/io/pacing_file.h"
#include "tests/doubles/temporary_folder.h"

namespace paced::io {
namespace {

using ClassAccount = pacing::Conductor::ClassAccount;

template <class T>
void append(std::vector<std::byte>& bytes, const T& value) {
    const auto* first = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), first, first + sizeof value);
}

ClassAccount account() {
    ClassAccount made;
    made.signature = 7;
    made.bytes = 131072;
    made.facts.communicators = 4;
    made.facts.size = 2;
    made.facts.crosses = true;
    made.account.count = 2;
    made.account.trials[0].setting.arm = pacing::Arm::admit;
    made.account.trials[0].setting.width = 1;
    made.account.trials[0].gain = 20;
    made.account.trials[0].gain_low = 10;
    made.account.trials[0].gain_high = 30;
    made.account.trials[1].probe_low = -std::numeric_limits<double>::infinity();
    made.account.trials[1].probe_high = std::numeric_limits<double>::infinity();
    made.account.total_ms = 1000;
    return made;
}

segment::PacingHeader header() {
    segment::PacingHeader made{};
    made.magic = segment::pacing_magic;
    made.version = segment::pacing_version;
    made.header_bytes = sizeof made;
    made.class_bytes = sizeof(ClassAccount);
    made.classes = 1;
    made.fault_bytes = sizeof(segment::PacingFault);
    made.faults = made.all_faults = 1;
    made.finished = 1;
    made.elapsed_ns = 60'000'000'000;
    made.nodes = made.most_nodes = 8;
    made.messages = 1400;
    return made;
}

std::vector<std::byte> file(const segment::PacingHeader& start = header(), const ClassAccount& one = account()) {
    std::vector<std::byte> bytes;
    append(bytes, start);
    append(bytes, one);
    segment::PacingFault fault{5'000'000'000, {}};
    std::strcpy(fault.text, "n5 fell silent\x1b[2J");
    append(bytes, fault);
    return bytes;
}

std::vector<std::byte> blocks_file(std::size_t lines) {
    std::vector<std::byte> bytes;
    append(bytes, segment::BlocksHeader{segment::pacing_blocks_magic, segment::pacing_version, sizeof(pacing::BlockLine)});
    for (std::size_t i = 0; i < lines; ++i) {
        pacing::BlockLine line;
        line.round = static_cast<std::uint32_t>(i);
        line.mean_ns = 1e8;
        line.valid = 1;
        append(bytes, line);
    }
    return bytes;
}

std::string refusal(const segment::PacingHeader& start, const ClassAccount& one = account()) {
    const auto read = parse_pacing(file(start, one));
    return read ? "read" : read.error().message;
}

TEST(PacingReader, ReadsWhatTheLeaderLeft) {
    const auto read = parse_pacing(file());
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_TRUE(read->finished);
    EXPECT_EQ(read->elapsed_ns, 60'000'000'000u);
    EXPECT_EQ(read->messages, 1400u);
    ASSERT_EQ(read->classes.size(), 1u);
    EXPECT_TRUE(read->classes[0].facts.crosses);
    EXPECT_FALSE(read->classes[0].facts.tcp);
    EXPECT_EQ(read->classes[0].account.trials[0].gain_high, 30);
    ASSERT_EQ(read->faults.size(), 1u);
    EXPECT_EQ(read->faults[0].text, "n5 fell silent?[2J");  // it ends on a terminal
}

TEST(PacingReader, AFileThatDoesNotFitIsNone) {
    const auto with = [](auto change) {
        segment::PacingHeader start = header();
        change(start);
        return refusal(start);
    };
    EXPECT_EQ(refusal(header()), "read");
    EXPECT_EQ(with([](auto& h) { h.magic ^= 1; }), "it is no account of paced-fabric");
    EXPECT_EQ(with([](auto& h) { h.version = 2; }), "it is of version 2, this program reads 1");
    for (auto change : std::initializer_list<void (*)(segment::PacingHeader&)>{
             [](auto& h) { h.header_bytes = 8; }, [](auto& h) { ++h.class_bytes; }, [](auto& h) { h.fault_bytes = 0; }, [](auto& h) { h.classes = 2; },
             [](auto& h) { h.classes = 0xffff'ffff; }, [](auto& h) { h.faults = 0; }, [](auto& h) { h.faults = 17; }})
        EXPECT_EQ(with(change), "its sizes are impossible");
    EXPECT_EQ(with([](auto& h) { h.elapsed_ns = ~0ULL; }), "its time is impossible");
}

TEST(PacingReader, ANumberThatMakesNoSenseSpoilsTheAccount) {
    const auto with = [](auto change) {
        ClassAccount one = account();
        change(one.account);
        return refusal(header(), one);
    };
    const std::string wrong = "the account of class 1 makes no sense";
    constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();
    EXPECT_EQ(with([](pacing::Account& a) { a.count = pacing::trial_limit + 1; }), wrong);
    EXPECT_EQ(with([](pacing::Account& a) { a.trials[0].setting.arm = static_cast<pacing::Arm>(200); }), wrong);
    EXPECT_EQ(with([](pacing::Account& a) { a.trials[0].ended = static_cast<pacing::Ended>(200); }), wrong);
    EXPECT_EQ(with([](pacing::Account& a) { a.state = static_cast<pacing::Ended>(200); }), wrong);
    EXPECT_EQ(with([](pacing::Account& a) { a.trials[1].gain = nan; }), wrong);
    EXPECT_EQ(with([](pacing::Account& a) { a.trials[0].gain_low = 40; }), wrong);
    EXPECT_EQ(with([](pacing::Account& a) { a.trials[0].mean_ms = -1; }), wrong);
    EXPECT_EQ(with([](pacing::Account& a) { a.trials[0].cv = infinite; }), wrong);
    EXPECT_EQ(with([](pacing::Account& a) { a.total_ms = nan; }), wrong);
    EXPECT_EQ(with([](pacing::Account& a) { a.trials[0].setting.delay_ns = ~0ULL; }), wrong);
    EXPECT_EQ(with([](pacing::Account& a) { a.trials[9].mean_ms = nan; }), "read");  // beyond those that there were
}

TEST(PacingReader, BlocksAreTakenAsFarAsTheyGo) {
    report::PacingTrace trace;
    std::vector<std::byte> bytes = blocks_file(3);
    EXPECT_FALSE(parse_pacing_blocks(bytes, trace));
    EXPECT_EQ(trace.blocks.size(), 3u);
    bytes.resize(bytes.size() - 1);  // being written as the step was killed
    trace.blocks.clear();
    EXPECT_FALSE(parse_pacing_blocks(bytes, trace));
    EXPECT_EQ(trace.blocks.size(), 2u);
    EXPECT_EQ(trace.blocks[1].round, 1u);

    bytes = blocks_file(2);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    std::memcpy(bytes.data() + sizeof(segment::BlocksHeader) + offsetof(pacing::BlockLine, mean_ns), &nan, sizeof nan);
    trace.blocks.clear();
    EXPECT_EQ(parse_pacing_blocks(bytes, trace)->message, "1 block makes no sense");
    EXPECT_EQ(trace.blocks.size(), 1u);
    EXPECT_EQ(parse_pacing_blocks({}, trace)->message, "it is cut off");
}

TEST(PacingReader, AnyBytesMayCome) {
    const std::vector<std::byte> good = file(), lines = blocks_file(4);
    for (std::size_t size = 0; size < good.size(); ++size) EXPECT_FALSE(parse_pacing(std::span(good).first(size))) << size;
    for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
        std::mt19937_64 random(seed);
        std::vector<std::byte> bytes = good;
        for (int i = 0; i < 8; ++i) bytes[(seed % 2 == 0 ? sizeof(segment::PacingHeader) : 0) + random() % (good.size() - sizeof(segment::PacingHeader))] = static_cast<std::byte>(random());
        (void)parse_pacing(bytes);
        bytes = lines;
        for (int i = 0; i < 8; ++i) bytes[random() % bytes.size()] = static_cast<std::byte>(random());
        report::PacingTrace trace;
        (void)parse_pacing_blocks(bytes, trace);
    }
}

TEST(PacingReader, AFolder) {
    const test::TemporaryFolder folder;
    report::Trace trace;
    read_pacing(folder.path(), trace);
    EXPECT_FALSE(trace.pacing);
    EXPECT_TRUE(trace.warnings.empty());  // not under pace

    const auto write = [&](const char* name, const std::vector<std::byte>& bytes) {
        folder.write(name, std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    };
    write("pacing", file());
    write("pacing-blocks", blocks_file(5));
    read_pacing(folder.path(), trace);
    ASSERT_TRUE(trace.pacing);
    EXPECT_EQ(trace.pacing->blocks.size(), 5u);
    EXPECT_TRUE(trace.warnings.empty());

    write("pacing-blocks", {});
    write("pacing", {});
    trace = {};
    read_pacing(folder.path(), trace);
    EXPECT_FALSE(trace.pacing);
    EXPECT_EQ(trace.warnings, std::vector<std::string>{"cannot read " + folder.path().string() + "/pacing: it is cut off"});
}

}  // namespace
}  // namespace paced::io
