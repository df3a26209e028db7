// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/pacing_reader.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "policy/base/text.h"
#include "policy/io/pacing_file.h"
#include "policy/io/plain_data.h"

namespace paced::io {

namespace {

using pacing::BlockLine;
using ClassAccount = pacing::Conductor::ClassAccount;

constexpr std::uint64_t century_ns = 100ULL * 366 * 86400 * 1'000'000'000;
constexpr double largest = 1e18;  // of any figure, whatever its unit: beyond it somebody has been writing at random

bool is_figure(double value) { return std::isfinite(value) && std::abs(value) <= largest; }
bool is_amount(double value) { return is_figure(value) && value >= 0; }

// An end that is not known yet may be infinite.
bool is_interval(double low, double value, double high) {
    const auto is_end = [](double end) { return std::isinf(end) || is_figure(end); };
    return is_end(low) && is_figure(value) && is_end(high) && low <= high;
}

bool is_sane(const pacing::Setting& setting) {
    return static_cast<std::uint32_t>(setting.arm) < pacing::arm_count && setting.width <= 1U << 20 && setting.cap_ns < century_ns &&
           setting.delay_ns < century_ns && setting.threshold_ns < century_ns && setting.service_ns < century_ns;
}

bool is_sane(pacing::Ended ended) { return static_cast<std::uint32_t>(ended) <= static_cast<std::uint32_t>(pacing::Ended::not_better); }

bool is_sane(const pacing::Trial& trial) {
    return is_sane(trial.setting) && is_sane(trial.ended) && is_interval(trial.probe_low, trial.probe_gain, trial.probe_high) &&
           is_interval(trial.gain_low, trial.gain, trial.gain_high) && is_amount(trial.mean_ms) && is_amount(trial.cv) && is_amount(trial.off_mean_ms) &&
           is_amount(trial.off_cv) && is_amount(trial.held_ms);
}

bool is_sane(const ClassAccount& one) {
    const pacing::Account& account = one.account;
    return account.count <= pacing::trial_limit && std::all_of(account.trials, account.trials + account.count, [](const auto& trial) { return is_sane(trial); }) &&
           is_sane(account.state) && is_sane(account.engaged) && is_figure(account.probe_cost_ms) && is_amount(account.total_ms) &&
           one.facts.communicators <= 1U << 20 && one.facts.size <= 1U << 30;
}

// A bool that is neither 0 nor 1 must not even be read as one.
void make_bool(std::span<std::byte> bytes, std::size_t offset) { bytes[offset] = std::byte{bytes[offset] != std::byte{0}}; }

bool take_account(ByteCursor& cursor, ClassAccount& account) {
    std::byte raw[sizeof(ClassAccount)];
    if (!cursor.take(raw)) return false;
    for (std::size_t flag : {offsetof(pacing::Facts, crosses), offsetof(pacing::Facts, tcp), offsetof(pacing::Facts, pays_for_waiting)})
        make_bool(raw, offsetof(ClassAccount, facts) + flag);
    for (std::uint32_t i = 0; i < pacing::trial_limit; ++i)
        make_bool(raw, offsetof(ClassAccount, account) + offsetof(pacing::Account, trials) + i * sizeof(pacing::Trial) + offsetof(pacing::Trial, ours));
    std::memcpy(&account, raw, sizeof account);
    return true;
}

std::string printable_ascii(std::string text) {
    std::replace_if(text.begin(), text.end(), [](char c) { return c < 0x20 || c > 0x7e; }, '?');
    return text;
}

Result<std::vector<std::byte>> whole_file(const RegularFile& file, std::uint64_t limit) {
    if (!file.problem().empty()) return fail(file.problem());
    if (file.size() > limit) return fail("larger than it can be");
    std::vector<std::byte> bytes;
    file.read(0, file.size(), bytes);
    return bytes;
}

}  // namespace

Result<report::PacingTrace> parse_pacing(std::span<const std::byte> bytes) {
    ByteCursor cursor(bytes);
    segment::PacingHeader header;
    if (!cursor.take(header)) return fail("it is cut off");
    if (header.magic != segment::pacing_magic) return fail("it is no account of paced-fabric");
    if (header.version != segment::pacing_version)
        return fail("it is of version " + std::to_string(header.version) + ", this program reads " + std::to_string(segment::pacing_version));
    if (header.header_bytes != sizeof header || header.class_bytes != sizeof(ClassAccount) || header.fault_bytes != sizeof(segment::PacingFault) ||
        header.classes > pacing::class_limit || header.faults > segment::pacing_fault_limit ||
        cursor.left() != header.classes * sizeof(ClassAccount) + header.faults * sizeof(segment::PacingFault))
        return fail("its sizes are impossible");
    if (header.elapsed_ns > century_ns) return fail("its time is impossible");

    report::PacingTrace trace;
    trace.finished = header.finished == 1;
    trace.elapsed_ns = header.elapsed_ns;
    trace.nodes = header.nodes;
    trace.most_nodes = header.most_nodes;
    trace.messages = header.messages;
    trace.bytes = header.bytes;
    trace.retransmissions = header.retransmissions;
    trace.all_faults = std::max(header.all_faults, header.faults);
    trace.all_blocks = header.lines;
    for (std::uint32_t i = 0; i < header.classes; ++i) {
        ClassAccount& account = trace.classes.emplace_back();
        if (!take_account(cursor, account) || !is_sane(account)) return fail("the account of class " + std::to_string(i + 1) + " makes no sense");
    }
    for (std::uint32_t i = 0; i < header.faults; ++i) {
        segment::PacingFault fault;
        if (!cursor.take(fault)) return fail("it is cut off");
        trace.faults.push_back({std::min(fault.at_ns, header.elapsed_ns), printable_ascii(text_of(fault.text))});
    }
    return trace;
}

std::optional<Error> parse_pacing_blocks(std::span<const std::byte> bytes, report::PacingTrace& to) {
    ByteCursor cursor(bytes);
    segment::BlocksHeader header;
    if (!cursor.take(header)) return Error{"it is cut off"};
    if (header.magic != segment::pacing_blocks_magic) return Error{"it is no list of blocks of paced-fabric"};
    if (header.version != segment::pacing_version || header.line_bytes != sizeof(BlockLine)) return Error{"it is of another version"};
    long long nonsense = 0;
    BlockLine line;
    for (std::uint32_t i = 0; i < segment::pacing_line_limit && cursor.take(line); ++i) {
        if (is_sane(line.ran) && is_amount(line.mean_ns) && is_figure(line.log_mean) && is_amount(line.cv)) to.blocks.push_back(line);
        else ++nonsense;
    }
    if (nonsense > 0) return Error{count_of(nonsense, "block") + (nonsense == 1 ? " makes" : " make") + " no sense"};
    return std::nullopt;
}

void read_pacing(const std::string& folder, report::Trace& trace) {
    const auto warn = [&](const char* name, const std::string& why) { trace.warnings.push_back("cannot read " + folder + '/' + name + ": " + why); };
    const RegularFile accounts(folder + '/' + segment::pacing_file);
    if (accounts.is_missing()) return;
    constexpr std::uint64_t most = sizeof(segment::PacingHeader) + pacing::class_limit * sizeof(ClassAccount) + segment::pacing_fault_limit * sizeof(segment::PacingFault);
    const auto bytes = whole_file(accounts, most);
    auto read = bytes ? parse_pacing(*bytes) : fail(bytes.error().message);
    if (!read) return warn(segment::pacing_file, read.error().message);
    trace.pacing = *std::move(read);

    const RegularFile blocks(folder + '/' + segment::pacing_blocks_file);
    if (blocks.is_missing()) return;
    const auto lines = whole_file(blocks, sizeof(segment::BlocksHeader) + segment::pacing_line_limit * sizeof(BlockLine));
    const std::optional<Error> wrong = lines ? parse_pacing_blocks(*lines, *trace.pacing) : std::optional(lines.error());
    if (wrong) warn(segment::pacing_blocks_file, wrong->message);
}

}  // namespace paced::io
