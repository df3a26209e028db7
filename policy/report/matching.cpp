// SPDX-License-Identifier: BSD-3-Clause
#include "policy/report/matching.h"

#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <tuple>

#include "policy/base/text.h"

namespace paced::report {

namespace {

constexpr std::size_t disagreements_told_max = 3;

std::string communicator_name(const MatchedCommunicator& communicator) {
    constexpr char digits[] = "0123456789abcdef";
    std::string text(16, '0');
    for (int i = 15, shift = 0; i >= 0; --i, shift += 4) text[static_cast<std::size_t>(i)] = digits[(communicator.id >> shift) & 15U];
    return text;
}

void collect_participants(const Trace& trace, Matching& matching) {
    for (std::size_t n = 0; n < trace.nodes.size(); ++n) {
        const NodeTrace& node = trace.nodes[n];
        // The leader's own segment may be lost; then the first node is another one, and its samples still hold.
        matching.clocks.push_back(n == 0 && node.clock.empty() ? Clock() : Clock(node.clock));
        for (const RankTrace& rank : node.ranks) matching.participants.push_back({&rank, node.node, static_cast<int>(n)});
    }
    std::stable_sort(matching.participants.begin(), matching.participants.end(), [](const Participant& a, const Participant& b) {
        return std::tie(a.trace->rank, a.node, a.trace->started_ns) < std::tie(b.trace->rank, b.node, b.trace->started_ns);
    });
}

void collect_communicators(Matching& matching) {
    std::map<std::uint64_t, MatchedCommunicator> by_id;
    for (std::uint32_t p = 0; p < matching.participants.size(); ++p) {
        for (const CommunicatorTrace& trace : matching.participants[p].trace->communicators) {
            MatchedCommunicator& communicator = by_id[trace.id];
            communicator.id = trace.id;
            communicator.size = std::max(communicator.size, trace.size);
            communicator.participants.push_back(p);
            communicator.traces.push_back(&trace);
        }
    }
    for (auto& [id, communicator] : by_id) {
        if (communicator.participants.size() > communicator.size)
            matching.warnings.push_back("communicator " + communicator_name(communicator) + " of " + count_of(communicator.size, "rank") +
                                        " was recorded by " + std::to_string(communicator.participants.size()) + ": left out");
        matching.communicators.push_back(std::move(communicator));
    }
}

// Completions that spread over more than 20 % of the service, and more than the clocks' error explains, are contention
// (DESIGN section 6): a retransmission time-out of one rank, say. Spreads below 100 us are wake-ups.
constexpr double contended_share = .20;
constexpr std::int64_t contended_spread_min_ns = 100'000;

bool is_contended(const Collective& collective) {
    const std::int64_t spread = collective.last_completion_ns - collective.first_completion_ns - collective.error_ns;
    return spread >= contended_spread_min_ns && static_cast<double>(spread) > contended_share * static_cast<double>(collective.service_ns());
}

// Where the clocks are no help, durations are: a synchronizing collective lets all its ranks go at nearly the same
// time, so the parts are aligned by their completion, and who waited least came last (the rule of TraceLens'
// NcclAnalyser and of Greyhound).
void align_by_completion(std::vector<Part>& parts, const Collective& collective) {
    std::int64_t common = std::numeric_limits<std::int64_t>::min();
    for (std::uint32_t i = 0; i < collective.count; ++i) common = std::max(common, parts[collective.begin + i].completion_ns);
    for (std::uint32_t i = 0; i < collective.count; ++i) {
        Part& part = parts[collective.begin + i];
        part.arrival_ns += common - part.completion_ns;
        part.completion_ns = common;
        part.error_ns = 0;
    }
}

// The largest bound between the clocks of two nodes in the collective. Ranks of one node read one clock, whose offset
// is the same for both.
std::int64_t error_between_nodes(const Matching& matching, const Collective& collective) {
    std::int64_t largest = 0, second = 0;
    int largest_node = -1;
    for (std::uint32_t i = 0; i < collective.count; ++i) {
        const Part& part = matching.parts[collective.begin + i];
        const int node = matching.participants[part.participant].node_index;
        if (part.error_ns > largest || largest_node < 0) {
            if (node != largest_node && largest_node >= 0) second = largest;
            largest = part.error_ns;
            largest_node = node;
        } else if (node != largest_node) {
            second = std::max(second, part.error_ns);
        }
    }
    return largest + second;
}

bool spans_nodes(const Matching& matching, const Collective& collective) {
    const auto node_of = [&](std::uint32_t i) { return matching.participants[matching.parts[collective.begin + i].participant].node_index; };
    for (std::uint32_t i = 1; i < collective.count; ++i)
        if (node_of(i) != node_of(0)) return true;
    return false;
}

void find_last(const Matching& matching, Collective& collective) {
    const Part* parts = &matching.parts[collective.begin];
    std::uint32_t last = 0;
    collective.first_arrival_ns = collective.last_arrival_ns = parts[0].arrival_ns;
    collective.first_completion_ns = collective.last_completion_ns = parts[0].completion_ns;
    collective.last_entry_ns = parts[0].arrival_ns + parts[0].held_ns;
    for (std::uint32_t i = 1; i < collective.count; ++i) {
        collective.first_arrival_ns = std::min(collective.first_arrival_ns, parts[i].arrival_ns);
        if (parts[i].arrival_ns > collective.last_arrival_ns) {
            collective.last_arrival_ns = parts[i].arrival_ns;
            last = i;
        }
        collective.first_completion_ns = std::min(collective.first_completion_ns, parts[i].completion_ns);
        collective.last_completion_ns = std::max(collective.last_completion_ns, parts[i].completion_ns);
        collective.last_entry_ns = std::max(collective.last_entry_ns, parts[i].arrival_ns + parts[i].held_ns);
    }
    collective.last = parts[last].participant;
    collective.before_last_ns = collective.first_arrival_ns;
    collective.tied = false;
    for (std::uint32_t i = 0; i < collective.count; ++i) {
        if (i == last) continue;
        collective.before_last_ns = std::max(collective.before_last_ns, parts[i].arrival_ns);
        const bool one_clock = matching.participants[parts[i].participant].node_index == matching.participants[collective.last].node_index;
        const std::int64_t error = one_clock ? 0 : parts[i].error_ns + parts[last].error_ns;
        if (collective.last_arrival_ns - parts[i].arrival_ns <= error) collective.tied = true;
    }
}

// Places a collective in time: by the clocks where they are good for it, else by durations.
void measure(Matching& matching, Collective& collective, bool clocks_known) {
    if (!clocks_known && spans_nodes(matching, collective)) {
        collective.clock_free = true;
    } else {
        collective.error_ns = error_between_nodes(matching, collective);
        matching.clock_error_ns = std::max(matching.clock_error_ns, collective.error_ns);
        find_last(matching, collective);
        collective.contended = is_contended(collective);
        if (collective.contended) return;
        std::int64_t shortest = std::numeric_limits<std::int64_t>::max();
        for (std::uint32_t i = 0; i < collective.count; ++i) {
            const Part& part = matching.parts[collective.begin + i];
            shortest = std::min(shortest, part.completion_ns - part.arrival_ns);
        }
        // The shortest duration is the service. Ranks leave within a fraction of it; worse clocks than that tell less.
        collective.clock_free = collective.error_ns > shortest / 2;
    }
    if (!collective.clock_free) return;
    align_by_completion(matching.parts, collective);
    find_last(matching, collective);
}

// CLOCK_MONOTONIC counts from the node's start: beyond a century it is a torn or overwritten record.
bool is_sane(const CollectiveRecord& record) {
    constexpr std::uint64_t century_ns = 100ULL * 366 * 86400 * 1'000'000'000;
    return record.arrival_ns < century_ns && record.completion_ns < century_ns;
}

struct Gathered {
    std::uint64_t sequence;
    std::uint32_t participant;
    const CollectiveRecord* record;
};

// Each rank keeps a sample of blocks, and some keep more than others. What a rank made but did not keep was no
// disturbance: the collective is left out for all.
bool is_sampled_out(const MatchedCommunicator& communicator, std::span<const Gathered> parts) {
    if (parts.size() >= communicator.size) return false;
    auto part = parts.begin();  // both lists are sorted by participant
    for (std::size_t m = 0; m < communicator.participants.size(); ++m) {
        while (part != parts.end() && part->participant < communicator.participants[m]) ++part;
        const bool here = part != parts.end() && part->participant == communicator.participants[m];
        if (!here && communicator.traces[m]->calls > parts.front().sequence) return true;
    }
    return false;
}

void match_communicator(Matching& matching, std::uint32_t index, std::size_t& disagreements) {
    MatchedCommunicator& communicator = matching.communicators[index];
    std::vector<Gathered> gathered;
    for (std::size_t m = 0; m < communicator.participants.size(); ++m)
        for (const CollectiveRecord& record : communicator.traces[m]->records)
            if (is_sane(record)) gathered.push_back({record.sequence, communicator.participants[m], &record});
    std::sort(gathered.begin(), gathered.end(), [](const Gathered& a, const Gathered& b) {
        return std::tie(a.sequence, a.participant, a.record->arrival_ns) < std::tie(b.sequence, b.participant, b.record->arrival_ns);
    });

    const bool sound = communicator.participants.size() <= communicator.size;
    for (std::size_t begin = 0; begin < gathered.size();) {
        std::size_t end = begin;
        while (end < gathered.size() && gathered[end].sequence == gathered[begin].sequence) ++end;
        if (is_sampled_out(communicator, {&gathered[begin], end - begin})) {
            begin = end;
            continue;
        }
        if (communicator.collectives++ == 0) communicator.first_sequence = gathered[begin].sequence;
        communicator.last_sequence = gathered[begin].sequence;

        Collective collective;
        collective.communicator = index;
        collective.sequence = gathered[begin].sequence;
        collective.operation = gathered[begin].record->operation;
        collective.begin = static_cast<std::uint32_t>(matching.parts.size());
        collective.count = static_cast<std::uint32_t>(end - begin);
        collective.complete = sound && collective.count == communicator.size;
        const Gathered* other = nullptr;
        bool clocks_known = true;
        for (std::size_t i = begin; i < end; ++i) {
            const CollectiveRecord& record = *gathered[i].record;
            const Participant& participant = matching.participants[gathered[i].participant];
            const Clock& clock = matching.clocks[static_cast<std::size_t>(participant.node_index)];
            const LeaderTime arrival = clock.to_leader(record.arrival_ns);
            const LeaderTime completion = clock.to_leader(std::max(record.completion_ns, record.arrival_ns));
            Part part;
            part.record = &record;
            part.participant = gathered[i].participant;
            part.collective = static_cast<std::uint32_t>(matching.collectives.size());
            part.arrival_ns = arrival.ns;
            part.completion_ns = std::max(completion.ns, arrival.ns);
            part.error_ns = std::max(arrival.error_ns, completion.error_ns);
            part.held_ns = static_cast<std::int64_t>(std::min<std::uint64_t>(record.held_ns, static_cast<std::uint64_t>(part.completion_ns - part.arrival_ns)));
            matching.parts.push_back(part);
            clocks_known = clocks_known && clock.known();
            collective.bytes = std::max(collective.bytes, record.bytes);
            if (record.completion_ns == 0) collective.complete = false;
            if (i > begin && gathered[i].participant == gathered[i - 1].participant) collective.complete = false;
            if (record.operation != collective.operation && other == nullptr) other = &gathered[i];
        }
        if (other != nullptr) {
            collective.complete = false;
            if (disagreements++ < disagreements_told_max) {
                matching.warnings.push_back(
                    "communicator " + communicator_name(communicator) + ", collective " + std::to_string(collective.sequence) + ": rank " +
                    std::to_string(matching.participants[gathered[begin].participant].trace->rank) + " called " +
                    std::string(name_of(collective.operation)) + ", rank " +
                    std::to_string(matching.participants[other->participant].trace->rank) + " " + std::string(name_of(other->record->operation)));
            }
        }
        if (collective.measured()) measure(matching, collective, clocks_known);
        matching.collectives.push_back(collective);
        begin = end;
    }
}

// What each rank did before: its collectives in the order of its own clock.
void link_participants(Matching& matching) {
    matching.by_participant.resize(matching.participants.size());
    for (std::uint32_t i = 0; i < matching.parts.size(); ++i) matching.by_participant[matching.parts[i].participant].push_back(i);
    for (std::vector<std::uint32_t>& own : matching.by_participant) {
        std::sort(own.begin(), own.end(), [&](std::uint32_t a, std::uint32_t b) {
            const Part& x = matching.parts[a];
            const Part& y = matching.parts[b];
            return std::tie(x.record->arrival_ns, a) < std::tie(y.record->arrival_ns, b);
        });
        for (std::size_t i = 1; i < own.size(); ++i) {
            Part& part = matching.parts[own[i]];
            const Part& previous = matching.parts[own[i - 1]];
            const Collective& left = matching.collectives[previous.collective];
            const Collective& here = matching.collectives[part.collective];
            if (!left.measured()) continue;
            // Between two kept blocks there were others that nobody kept.
            if (left.communicator == here.communicator && left.sequence + 1 != here.sequence) continue;
            part.before = static_cast<std::int32_t>(previous.collective);
            part.carried_ns = previous.completion_ns - left.first_completion_ns;
        }
    }
}

}  // namespace

Matching match(const Trace& trace) {
    Matching matching;
    collect_participants(trace, matching);
    collect_communicators(matching);
    std::size_t disagreements = 0;
    for (std::uint32_t c = 0; c < matching.communicators.size(); ++c) match_communicator(matching, c, disagreements);
    if (disagreements > disagreements_told_max)
        matching.warnings.push_back("ranks disagree in the operation of " + std::to_string(disagreements - disagreements_told_max) +
                                    " more collectives");
    link_participants(matching);
    return matching;
}

}  // namespace paced::report
