// SPDX-License-Identifier: BSD-3-Clause
#include "policy/report/pacing_accounts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <utility>

#include "policy/base/duration.h"
#include "policy/base/text.h"
#include "policy/report/text_layout.h"

namespace paced::report {

namespace {

using ClassAccount = pacing::Conductor::ClassAccount;

std::string spelled(std::uint64_t ns) { return format_duration(Nanoseconds(static_cast<std::int64_t>(ns))); }
std::string readable(std::uint64_t ns) { return time_text(static_cast<double>(ns) / 1e6); }

// A rate as bits a second with at most three digits behind the point.
std::string rate_text(std::uint64_t bytes_s, const std::array<const char*, 4>& units) {
    double bits = 8 * static_cast<double>(bytes_s);
    std::size_t unit = 0;
    while (bits >= 1000 && unit + 1 < units.size()) {
        bits /= 1000;
        ++unit;
    }
    std::array<char, 48> text{};
    std::snprintf(text.data(), text.size(), "%.3f", bits);
    std::string number = text.data();
    number.erase(number.find_last_not_of('0') + 1);
    if (number.back() == '.') number.pop_back();
    return number + units[unit];
}

std::string counted(std::uint32_t width) {
    constexpr std::array words{"no", "one", "two", "three", "four"};
    return width < words.size() ? words[width] : std::to_string(width);
}

// The operation of the class's largest calls, as the records of such communicators show it. The leader knows a hash alone.
std::string operation_of(const Trace& trace, const ClassAccount& account) {
    std::map<Operation, std::uint64_t> calls;
    for (const NodeTrace& node : trace.nodes)
        for (const RankTrace& rank : node.ranks)
            for (const CommunicatorTrace& communicator : rank.communicators) {
                if (communicator.size != account.facts.size) continue;
                for (const CollectiveRecord& record : communicator.records)
                    if (record.bytes == account.bytes && record.completion_ns != 0) ++calls[record.operation];
            }
    const auto most = std::max_element(calls.begin(), calls.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == calls.end() ? std::string() : std::string(name_of(most->first));
}

std::string label_of(const PacedClass& made) {
    std::string label = count_of(made.communicators, "communicator") + " of " + count_of(made.size, "rank");
    if (!made.operation.empty()) label += ", " + made.operation;
    if (made.bytes > 0) label += (made.operation.empty() ? ", calls of " : " ") + bytes_text(static_cast<double>(made.bytes));
    if (made.across_leaves) label += ", across leaves";
    return label;
}

// One end of an interval may be infinite, which JSON has no word for.
Gain gain_of(double percent, double low, double high) {
    constexpr double far = 1e6;
    return {percent, std::clamp(low, -100.0, far), std::clamp(high, -100.0, far)};
}

// What the law was still at when the job ended.
std::string ended_word(pacing::Ended ended, bool finished) {
    return name_of(finished && ended == pacing::Ended::running ? pacing::Ended::finished : ended);
}

Arm arm_of(const PacedClass& of, const pacing::Trial& trial, bool finished) {
    Arm arm;
    arm.label = of.label;
    arm.arm = pacing::name_of(trial.setting.arm);
    arm.setting = spelling_of(trial.setting);
    arm.meaning = (trial.ours ? "ours: " : "") + meaning_of(trial.setting);
    arm.pairs = static_cast<int>(trial.pairs);
    arm.blocks = static_cast<int>(trial.blocks);
    arm.first_iteration = trial.first_iteration;
    arm.decided_at_iteration = trial.decided_iteration;
    arm.holdout_blocks = static_cast<int>(trial.holdout_blocks);
    if (trial.engaged_iteration > 0) arm.engaged_at_iteration = trial.engaged_iteration;
    if (trial.pairs > 0) arm.probe = gain_of(trial.probe_gain, trial.probe_low, trial.probe_high);
    // One block has no interval, and without one nothing is claimed.
    if (trial.holdout_blocks > 1 && trial.gain_low < trial.gain_high) arm.gain = gain_of(trial.gain, trial.gain_low, trial.gain_high);
    arm.mean_ms = trial.mean_ms;
    arm.cv = trial.cv;
    arm.off_mean_ms = trial.off_mean_ms;
    arm.off_cv = trial.off_cv;
    arm.held_ms = trial.held_ms;
    arm.held_calls = trial.held_calls;
    arm.timeouts = trial.timeouts;
    arm.ended = ended_word(trial.ended, finished);
    return arm;
}

PacedClass class_of(const Trace& trace, const ClassAccount& account, bool finished) {
    PacedClass made;
    made.communicators = static_cast<int>(account.facts.communicators);
    made.size = static_cast<int>(account.facts.size);
    made.operation = operation_of(trace, account);
    made.bytes = account.bytes;
    made.across_leaves = account.facts.crosses;
    made.label = label_of(made);
    made.iterations = account.account.iterations;
    made.blocks = account.account.blocks;
    made.void_blocks = account.account.void_blocks;
    made.resumed = static_cast<int>(account.account.resumed);
    made.state = ended_word(account.account.state, finished);
    if (account.account.engaged.arm != pacing::Arm::off) made.engaged = spelling_of(account.account.engaged);
    made.cost_ms = account.account.probe_cost_ms;
    made.total_ms = account.account.total_ms;
    return made;
}

// Two classes that look alike in words are numbered.
void tell_apart(std::vector<PacedClass>& classes) {
    std::map<std::string, int> seen;
    for (PacedClass& one : classes)
        if (const int count = ++seen[one.label]; count > 1) one.label += " (" + std::to_string(count) + ")";
}

std::string block_arm(const pacing::BlockLine& line) {
    constexpr std::uint32_t is_ours = 2;
    return (line.valid & is_ours) != 0 ? "ours" : spelling_of(line.ran);
}

void take_blocks(const PacingTrace& trace, Report& report) {
    for (const pacing::BlockLine& line : trace.blocks) {
        PacedBlock block;
        block.label = std::to_string(line.signature);
        for (std::size_t i = 0; i < trace.classes.size(); ++i)
            if (trace.classes[i].signature == line.signature && trace.classes[i].bytes == line.bytes) block.label = report.pacing->classes[i].label;
        block.arm = block_arm(line);
        block.round = line.round;
        block.iterations = line.iterations;
        block.mean_ms = line.mean_ns / 1e6;
        block.log_mean = line.log_mean;
        block.cv = line.cv;
        block.valid = (line.valid & 1) != 0;
        report.blocks.push_back(std::move(block));
    }
    if (trace.all_blocks > trace.blocks.size())
        report.warnings.push_back("pacing: of " + std::to_string(trace.all_blocks) + " blocks the first " + std::to_string(trace.blocks.size()) + " are listed");
}

}  // namespace

std::string spelling_of(const pacing::Setting& setting) {
    using pacing::Arm;
    const std::string name = pacing::name_of(setting.arm);
    switch (setting.arm) {
        case Arm::admit: return name + ':' + std::to_string(setting.width);
        case Arm::rate: return name + ':' + rate_text(setting.rate_bytes_s, {"bit", "kbit", "mbit", "gbit"});
        case Arm::hold_remote:
        case Arm::slots:
        case Arm::phase: return name + ':' + spelled(setting.delay_ns);
        case Arm::fixed_delay: return name + ':' + spelled(setting.delay_ns) + ':' + spelled(setting.threshold_ns);
        default: return name;
    }
}

std::string meaning_of(const pacing::Setting& setting) {
    using pacing::Arm;
    switch (setting.arm) {
        case Arm::off: return "without pacing";
        case Arm::hold_local: return "early ranks sleep until their node's last has come";
        case Arm::hold_remote: return "early ranks sleep, up to " + readable(setting.delay_ns);
        case Arm::admit: return counted(setting.width) + (setting.width == 1 ? " communicator" : " communicators") + " at a time";
        case Arm::rate: return "each socket at most " + rate_text(setting.rate_bytes_s, {" bit/s", " kbit/s", " Mbit/s", " Gbit/s"});
        case Arm::slots: return "one after another, " + readable(setting.delay_ns) + " apart";
        case Arm::phase: return "moved once by " + readable(setting.delay_ns);
        case Arm::fixed_delay: return readable(setting.delay_ns) + " for who was early by " + readable(setting.threshold_ns);
        case Arm::barrier: return "nobody before all have come";
    }
    return "unknown";
}

void take_pacing(const Trace& trace, Report& report) {
    if (!trace.pacing) return;
    const PacingTrace& left = *trace.pacing;
    Pacing& pacing = report.pacing.emplace();
    pacing.finished = left.finished;
    pacing.nodes = static_cast<int>(left.nodes);
    pacing.most_nodes = static_cast<int>(left.most_nodes);
    pacing.messages = left.messages;
    pacing.bytes = left.bytes;
    pacing.retransmissions = left.retransmissions;
    for (const ClassAccount& account : left.classes) pacing.classes.push_back(class_of(trace, account, left.finished));
    tell_apart(pacing.classes);
    for (std::size_t i = 0; i < left.classes.size(); ++i) {
        const pacing::Account& account = left.classes[i].account;
        for (std::uint32_t t = 0; t < account.count; ++t) report.arms.push_back(arm_of(pacing.classes[i], account.trials[t], left.finished));
    }
    if (report.policy.pacing.value.starts_with("method=comparison")) take_blocks(left, report);
    for (const PacingTrace::Fault& fault : left.faults)
        report.warnings.push_back("pacing: " + fault.text + ", " + time_text(static_cast<double>(fault.at_ns) / 1e6) + " after the start");
    if (left.all_faults > left.faults.size())
        report.warnings.push_back("pacing: and " + std::to_string(left.all_faults - left.faults.size()) + " more faults");
}

}  // namespace paced::report
