// SPDX-License-Identifier: BSD-3-Clause
#include "policy/report/compute.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

namespace paced::report {

namespace {

// The communicator whose calls count the rank's iterations: of the most ranks, then of the most calls. Nothing where another one has calls that
// were not kept: waiting in them would look like compute.
const CommunicatorTrace* counting(const RankTrace& rank) {
    const CommunicatorTrace* best = nullptr;
    for (const CommunicatorTrace& one : rank.communicators) {
        if (one.size < 2 || one.records.empty()) continue;
        if (best == nullptr || std::pair(one.size, one.calls) > std::pair(best->size, best->calls)) best = &one;
    }
    for (const CommunicatorTrace& one : rank.communicators)
        if (&one != best && one.size > 1 && one.records.size() < one.calls) return nullptr;
    return best;
}

// Its calls in one iteration; 0: no whole number.
std::uint64_t calls_of_iteration(const RankTrace& rank, const CommunicatorTrace& counted, const Iterations& iterations) {
    std::uint64_t all = 0;
    for (const CommunicatorTrace& one : rank.communicators)
        if (one.size > 1) all += one.calls;
    const double calls = iterations.collectives * static_cast<double>(counted.calls) / static_cast<double>(all);
    const double whole = std::round(calls);
    constexpr double strangers = 0.1;  // set-up, an evaluation: calls that belong to no iteration
    return whole >= 1 && std::fabs(calls - whole) < strangers ? static_cast<std::uint64_t>(whole) : 0;
}

// By the number of the iteration that ends.
std::map<std::uint64_t, double> compute_of_rank(const std::vector<const CollectiveRecord*>& records, const CommunicatorTrace& counted, std::uint64_t calls) {
    std::map<std::uint64_t, double> found;
    const CollectiveRecord* const first = counted.records.data();
    const CollectiveRecord* const last = first + counted.records.size();
    double outside_ns = 0;
    std::uint64_t left_ns = 0, expected = 0, counted_calls = 0;
    for (const CollectiveRecord* record : records) {
        if (record->completion_ns == 0) break;
        if (left_ns > 0 && record->arrival_ns > left_ns) outside_ns += static_cast<double>(record->arrival_ns - left_ns);
        left_ns = std::max(left_ns, record->completion_ns);
        if (record < first || record >= last) continue;
        const bool follows = record->sequence == expected && counted_calls > 0;
        expected = record->sequence + 1;
        counted_calls = follows ? counted_calls + 1 : 1;
        // the last call of an iteration: what is outside of collectives from there on is the next one's
        if (expected % calls != 0) continue;
        if (counted_calls > calls) found[expected / calls - 1] = outside_ns;
        outside_ns = 0;
    }
    return found;
}

}  // namespace

Compute compute_of(const Matching& matching, const Iterations& iterations) {
    Compute result;
    if (iterations.count == 0 || matching.participants.empty()) return result;
    std::vector<std::map<std::uint64_t, double>> ranks;
    for (std::size_t p = 0; p < matching.participants.size(); ++p) {
        const RankTrace& rank = *matching.participants[p].trace;
        const CommunicatorTrace* counted = counting(rank);
        const std::uint64_t calls = counted != nullptr ? calls_of_iteration(rank, *counted, iterations) : 0;
        if (calls == 0) return result;
        std::vector<const CollectiveRecord*> records;
        for (const std::uint32_t part : matching.by_participant[p]) records.push_back(matching.parts[part].record);
        ranks.push_back(compute_of_rank(records, *counted, calls));
    }
    std::vector<std::uint64_t> common;
    for (const auto& [iteration, ns] : ranks.front())
        if (std::all_of(ranks.begin(), ranks.end(), [&](const auto& one) { return one.contains(iteration); })) common.push_back(iteration);
    const std::size_t most = std::min(compute_iterations, std::max<std::size_t>(1, compute_limit / ranks.size()));
    if (common.size() > most) common.erase(common.begin(), common.end() - static_cast<std::ptrdiff_t>(most));
    for (const Participant& participant : matching.participants) result.ranks.push_back(participant.trace->rank);
    for (const std::uint64_t iteration : common)
        for (const auto& rank : ranks) result.ms.push_back(rank.at(iteration) / 1e6);
    if (common.empty()) result.ranks.clear();
    return result;
}

}  // namespace paced::report
