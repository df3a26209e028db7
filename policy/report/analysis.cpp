// SPDX-License-Identifier: BSD-3-Clause
#include "policy/report/analysis.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "policy/base/text.h"
#include "policy/report/attribution.h"
#include "policy/report/compute.h"
#include "policy/report/iterations.h"
#include "policy/report/lateness.h"
#include "policy/report/matching.h"
#include "policy/report/pacing_accounts.h"
#include "policy/report/ranges.h"

namespace paced::report {

namespace {

std::string hexadecimal(std::uint64_t id) {
    constexpr char digits[] = "0123456789abcdef";
    std::string text(16, '0');
    for (auto digit = text.rbegin(); digit != text.rend(); ++digit, id >>= 4) *digit = digits[id & 15U];
    return text;
}

// ---- iterations

// Symbols for (communicator, operation, bytes); without bytes where sizes change all the time (all-to-all-v of a
// mixture of experts).
std::vector<Event> events_of(const RankTrace& rank, const CommunicatorTrace* only, bool with_bytes) {
    std::map<std::tuple<std::uint64_t, Operation, std::uint64_t>, std::uint64_t> symbols;
    struct Placed {
        Event event;
        std::uint64_t communicator, sequence;
    };
    std::vector<Placed> placed;
    for (const CommunicatorTrace& communicator : rank.communicators) {
        if (only != nullptr && &communicator != only) continue;
        const CollectiveRecord* before = nullptr;
        for (const CollectiveRecord& record : communicator.records) {
            const auto [symbol, is_new] =
                symbols.try_emplace({communicator.id, record.operation, with_bytes ? record.bytes : 0}, symbols.size());
            const bool follows = only == nullptr || (before != nullptr && before->sequence + 1 == record.sequence);
            placed.push_back({{symbol->second, record.arrival_ns, record.completion_ns, follows}, communicator.id, record.sequence});
            before = &record;
        }
    }
    std::sort(placed.begin(), placed.end(), [](const Placed& a, const Placed& b) {
        return std::tie(a.event.arrival_ns, a.communicator, a.sequence) < std::tie(b.event.arrival_ns, b.communicator, b.sequence);
    });
    std::vector<Event> events;
    events.reserve(placed.size());
    for (const Placed& one : placed) events.push_back(one.event);
    return events;
}

Iterations iterations_of(const Matching& matching) {
    Iterations result;
    if (matching.participants.empty()) {
        result.remark = "no rank has recorded";
        return result;
    }
    const RankTrace& rank = *matching.participants.front().trace;
    const CommunicatorTrace* busiest = nullptr;
    bool all_kept = true;
    for (const CommunicatorTrace& communicator : rank.communicators) {
        if (communicator.size > 1) all_kept = all_kept && communicator.records.size() >= communicator.calls;
        const auto weight = [](const CommunicatorTrace& c) { return std::tuple(c.records.size(), c.size, ~c.id); };
        if (busiest == nullptr || weight(communicator) > weight(*busiest)) busiest = &communicator;
    }
    // All of the rank's collectives in the order of time, where all were kept; else the busiest communicator alone,
    // since each one's sample leaves out other times.
    std::vector<const CommunicatorTrace*> choices;
    if (all_kept) choices.push_back(nullptr);
    if (busiest != nullptr && (rank.communicators.size() > 1 || !all_kept)) choices.push_back(busiest);
    for (bool with_bytes : {true, false}) {
        for (const CommunicatorTrace* only : choices) {
            Iterations found = find_iterations(events_of(rank, only, with_bytes));
            if (found.count > 0 || result.remark.empty()) result = std::move(found);
            if (result.count > 0) break;
        }
        if (result.count > 0) break;
    }
    if (choices.empty()) result.remark = "no collectives were recorded";
    result.rank = rank.rank;
    return result;
}

// ---- communicators

std::vector<CommunicatorReport> communicators_of(const Matching& matching, const Lateness& lateness) {
    std::vector<CommunicatorReport> reports;
    std::vector<std::vector<double>> waits(matching.communicators.size()), services(matching.communicators.size());
    for (const MatchedCommunicator& communicator : matching.communicators) {
        CommunicatorReport report;
        report.id = hexadecimal(communicator.id);
        report.size = communicator.size;
        for (std::size_t m = 0; m < communicator.participants.size(); ++m) {
            const CommunicatorTrace& trace = *communicator.traces[m];
            report.ranks.push_back(matching.participants[communicator.participants[m]].trace->rank);
            report.calls = std::max(report.calls, trace.calls);
            report.bytes += trace.bytes;
            for (const auto& [operation, calls] : trace.calls_by_operation) {
                std::uint64_t& known = report.operations[std::string(name_of(operation))];
                known = std::max(known, calls);
            }
        }
        std::sort(report.ranks.begin(), report.ranks.end());
        reports.push_back(std::move(report));
    }
    for (std::size_t c = 0; c < matching.collectives.size(); ++c) {
        const Collective& collective = matching.collectives[c];
        CommunicatorReport& report = reports[collective.communicator];
        ++report.kept;
        if (!collective.measured()) continue;
        ++report.matched;
        switch (lateness.verdicts[c]) {
            case Verdict::late: ++report.late; break;
            case Verdict::tied: ++report.tied; break;
            case Verdict::on_time: ++report.on_time; break;
            case Verdict::inherited: ++report.inherited; break;
            case Verdict::contended: ++report.contended; break;
            case Verdict::first: ++report.first; break;
            case Verdict::not_measured: break;
        }
        services[collective.communicator].push_back(static_cast<double>(collective.service_ns()) / 1e6);
        for (std::uint32_t i = 0; i < collective.count; ++i)
            waits[collective.communicator].push_back(
                static_cast<double>(collective.last_arrival_ns - matching.parts[collective.begin + i].arrival_ns) / 1e6);
    }
    for (std::size_t i = 0; i < reports.size(); ++i) {
        reports[i].wait = distribution_of(std::move(waits[i]));
        reports[i].service = distribution_of(std::move(services[i]));
    }
    std::stable_sort(reports.begin(), reports.end(), [](const CommunicatorReport& a, const CommunicatorReport& b) {
        const auto time = [](const CommunicatorReport& c) { return c.wait.sum_ms + c.service.sum_ms * c.size; };
        return std::tuple(-time(a), a.id) < std::tuple(-time(b), b.id);
    });
    return reports;
}

// ---- ranks

std::vector<RankReport> ranks_of(const Matching& matching, const Lateness& lateness, const std::vector<RankTime>& times) {
    std::vector<RankReport> reports;
    for (std::size_t p = 0; p < matching.participants.size(); ++p) {
        const Participant& participant = matching.participants[p];
        const Lateness::Rank& rank = lateness.ranks[p];
        RankReport report;
        report.rank = participant.trace->rank;
        report.node = participant.node;
        report.last_share = rank.last_share();
        report.earliness_ms = rank.earliness_mean_ns() / 1e6;
        report.late = rank.late;
        report.lateness_share = rank.lateness_share();
        report.cost_s = rank.cost_ns / 1e9;
        report.elapsed_s = times[p].elapsed_ns / 1e9;
        report.collectives_s = times[p].collectives_ns / 1e9;
        for (const CommunicatorTrace& communicator : participant.trace->communicators) report.calls += communicator.calls;
        report.finished = participant.trace->finished_ns != 0;
        reports.push_back(std::move(report));
    }
    return reports;
}

std::vector<Straggler> stragglers_of(const Lateness& lateness, const std::vector<RankReport>& ranks, const Iterations& iterations,
                                     const std::vector<double>& kept_elapsed_ns) {
    std::vector<Straggler> stragglers;
    for (std::size_t p = 0; p < ranks.size(); ++p) {
        if (!lateness.persistent[p]) continue;
        const RankReport& rank = ranks[p];
        Straggler straggler;
        straggler.rank = rank.rank;
        straggler.node = rank.node;
        straggler.last_share = rank.last_share;
        straggler.lateness_share = rank.lateness_share;
        straggler.cost_s = rank.cost_s;
        straggler.cost_share = kept_elapsed_ns[p] > 0 ? rank.cost_s * 1e9 / kept_elapsed_ns[p] : 0;
        if (iterations.count > 0) straggler.cost_ms_per_iteration = straggler.cost_s * 1e3 / static_cast<double>(iterations.count);
        stragglers.push_back(std::move(straggler));
    }
    std::stable_sort(stragglers.begin(), stragglers.end(), [](const Straggler& a, const Straggler& b) { return a.cost_s > b.cost_s; });
    return stragglers;
}

// ---- coverage, overhead, warnings

// 26 tenths are "2.6", 60 are "6".
std::string tenths_text(std::int64_t tenths) {
    return std::to_string(tenths / 10) + (tenths % 10 != 0 ? '.' + std::to_string(tenths % 10) : std::string());
}

std::vector<Coverage> coverage_of(const Matching& matching) {
    std::map<std::string, Coverage> by_library;
    for (const Participant& participant : matching.participants) {
        const RankTrace& rank = *participant.trace;
        Coverage& coverage = by_library[rank.library];
        coverage.library = rank.library;
        coverage.ranks.push_back(rank.rank);
        coverage.dropped += rank.dropped;
        for (const CommunicatorTrace& communicator : rank.communicators) {
            coverage.calls += communicator.calls;
            coverage.kept += communicator.records.size();
        }
        for (const auto& [function, calls] : rank.not_recorded) coverage.not_recorded[function] += calls;
    }
    std::vector<Coverage> result;
    for (auto& [library, coverage] : by_library) result.push_back(std::move(coverage));
    return result;
}

Overhead overhead_of(const Matching& matching, double elapsed_s, const AnalysisOptions& options) {
    Overhead overhead;
    overhead.ns_per_call = options.recorder_ns_per_call;
    for (const Participant& participant : matching.participants) overhead.recorder_calls += participant.trace->recording_calls;
    const double rank_ns = elapsed_s * 1e9 * static_cast<double>(matching.participants.size());
    if (overhead.ns_per_call && rank_ns > 0)
        overhead.percent = 100 * static_cast<double>(overhead.recorder_calls) * *overhead.ns_per_call / rank_ns;
    return overhead;
}

void warn_of_the_missing(const Trace& trace, const Matching& matching, Report& report) {
    std::set<int> present;
    int world = 0;
    bool finished = true;
    for (const Participant& participant : matching.participants) {
        present.insert(participant.trace->rank);
        world = std::max(world, participant.trace->world_size);
        finished = finished && participant.trace->finished_ns != 0;
    }
    std::vector<int> missing;
    for (int rank = 0; rank < world; ++rank)
        if (!present.contains(rank)) missing.push_back(rank);
    report.finished = world > 0 && missing.empty() && finished;
    // The reader of the records counts them; here they are named.
    std::erase(report.warnings, "records of " + std::to_string(missing.size()) + " of " + std::to_string(world) + " ranks are missing");
    if (!missing.empty())
        report.warnings.push_back("nothing was heard of " + std::string(missing.size() == 1 ? "rank " : "ranks ") + compress_numbers(missing) +
                                  ": lateness is worked out only where all ranks of a communicator are known");

    std::set<std::string> heard;
    for (const NodeTrace& node : trace.nodes) heard.insert(node.node);
    std::vector<std::string> silent;
    for (const std::string& host : report.job.hosts)
        if (!heard.contains(host) && std::find(silent.begin(), silent.end(), host) == silent.end()) silent.push_back(host);
    if (!silent.empty() && !heard.empty())
        report.warnings.push_back("no records came from " + std::string(silent.size() == 1 ? "node " : "nodes ") + compress_hosts(silent));

    std::vector<int> killed;
    // Gloo has no such function; there it is the end of the last context.
    std::string end = "the end of its last Gloo context";
    for (const Participant& participant : matching.participants) {
        if (participant.trace->finished_ns != 0) continue;
        killed.push_back(participant.trace->rank);
        if (!participant.trace->library.starts_with("Gloo")) end = "MPI_Finalize";
    }
    if (!killed.empty() && killed.size() == matching.participants.size())
        report.warnings.push_back("no rank reached " + end + ": the step was ended from outside or failed");
    else if (!killed.empty())
        report.warnings.push_back(std::string(killed.size() == 1 ? "rank " : "ranks ") + compress_numbers(killed) +
                                  " did not reach " + end);

    std::vector<std::string> unknown;
    for (std::size_t n = 0; n < matching.clocks.size(); ++n)
        if (!matching.clocks[n].known() && !trace.nodes[n].ranks.empty()) unknown.push_back(trace.nodes[n].node);
    std::sort(unknown.begin(), unknown.end());
    if (!unknown.empty())
        report.warnings.push_back("the clock of " + std::string(unknown.size() == 1 ? "node " : "nodes ") + compress_hosts(unknown) +
                                  " could not be compared with the leader's: there lateness is worked out from durations, and contention is not seen");
    if (matching.clock_error_ns > 1'000'000)
        report.warnings.push_back("clocks of two nodes may differ by up to " + tenths_text((matching.clock_error_ns + 99'999) / 100'000) +
                                  " ms: where that is long for a collective, lateness is worked out from durations");
}

// ---- plan

void take_plans(std::vector<JobPlan> plans, Report& report) {
    std::stable_sort(plans.begin(), plans.end(), [](const JobPlan& a, const JobPlan& b) {
        return std::tie(a.node.index, a.node.node) < std::tie(b.node.index, b.node.node);
    });
    if (plans.empty()) return;
    report.job = plans.front().job;
    report.policy = plans.front().policy;
    report.plan.fabric = plans.front().fabric;
    report.plan.order = plans.front().order;
    const auto add_new = [](std::vector<std::string>& lines, const std::vector<std::string>& more) {
        for (const std::string& line : more)
            if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
    };
    for (JobPlan& plan : plans) {
        add_new(report.plan.kept, plan.kept);
        add_new(report.plan.notes, plan.notes);
        if (plan.policy.mode_run != report.policy.mode_run)
            report.warnings.push_back("node " + plan.node.node + " ran with mode " + plan.policy.mode_run + ", not " + report.policy.mode_run);
        report.plan.nodes.push_back(std::move(plan.node));
    }
}

// What the launch did not know, the ranks do: mpirun names no nodes.
void complete_job(const Matching& matching, JobInfo& job) {
    if (job.tasks == 0)
        for (const Participant& participant : matching.participants) job.tasks = std::max(job.tasks, participant.trace->world_size);
    if (!job.hosts.empty()) return;
    for (const Participant& participant : matching.participants)
        if (std::find(job.hosts.begin(), job.hosts.end(), participant.node) == job.hosts.end()) job.hosts.push_back(participant.node);
}

// Whether the ranks ran in the order that the launch wanted.
void take_order(const Matching& matching, Report& report) {
    std::vector<RankPlace> places;
    int world = 0;
    for (const RankReport& rank : report.ranks) places.push_back({rank.rank, rank.node});
    for (const Participant& participant : matching.participants) world = std::max(world, participant.trace->world_size);
    report.plan.order_run = order_run(places, world, report.plan.fabric, report.plan.order);
    if (std::string warning = order_warning(report.plan.order_run, report.plan.order); !warning.empty()) report.warnings.push_back(std::move(warning));
}

// First start to last end on the leader's clock, over everything that is known of each rank.
double elapsed_of(const Matching& matching) {
    bool any = false;
    std::int64_t first = 0, last = 0;
    const auto take = [&](std::int64_t time) {
        first = any ? std::min(first, time) : time;
        last = any ? std::max(last, time) : time;
        any = true;
    };
    for (std::size_t p = 0; p < matching.participants.size(); ++p) {
        const Participant& participant = matching.participants[p];
        const Clock& clock = matching.clocks[static_cast<std::size_t>(participant.node_index)];
        if (!clock.known()) continue;
        for (std::uint64_t time : {participant.trace->started_ns, participant.trace->finished_ns})
            if (time != 0) take(clock.to_leader(time).ns);
        for (std::uint32_t i : matching.by_participant[p])
            for (std::uint64_t time : {matching.parts[i].record->arrival_ns, matching.parts[i].record->completion_ns})
                if (time != 0) take(clock.to_leader(time).ns);
    }
    return static_cast<double>(last - first) / 1e9;
}

}  // namespace

Report analyse(const Trace& trace, const std::vector<JobPlan>& plans, const AnalysisOptions& options) {
    Report report;
    report.warnings = trace.warnings;
    take_plans(plans, report);

    const Matching matching = match(trace);
    report.warnings.insert(report.warnings.end(), matching.warnings.begin(), matching.warnings.end());
    complete_job(matching, report.job);
    report.clock_error_ms = static_cast<double>(matching.clock_error_ns) / 1e6;
    report.elapsed_s = elapsed_of(matching);
    report.iterations = iterations_of(matching);
    report.compute = compute_of(matching, report.iterations);

    const std::vector<RankTime> times = rank_times(matching);
    report.coverage = coverage_of(matching);
    // Costs are summed over the kept collectives, so they are held against the share of time that these stand for.
    double made = 0, kept = 0;
    for (const MatchedCommunicator& communicator : matching.communicators) {
        kept += static_cast<double>(communicator.collectives);
        made += static_cast<double>(communicator.collectives) * communicator.made_per_kept();
    }
    std::vector<double> kept_elapsed_ns;
    for (const RankTime& time : times) kept_elapsed_ns.push_back(made > 0 ? time.elapsed_ns * kept / made : time.elapsed_ns);

    const Lateness lateness = judge(matching, report.iterations.mean_ms * 1e6, kept_elapsed_ns);
    report.ranks = ranks_of(matching, lateness, times);
    report.communicators = communicators_of(matching, lateness);
    report.stragglers = stragglers_of(lateness, report.ranks, report.iterations, kept_elapsed_ns);
    report.attribution = attribute(matching, lateness, times);
    report.overhead = overhead_of(matching, report.elapsed_s, options);
    take_order(matching, report);
    take_pacing(trace, report);
    warn_of_the_missing(trace, matching, report);
    return report;
}

std::vector<JobPlan> plans_of(const Trace& trace, std::vector<std::string>& warnings) {
    std::vector<JobPlan> plans;
    const bool any = std::any_of(trace.nodes.begin(), trace.nodes.end(), [](const NodeTrace& node) { return !node.plan.empty(); });
    if (!any) return plans;
    for (const NodeTrace& node : trace.nodes) {
        if (node.plan.empty()) {
            warnings.push_back("node " + node.node + " has no plan.json");
            continue;
        }
        Result<JobPlan> plan = parse_job_plan(node.plan);
        if (plan)
            plans.push_back(std::move(*plan));
        else
            warnings.push_back("node " + node.node + ": " + plan.error().message);
    }
    return plans;
}

}  // namespace paced::report
