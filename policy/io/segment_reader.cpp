// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/segment_reader.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <optional>

#include "policy/io/pacing_reader.h"
#include "policy/io/plain_data.h"
#include "policy/io/segment.h"

namespace paced::io {
namespace {

namespace fs = std::filesystem;
using report::NodeTrace;
using report::RankTrace;
using segment::Communicator;
using segment::Record;

constexpr std::uint64_t file_limit = std::uint64_t{1} << 30;  // no honest file is larger

constexpr std::array<const char*, segment::counter_count> counter_names{
#define PACED_COUNTER_NAME(name) "MPI_" #name,
    PACED_COUNTED_FUNCTIONS(PACED_COUNTER_NAME)
#undef PACED_COUNTER_NAME
};
static_assert(segment::operation_limit == report::operation_count);

std::string counter_name(std::uint32_t index) {
    if (index == static_cast<std::uint32_t>(segment::Counter::intercommunicator)) return "collectives on intercommunicators";
    if (index == static_cast<std::uint32_t>(segment::Counter::unknown_context)) return "collectives on Gloo contexts without an id";
    return counter_names[index];
}

RankTrace rank_of(const segment::Rank& from) {
    RankTrace rank;
    rank.rank = from.world_rank;
    rank.world_size = from.world_size;
    rank.library = text_of(from.library);
    rank.started_ns = from.started_ns;
    rank.finished_ns = from.finished_ns;
    rank.dropped = from.dropped;
    for (std::uint32_t i = 0; i < segment::counter_count; ++i)
        if (from.not_recorded[i] != 0) rank.not_recorded[counter_name(i)] = from.not_recorded[i];
    return rank;
}

report::CommunicatorTrace communicator_of(const Communicator& from) {
    report::CommunicatorTrace to;
    to.id = from.id;
    to.size = from.size;
    to.rank = from.rank;
    to.calls = from.calls;
    to.bytes = from.bytes;
    for (std::uint32_t i = 0; i < segment::operation_limit; ++i)
        if (from.calls_by_operation[i] != 0) to.calls_by_operation[static_cast<report::Operation>(i)] = from.calls_by_operation[i];
    return to;
}

// Appends the valid records of one block. A record counts if it says that it is this sequence number's: a block that
// its rank was giving to another communicator at this moment holds others.
void append_block(report::CommunicatorTrace& to, std::uint64_t block, std::span<const Record> records) {
    for (std::size_t i = 0; i < records.size(); ++i) {
        const Record& record = records[i];
        const std::uint64_t sequence = block * segment::block_records + i;
        if (record.arrival_ns == 0 || record.operation >= segment::operation_limit) continue;
        if (record.sequence_low != static_cast<std::uint32_t>(sequence) || sequence >= to.calls) continue;
        if (record.completion_ns != 0 && record.completion_ns < record.arrival_ns) continue;
        to.records.push_back({sequence, record.arrival_ns, record.completion_ns, record.bytes, static_cast<report::Operation>(record.operation), segment::held_ns(record)});
    }
}

// What one rank left, wherever it was found. entries[i] is communicator i of its slot; the ids of those in use.
struct Collected {
    RankTrace rank;
    std::vector<report::CommunicatorTrace> communicators;
    std::vector<std::uint32_t> strides;

    void add(const Communicator& from) {
        communicators.push_back(io::communicator_of(from));
        strides.push_back(from.stride);
    }
    void add_block(std::uint64_t owner, std::span<const Record> records) {
        const std::uint32_t index = segment::communicator_of(owner);
        if (owner == 0 || index >= communicators.size()) return;
        append_block(communicators[index], segment::block_of(owner), records);
    }
    RankTrace finish(std::uint64_t unpaid) && {
        for (auto& communicator : communicators) {
            if (communicator.id == 0 || communicator.size == 0 || communicator.rank >= communicator.size) continue;
            std::ranges::sort(communicator.records, {}, &report::CollectiveRecord::sequence);
            // std::ranges::unique returns a view, which clang 14 (the fuzzer's compiler) cannot read from libstdc++ 12
            const auto same = [](const auto& a, const auto& b) { return a.sequence == b.sequence; };
            communicator.records.erase(std::unique(communicator.records.begin(), communicator.records.end(), same), communicator.records.end());
            rank.recording_calls += communicator.calls;
            rank.communicators.push_back(std::move(communicator));
        }
        rank.recording_calls -= std::min(unpaid, rank.recording_calls);
        return std::move(rank);
    }
};

RankTrace parse_slot(const segment::Slot& slot) {
    Collected collected{rank_of(slot.rank), {}, {}};
    const std::uint32_t count = std::min(slot.rank.communicators, segment::communicator_limit);
    for (std::uint32_t i = 0; i < count; ++i) collected.add(slot.communicators[i]);
    for (std::uint32_t i = 0; i < segment::block_limit; ++i) collected.add_block(slot.owners[i], slot.blocks[i]);
    return std::move(collected).finish(slot.rank.unpaid);
}

bool in_use(const segment::Rank& rank) {
    return rank.state == segment::State::running || rank.state == segment::State::finished;
}

std::optional<Error> check(const segment::Header& header, std::uint64_t file_bytes) {
    if (header.version != segment::version)
        return Error{"segment of version " + std::to_string(header.version) + ", this program reads " + std::to_string(segment::version)};
    if (header.header_bytes != sizeof(segment::Header) || header.slot_bytes != sizeof(segment::Slot) || header.slots == 0
        || header.slots > segment::slot_limit || header.total_bytes != sizeof(segment::Header) + std::uint64_t{header.slots} * sizeof(segment::Slot))
        return Error{"segment with impossible sizes"};
    if (file_bytes < sizeof(segment::Header)) return Error{"segment is cut off"};
    return std::nullopt;
}

void sort_ranks(NodeTrace& node) { std::ranges::stable_sort(node.ranks, {}, &RankTrace::rank); }

Result<NodeTrace> parse_segment(std::span<const std::byte> bytes) {
    ByteCursor cursor(bytes);
    segment::Header header;
    if (!cursor.take(header)) return fail("segment is cut off");
    if (const auto error = check(header, bytes.size())) return fail(error->message);
    NodeTrace node;
    node.node = text_of(header.node);
    const auto slot = std::make_unique<segment::Slot>();
    for (std::uint32_t i = 0; i < std::min(header.claimed, header.slots); ++i) {
        if (!cursor.take(*slot)) return fail("segment is cut off in the slot of its rank " + std::to_string(i));
        if (in_use(slot->rank)) node.ranks.push_back(parse_slot(*slot));
    }
    sort_ranks(node);
    return node;
}

Result<NodeTrace> parse_dump(std::span<const std::byte> bytes) {
    ByteCursor cursor(bytes);
    segment::DumpHeader header;
    if (!cursor.take(header)) return fail("dump is cut off");
    if (header.version != segment::version)
        return fail("dump of version " + std::to_string(header.version) + ", this program reads " + std::to_string(segment::version));
    if (header.header_bytes != sizeof header || header.total_bytes != bytes.size() || header.clock_points > segment::clock_limit
        || header.plan_bytes > segment::plan_limit || header.ranks > segment::slot_limit)
        return fail("dump with impossible sizes");
    NodeTrace node;
    node.node = text_of(header.node);
    for (std::uint32_t i = 0; i < header.clock_points; ++i) {
        segment::ClockPoint point;
        if (!cursor.take(point)) return fail("dump is cut off in its clock samples");
        node.clock.push_back({point.local_ns, point.offset_ns, point.error_ns});
    }
    const auto plan = cursor.take_bytes(segment::padded(header.plan_bytes));
    if (!plan) return fail("dump is cut off in its plan");
    node.plan.assign(reinterpret_cast<const char*>(plan->data()), header.plan_bytes);
    const auto block = std::make_unique<segment::DumpBlock>();
    for (std::uint32_t i = 0; i < header.ranks; ++i) {
        segment::DumpRank rank;
        if (!cursor.take(rank)) return fail("dump is cut off before its rank " + std::to_string(i));
        if (rank.communicators > segment::communicator_limit || rank.blocks > segment::block_limit) return fail("dump with impossible counts in its rank " + std::to_string(i));
        Collected collected{rank_of(rank.rank), {}, {}};
        for (std::uint32_t c = 0; c < rank.communicators; ++c) {
            Communicator communicator;
            if (!cursor.take(communicator)) return fail("dump is cut off in its rank " + std::to_string(i));
            collected.add(communicator);
        }
        for (std::uint32_t b = 0; b < rank.blocks; ++b) {
            if (!cursor.take(*block)) return fail("dump is cut off in its rank " + std::to_string(i));
            collected.add_block(block->owner, block->records);
        }
        node.ranks.push_back(std::move(collected).finish(rank.rank.unpaid));
    }
    if (cursor.left() != 0) return fail("dump has bytes after its end");
    sort_ranks(node);
    return node;
}

std::optional<std::string> read_text(const std::string& path, std::uint64_t limit) {
    const RegularFile file(path);
    if (!file.problem().empty() || file.size() > limit) return std::nullopt;
    std::vector<std::byte> bytes;
    file.read(0, file.size(), bytes);
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

// A step may run several MPI programs after one another; they fill one segment, and their ranks bear the same numbers
// and ids. Whether any had to go.
bool keep_last_programs(report::Trace& trace) {
    bool several = false;
    for (NodeTrace& node : trace.nodes) {
        std::map<int, std::uint64_t> last;
        for (const RankTrace& rank : node.ranks) last[rank.rank] = std::max(last[rank.rank], rank.started_ns);
        several |= std::erase_if(node.ranks, [&](const RankTrace& rank) { return rank.started_ns < last[rank.rank]; }) > 0;
    }
    return several;
}

}  // namespace

Result<NodeTrace> parse_node(std::span<const std::byte> bytes) {
    std::uint64_t magic = 0;
    if (!ByteCursor(bytes).take(magic)) return fail("too short to be a segment or a dump");
    if (magic == segment::segment_magic) return parse_segment(bytes);
    if (magic == segment::dump_magic) return parse_dump(bytes);
    return fail("neither a segment nor a dump of paced-fabric");
}

Result<NodeTrace> read_node(const std::string& path) {
    const RegularFile file(path);
    if (!file.problem().empty()) return fail("cannot read " + path + ": " + file.problem());
    if (file.size() > file_limit) return fail("cannot read " + path + ": larger than any segment or dump");
    std::vector<std::byte> bytes;
    file.read(0, std::min<std::uint64_t>(file.size(), sizeof(segment::Header)), bytes);
    // A segment is sparse and mostly holes: read the slots in use, not 140 MB of zeros.
    std::uint64_t wanted = file.size();
    if (segment::Header header; ByteCursor(bytes).take(header) && header.magic == segment::segment_magic)
        wanted = std::min(wanted, sizeof header + std::uint64_t{std::min(header.claimed, segment::slot_limit)} * sizeof(segment::Slot));
    if (wanted > bytes.size()) file.read(bytes.size(), wanted - bytes.size(), bytes);
    auto node = parse_node(bytes);
    if (!node) return fail(within("cannot read " + path, node.error()));
    return node;
}

Result<report::Trace> read_run_folder(const std::string& path) {
    report::Trace trace;
    auto own = read_node(path + "/segment");
    if (own) {
        own->plan = read_text(path + "/plan.json", segment::plan_limit).value_or("");
        trace.nodes.push_back(*std::move(own));
    } else {
        trace.warnings.push_back(own.error().message);
    }
    std::vector<std::string> dumps;
    std::error_code ignored;
    for (fs::directory_iterator entry(path, ignored), end; !ignored && entry != end; entry.increment(ignored)) {
        const std::string name = entry->path().filename().string();
        if (name.starts_with("node-") && name.ends_with(".dump")) dumps.push_back(entry->path().string());
    }
    std::ranges::sort(dumps);
    for (const std::string& dump : dumps) {
        auto node = read_node(dump);
        if (node) {
            trace.nodes.push_back(*std::move(node));
        } else {
            trace.warnings.push_back(node.error().message);
        }
    }
    if (trace.nodes.empty()) return fail(trace.warnings.empty() ? "nothing recorded in " + path : trace.warnings.front());

    read_pacing(path, trace);
    if (keep_last_programs(trace)) trace.warnings.push_back("several MPI programs ran in this step, each rank's last one is shown");

    // Ranks that nobody has heard of: said once, since every figure of the report lacks them.
    int world = 0;
    std::map<int, int> seen;
    for (const NodeTrace& node : trace.nodes)
        for (const RankTrace& rank : node.ranks) {
            world = std::max(world, rank.world_size);
            ++seen[rank.rank];
        }
    if (const int missing = world - static_cast<int>(seen.size()); missing > 0)
        trace.warnings.push_back("records of " + std::to_string(missing) + " of " + std::to_string(world) + " ranks are missing");
    return trace;
}

}  // namespace paced::io
