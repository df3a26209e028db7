// SPDX-License-Identifier: BSD-3-Clause
#include "policy/report/attribution.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace paced::report {

namespace {

using Kind = std::tuple<std::uint32_t, Operation, std::uint64_t>;  // communicator, operation, bytes

Kind kind_of(const Collective& collective) { return {collective.communicator, collective.operation, collective.bytes}; }

// What an undisturbed collective of each kind takes.
std::map<Kind, double> usual_services(const Matching& matching) {
    std::map<Kind, std::vector<double>> undisturbed, all;
    for (const Collective& collective : matching.collectives) {
        if (!collective.measured()) continue;
        const auto service_ns = static_cast<double>(collective.service_ns());
        all[kind_of(collective)].push_back(service_ns);
        if (!collective.contended) undisturbed[kind_of(collective)].push_back(service_ns);
    }
    std::map<Kind, double> usual;
    for (auto& [kind, services] : all) usual[kind] = percentile(services, .10);
    for (auto& [kind, services] : undisturbed) usual[kind] = percentile(services, .50);
    return usual;
}

// Adds one rank's part of one collective to the right sums.
void add_part(const Matching& matching, const Lateness& lateness, const std::map<Kind, double>& usual, const Part& part, double weight,
              Attribution& sums) {
    const Collective& collective = matching.collectives[part.collective];
    const double inside_ns = static_cast<double>(part.completion_ns - part.arrival_ns) * weight;
    const Verdict verdict = lateness.verdicts[part.collective];
    if (verdict == Verdict::not_measured) {
        sums.unattributed += inside_ns;
        return;
    }
    const double wait_ns = std::min(inside_ns, static_cast<double>(collective.last_arrival_ns - part.arrival_ns) * weight);
    // Our delay of the last one to be let in; all others had come by then.
    const double paced_ns = std::min(inside_ns - wait_ns, static_cast<double>(collective.last_entry_ns - collective.last_arrival_ns) * weight);
    const double rest_ns = inside_ns - wait_ns - paced_ns;
    sums.pacing += paced_ns;
    const double beyond_ns = collective.contended ? std::max(0.0, rest_ns - usual.at(kind_of(collective)) * weight) : 0;
    sums.contention += beyond_ns;
    sums.service += rest_ns - beyond_ns;
    switch (verdict) {
        case Verdict::late: (lateness.persistent[collective.last] ? sums.persistent_straggler : sums.transient_straggler) += wait_ns; break;
        case Verdict::tied:
        case Verdict::on_time: sums.transient_straggler += wait_ns; break;
        case Verdict::first: sums.startup += wait_ns; break;
        case Verdict::contended: sums.unattributed += wait_ns; break;
        case Verdict::inherited: {
            std::uint32_t i = collective.begin;
            while (matching.parts[i].participant != collective.last) ++i;
            const std::int32_t before = matching.parts[i].before;
            (before >= 0 && matching.collectives[static_cast<std::size_t>(before)].contended ? sums.contention : sums.service) += wait_ns;
            break;
        }
        case Verdict::not_measured: break;
    }
}

}  // namespace

std::vector<RankTime> rank_times(const Matching& matching) {
    std::vector<RankTime> times(matching.participants.size());
    for (std::size_t p = 0; p < times.size(); ++p) {
        std::uint64_t first = 0, until = 0;
        double inside_ns = 0;  // each moment once: threads can be in several at a time
        for (std::uint32_t i : matching.by_participant[p]) {
            const CollectiveRecord& record = *matching.parts[i].record;
            if (first == 0) first = until = record.arrival_ns;
            if (record.completion_ns <= until) continue;
            inside_ns += static_cast<double>(record.completion_ns - std::max(record.arrival_ns, until));
            until = record.completion_ns;
        }
        times[p] = {static_cast<double>(until - first), inside_ns};
    }
    return times;
}

Attribution attribute(const Matching& matching, const Lateness& lateness, const std::vector<RankTime>& times) {
    Attribution total;
    total.not_measured = {"locality"};
    const std::map<Kind, double> usual = usual_services(matching);
    double ranks = 0;
    for (std::uint32_t p = 0; p < matching.participants.size(); ++p) {
        if (matching.by_participant[p].empty()) continue;
        ranks += 1;
        Attribution own;
        double weighted_ns = 0, plain_ns = 0;
        for (std::uint32_t i : matching.by_participant[p]) {
            const Part& part = matching.parts[i];
            if (part.record->completion_ns == 0) continue;
            const double weight = matching.communicators[matching.collectives[part.collective].communicator].made_per_kept();
            add_part(matching, lateness, usual, part, weight, own);
            const auto inside_ns = static_cast<double>(part.completion_ns - part.arrival_ns);
            plain_ns += inside_ns;
            weighted_ns += inside_ns * weight;
        }
        // Overlapping collectives of several threads count once, and no estimate exceeds the time there was.
        const double overlap = plain_ns > 0 ? std::min(1.0, times[p].collectives_ns / plain_ns) : 1;
        const double scale = weighted_ns * overlap > times[p].elapsed_ns ? times[p].elapsed_ns / weighted_ns : overlap;
        for (auto field : {&Attribution::service, &Attribution::persistent_straggler, &Attribution::transient_straggler,
                           &Attribution::contention, &Attribution::pacing, &Attribution::startup, &Attribution::unattributed})
            total.*field += own.*field * scale;
        total.compute += times[p].elapsed_ns - weighted_ns * scale;
        total.elapsed += times[p].elapsed_ns;
    }
    if (ranks == 0) return total;
    for (auto field : {&Attribution::elapsed, &Attribution::compute, &Attribution::service, &Attribution::persistent_straggler,
                       &Attribution::transient_straggler, &Attribution::contention, &Attribution::pacing, &Attribution::startup, &Attribution::unattributed})
        total.*field /= ranks * 1e9;
    return total;
}

}  // namespace paced::report
