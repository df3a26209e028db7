// SPDX-License-Identifier: BSD-3-Clause
// What text and page have in common.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "launcher/simulate.h"
#include "policy/base/text.h"
#include "policy/report/pacing_accounts.h"
#include "policy/report/text_layout.h"

namespace paced::launcher {

const simulation::CaseResult* find_case(const simulation::Row& row, simulation::Case ran) {
    const auto found = std::find_if(row.cases.begin(), row.cases.end(), [&](const auto& one) { return one.ran == ran; });
    return found == row.cases.end() ? nullptr : &*found;
}

std::string throughput_text(double value) {
    std::array<char, 64> text{};
    if (value >= 999'999.5) {
        std::snprintf(text.data(), text.size(), "%.2fM", value / 1e6);
        return text.data();
    }
    if (value < 999.5) {
        std::snprintf(text.data(), text.size(), "%.*f", value < 9.995 ? 3 : value < 99.95 ? 2 : 1, value);
        return text.data();
    }
    std::string digits = std::to_string(std::llround(value));
    for (std::size_t i = digits.size() - 3; i < digits.size() && i > 0; i -= 3) digits.insert(i, ",");
    return digits;
}

std::string gain_interval_text(const simulation::CaseResult& result) {
    if (result.ran == simulation::Case::baseline) return "-";
    return report::change_text(result.gain_percent.low) + " to " + report::change_text(result.gain_percent.high);
}

namespace {

// A class that was left before anything was tried on it and is there again: the first calls had looked like another loop.
bool came_back(const simulation::CaseResult& result, const simulation::ClassResult& of) {
    if (of.account.state != pacing::Ended::moved_on || of.account.count > 0) return false;
    return std::any_of(result.classes.begin(), result.classes.end(), [&](const simulation::ClassResult& other) {
        return &other != &of && other.account.state != pacing::Ended::moved_on && other.facts.communicators == of.facts.communicators && other.facts.size == of.facts.size && other.bytes == of.bytes;
    });
}

}  // namespace

std::vector<std::string> law_lines(const simulation::CaseResult& result) {
    std::vector<std::string> lines;
    for (const simulation::ClassResult& of : result.classes) {
        if (came_back(result, of)) continue;
        std::string line = count_of(of.facts.communicators, "communicator") + " of " + count_of(of.facts.size, "rank");
        if (of.bytes > 0) line += ", calls of " + report::bytes_text(static_cast<double>(of.bytes));
        if (of.facts.crosses) line += ", across leaves";
        const pacing::Account& account = of.account;
        const pacing::Trial* engaged = nullptr;
        std::vector<std::string> tried;
        for (std::uint32_t i = 0; i < account.count; ++i) {
            const pacing::Trial& trial = account.trials[i];
            if (trial.engaged_iteration > 0 && (engaged == nullptr || engaged->ended != pacing::Ended::engaged)) engaged = &trial;
            tried.push_back(report::spelling_of(trial.setting) + " (" + pacing::name_of(trial.ended) + ')');
        }
        if (engaged != nullptr)
            line += ": paced from iteration " + std::to_string(engaged->engaged_iteration) + " on, " + report::meaning_of(engaged->setting);
        else
            line += std::string(": not paced (") + pacing::name_of(account.state) + ')';
        lines.push_back(line + (tried.empty() ? "" : "; tried: " + join(tried, ", ")));
    }
    return lines;
}

}  // namespace paced::launcher
