// SPDX-License-Identifier: BSD-3-Clause
#include "policy/report/lateness.h"

#include <algorithm>

namespace paced::report {

namespace {

constexpr std::int64_t on_time_ns = 20'000;
constexpr double on_time_share = .01;
constexpr double inherited_share = .5;

// A persistent straggler causes more than .8 of the waiting (DESIGN section 6), is last often enough not to be one
// accident, and costs enough to be worth a person's time.
constexpr double persistent_lateness_share = .8;
constexpr double persistent_last_share = .1;
constexpr std::uint64_t persistent_last_min = 10;
constexpr double persistent_cost_share = .01;

// Whether the last rank owes its place to the collective before, which let it go later than others: at least half
// of the spread of arrivals was given to it there, or another rank would be last without what each was given.
bool is_inherited(const Matching& matching, const Collective& collective) {
    const Part* last = nullptr;
    const Part* last_by_itself = nullptr;
    const auto own_ns = [](const Part& part) { return part.arrival_ns - part.carried_ns; };
    for (std::uint32_t i = 0; i < collective.count; ++i) {
        const Part& part = matching.parts[collective.begin + i];
        if (part.participant == collective.last) last = &part;
        if (last_by_itself == nullptr || own_ns(part) > own_ns(*last_by_itself)) last_by_itself = &part;
    }
    const auto spread_ns = static_cast<double>(collective.last_arrival_ns - collective.first_arrival_ns);
    return static_cast<double>(last->carried_ns) >= inherited_share * spread_ns || last_by_itself != last;
}

Verdict verdict_on(const Matching& matching, const Collective& collective, double on_time_limit_ns) {
    if (!collective.measured()) return Verdict::not_measured;
    if (collective.sequence == 0) return Verdict::first;
    const std::int64_t spread = collective.last_arrival_ns - collective.first_arrival_ns;
    if (collective.contended && spread <= collective.last_completion_ns - collective.first_completion_ns) return Verdict::contended;
    if (static_cast<double>(spread) < on_time_limit_ns) return Verdict::on_time;
    if (collective.tied) return Verdict::tied;
    return is_inherited(matching, collective) ? Verdict::inherited : Verdict::late;
}

}  // namespace

Lateness judge(const Matching& matching, double iteration_ns, const std::vector<double>& elapsed_ns) {
    const double on_time_limit_ns = std::max(static_cast<double>(on_time_ns), on_time_share * iteration_ns);
    Lateness lateness;
    lateness.verdicts.reserve(matching.collectives.size());
    lateness.ranks.resize(matching.participants.size());
    for (const Collective& collective : matching.collectives) {
        const Verdict verdict = verdict_on(matching, collective, on_time_limit_ns);
        lateness.verdicts.push_back(verdict);
        if (verdict != Verdict::late && verdict != Verdict::tied && verdict != Verdict::on_time) continue;

        double waited_ns = 0;
        for (std::uint32_t i = 0; i < collective.count; ++i) {
            const Part& part = matching.parts[collective.begin + i];
            const auto wait_ns = static_cast<double>(collective.last_arrival_ns - part.arrival_ns);
            waited_ns += wait_ns;
            Lateness::Rank& rank = lateness.ranks[part.participant];
            rank.earliness_ns += wait_ns;
            ++rank.counted;
        }
        if (verdict != Verdict::late) continue;
        for (std::uint32_t i = 0; i < collective.count; ++i) {
            Lateness::Rank& rank = lateness.ranks[matching.parts[collective.begin + i].participant];
            ++rank.late;
            rank.waited_ns += waited_ns;
        }
        Lateness::Rank& last = lateness.ranks[collective.last];
        ++last.last;
        last.caused_ns += waited_ns;
        last.cost_ns += static_cast<double>(collective.last_arrival_ns - collective.before_last_ns);
    }

    for (std::size_t p = 0; p < lateness.ranks.size(); ++p) {
        const Lateness::Rank& rank = lateness.ranks[p];
        lateness.persistent.push_back(rank.lateness_share() > persistent_lateness_share && rank.last_share() >= persistent_last_share &&
                                      rank.last >= persistent_last_min && rank.cost_ns >= persistent_cost_share * elapsed_ns[p]);
    }
    return lateness;
}

}  // namespace paced::report
