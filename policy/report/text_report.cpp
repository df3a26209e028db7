// SPDX-License-Identifier: BSD-3-Clause
// The end of the job log: what was measured. Everything comes from the Report.
#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>

#include "policy/base/text.h"
#include "policy/report/ranges.h"
#include "policy/report/text.h"
#include "policy/report/text_layout.h"
#include "policy/report/text_order.h"
#include "policy/report/text_parts.h"

namespace paced::report {

namespace {

constexpr std::size_t communicators_shown_max = 3, communicators_shown_full = 16;
constexpr std::size_t ranks_shown_all = 16, ranks_shown_worst = 8;
constexpr std::size_t noted_nodes_max = 8;
constexpr std::size_t warnings_shown_max = 4, warnings_shown_full = 40;

std::string plural(std::size_t count, const char* singular, const char* several = "") {
    return count_of(static_cast<long long>(count), singular, several);
}

std::string head_of(const Report& report) {
    std::string head = "paced-fabric: ";
    if (!report.job.id.empty()) head += "job " + report.job.id + (report.job.step.empty() ? "" : "." + report.job.step) + ", ";
    std::vector<std::string> nodes;
    for (const RankReport& rank : report.ranks) nodes.push_back(rank.node);
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    head += plural(report.ranks.size(), "rank") + " on " + plural(nodes.size(), "node") + ", " + time_text(report.elapsed_s * 1e3);
    if (!report.finished) head += ", not finished";
    return head + ": what was measured";
}

void add_iterations(Block& block, const Iterations& iterations) {
    if (iterations.count == 0) {
        block.add("iterations", "none found: " + iterations.remark);
        return;
    }
    block.add("iterations", std::to_string(iterations.count) + " of " + plural(static_cast<std::size_t>(iterations.collectives), "collective") +
                                " each: mean " + time_text(iterations.mean_ms) + ", CV " + cv_text(iterations.cv) + ", p50 " + time_text(iterations.p50_ms) + ", p99 " +
                                time_text(iterations.p99_ms) + " (by rank " + std::to_string(iterations.rank) + ")");
    if (iterations.startup > 0)
        block.add({}, "without the first " + (iterations.startup == 1 ? std::string() : std::to_string(iterations.startup) + ' ') +
                          "(start-up: " + time_text(iterations.startup_ms) + ")");
}

void add_stragglers(Block& block, const Report& report) {
    const bool paces = report.policy.mode_run == "pace";
    for (const Straggler& straggler : report.stragglers) {
        std::string text = "rank " + std::to_string(straggler.rank) + " on " + straggler.node + " arrives last in " +
                           percent_text(straggler.last_share) + " of the late collectives and causes " +
                           percent_text(straggler.lateness_share) + " of the waiting: it costs about ";
        if (straggler.cost_ms_per_iteration) text += time_text(*straggler.cost_ms_per_iteration) + " of each iteration";
        else text += time_text(straggler.cost_s * 1e3);
        block.add("straggler", text + " (" + percent_text(straggler.cost_share) + " of the time). " +
                                   (paces ? "Pacing leaves it alone: delaying the others would not help it. " : "") + "Look at " + straggler.node);
    }
    if (!report.stragglers.empty() || report.ranks.size() < 2) return;
    const bool measured = std::any_of(report.communicators.begin(), report.communicators.end(),
                                      [](const CommunicatorReport& communicator) { return communicator.matched > 0; });
    block.add("straggler", measured ? "none: no rank is late again and again" : "not known: no collective was seen on all of its ranks");
}

std::string ring_text(const PlanSummary& plan) {
    return plan.order_run.crossings ? "a ring over the ranks changed leaves " + count_of(*plan.order_run.crossings, "time") : "";
}

// How the ranks lay on the switches: what was wanted, and what came of it. The steps of a ring say nothing of other traffic.
void add_order_run(Block& block, const PlanSummary& plan) {
    const OrderView& order = plan.order;
    const bool wanted = order_wanted(order), ring = order.pattern == "ring";
    if (plan.fabric.leaves.size() < 2 && !wanted) return;
    const std::string steps = wanted && !ring ? "" : ring_text(plan);
    if (!order.applied) {
        if (steps.empty()) return;
        std::string text = "as submitted: " + steps;
        if (*plan.order_run.crossings > plan.fabric.crossings_least) text += ", the best order needs " + std::to_string(plan.fabric.crossings_least);
        block.add("order", text);
        return;
    }
    const std::optional<bool> as_asked = plan.order_run.as_asked;
    std::string text = "for " + order.pattern + ", " + (!as_asked ? "not known how it ran" : *as_asked ? "ran as asked for" : "did not run as asked for");
    if (!steps.empty()) text += ": " + steps;
    if (ring && !order.levels.empty()) text += ", " + std::to_string(order.levels.back().submitted) + " in the submitted order";
    const std::string cost = ring || !as_asked.value_or(false) ? "" : cost_text(order);
    if (!cost.empty()) text += ": " + cost;
    block.add("order", text);
}

void add_attribution(Block& block, const Attribution& attribution) {
    if (attribution.elapsed <= 0) return;
    std::vector<std::string> parts;
    const auto add = [&](const char* name, double seconds) {
        const double share = seconds / attribution.elapsed;
        if (share >= .0005) parts.push_back(std::string(name) + ' ' + percent_text(share));
    };
    add("outside of recorded collectives", attribution.compute);
    add("collectives", attribution.service);
    add("waiting for persistent stragglers", attribution.persistent_straggler);
    add(attribution.persistent_straggler > 0 ? "for others" : "waiting for late ranks", attribution.transient_straggler);
    add("contention", attribution.contention);
    add("delays of pacing", attribution.pacing);
    add("at the start", attribution.startup);
    add("not attributed", attribution.unattributed);
    block.add("time", join(parts, ", ") + " of the mean rank's " + time_text(attribution.elapsed * 1e3) + ", first to last collective");
    if (attribution.compute > attribution.elapsed / 2)
        block.add({}, "point-to-point and non-blocking traffic is not recorded, and is in what is outside");
}

std::string main_operation(const CommunicatorReport& communicator) {
    const auto most = std::max_element(communicator.operations.begin(), communicator.operations.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most == communicator.operations.end()) return "-";
    std::string text = most->first;
    if (communicator.operations.size() > 2) return text + " +" + std::to_string(communicator.operations.size() - 1);
    for (const auto& [operation, calls] : communicator.operations)
        if (operation != most->first) text += ", " + operation;
    return text;
}

void add_communicators(Block& block, const Report& report, Level level) {
    TextTable table({{"ranks"}, {"operations"}, {"calls", true}, {"mean size", true}, {""}, {"p50", true}, {"p95", true}, {"p99", true}});
    const std::size_t most = level == Level::full ? communicators_shown_full : communicators_shown_max;
    std::uint64_t hidden_calls = 0;
    for (std::size_t i = 0; i < report.communicators.size(); ++i) {
        const CommunicatorReport& communicator = report.communicators[i];
        if (i >= most) {
            hidden_calls += communicator.calls;
            continue;
        }
        const double members = static_cast<double>(std::max<std::size_t>(1, communicator.ranks.size()));
        const double made = static_cast<double>(std::max<std::uint64_t>(1, communicator.calls)) * members;
        std::vector<std::string> wait{"wait"}, service{"service"};
        for (auto figure : {&Distribution::p50_ms, &Distribution::p95_ms, &Distribution::p99_ms}) {
            wait.push_back(communicator.wait.count > 0 ? time_text(communicator.wait.*figure) : "-");
            service.push_back(communicator.service.count > 0 ? time_text(communicator.service.*figure) : "-");
        }
        std::vector<std::string> row{shortened(compress_numbers(communicator.ranks), 16), shortened(main_operation(communicator), 22),
                                     std::to_string(communicator.calls), bytes_text(static_cast<double>(communicator.bytes) / made)};
        row.insert(row.end(), wait.begin(), wait.end());
        table.add(std::move(row));
        service.insert(service.begin(), 4, "");
        table.add(std::move(service));
    }
    block.add("collectives", table);
    if (report.communicators.size() > most)
        block.add({}, "and " + plural(report.communicators.size() - most, "more communicator") + " with " + std::to_string(hidden_calls) + " calls");
    std::uint64_t contended = 0, matched = 0;
    for (const CommunicatorReport& communicator : report.communicators) {
        contended += communicator.contended;
        matched += communicator.matched;
    }
    if (contended > 0)
        block.add({}, std::to_string(contended) + " of " + std::to_string(matched) +
                          " ended at very different times on their ranks: contention, not lateness");
}

void add_ranks(Block& block, const Report& report, Level level) {
    if (report.ranks.empty()) return;
    std::vector<const RankReport*> shown;
    for (const RankReport& rank : report.ranks) shown.push_back(&rank);
    const bool all = level == Level::full || shown.size() <= ranks_shown_all;
    if (!all) {
        std::stable_sort(shown.begin(), shown.end(), [](const RankReport* a, const RankReport* b) {
            return std::tuple(-a->cost_s, a->earliness_ms) < std::tuple(-b->cost_s, b->earliness_ms);
        });
        shown.resize(ranks_shown_worst);
    }
    TextTable table({{"rank", true}, {"node"}, {"last in", true}, {"cost", true}, {"early by", true}, {"in collectives", true}});
    for (const RankReport* rank : shown)
        table.add({std::to_string(rank->rank), shortened(rank->node, 24), rank->late > 0 ? percent_text(rank->last_share) : "-",
                   time_text(rank->cost_s * 1e3), time_text(rank->earliness_ms),
                   rank->elapsed_s > 0 ? percent_text(rank->collectives_s / rank->elapsed_s) : "-"});
    block.add("ranks", table);
    block.add({}, "last in: of the late ones; cost: time it alone held others up; early by: in the mean");
    if (!all) {
        double earliest = 0;
        for (const RankReport& rank : report.ranks) earliest = std::max(earliest, rank.earliness_ms);
        block.add({}, "and " + plural(report.ranks.size() - shown.size(), "rank") + " that cost less; all are early by " + time_text(earliest) +
                          " or less in the mean");
    }
}

// The nodes whose table is not that of the first, which the head of the log has shown for all.
void add_differing_nodes(Block& block, const PlanSummary& plan, Level level) {
    if (plan.nodes.size() < 2) return;
    const NodePlan& first = plan.nodes.front();
    std::vector<std::string> differing;
    std::map<std::string, std::vector<std::string>> without_table;  // by the reason
    for (const NodePlan& node : plan.nodes) {
        if (node.bindings == first.bindings && node.remark == first.remark) continue;
        if (node.bindings.empty() && !node.remark.empty()) without_table[node.remark].push_back(node.node);
        else differing.push_back(node.node);
    }
    if (differing.empty() && without_table.empty() && !first.bindings.empty() && level == Level::full)
        block.add("nodes", "all " + std::to_string(plan.nodes.size()) + " have the GPU-NIC-core table of " + first.node);
    for (const auto& [reason, nodes] : without_table) block.add("nodes", shortened(compress_hosts(nodes), 60) + ": " + reason);
    if (!differing.empty())
        block.add("nodes", shortened(compress_hosts(differing), 60) + (differing.size() == 1 ? " differs" : " differ") + " from the GPU-NIC-core table of " + first.node);
}

// What went wrong on other nodes than the first, which alone has spoken in the head of the log. Nodes with the same to tell
// are told of together.
void add_notes_of_other_nodes(Block& block, const PlanSummary& plan) {
    if (plan.nodes.empty()) return;
    const std::vector<std::string>& known = plan.nodes.front().notes;
    struct Group {
        std::vector<std::string> notes, nodes;
    };
    std::vector<Group> groups;
    for (const NodePlan& node : plan.nodes) {
        std::vector<std::string> notes;
        std::copy_if(node.notes.begin(), node.notes.end(), std::back_inserter(notes),
                     [&](const std::string& note) { return std::find(known.begin(), known.end(), note) == known.end(); });
        if (notes.empty()) continue;
        auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& one) { return one.notes == notes; });
        if (group == groups.end()) group = groups.insert(groups.end(), {std::move(notes), {}});
        group->nodes.push_back(node.node);
    }
    std::size_t hidden = 0;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        if (i >= noted_nodes_max) hidden += groups[i].nodes.size();
        else
            for (const std::string& note : groups[i].notes) block.add("note", shortened(compress_hosts(groups[i].nodes), 60) + ": " + note);
    }
    if (hidden > 0) block.add({}, "and " + count_of(static_cast<long long>(hidden), "more node"));
}

void add_coverage(Block& block, const Report& report, Level level) {
    for (const Coverage& coverage : report.coverage) {
        std::string text = (coverage.library.empty() ? std::string("unknown library") : coverage.library) + ", " +
                           plural(coverage.ranks.size(), "rank") + ": ";
        if (coverage.kept < coverage.calls) text += std::to_string(coverage.kept) + " of ";
        text += plural(coverage.calls, "call") + " recorded";
        std::uint64_t others = coverage.dropped;
        for (const auto& [function, calls] : coverage.not_recorded) others += calls;
        if (others > 0) text += ", " + std::to_string(others) + " not recorded";
        if (level == Level::full && others > 0) {
            std::vector<std::string> parts;
            for (const auto& [function, calls] : coverage.not_recorded) parts.push_back(function + " " + std::to_string(calls));
            if (coverage.dropped > 0) parts.push_back("beyond the limit of communicators " + std::to_string(coverage.dropped));
            text += " (" + join(parts, ", ") + ")";
        }
        if (report.overhead.ns_per_call && report.overhead.recorder_calls > 0 && &coverage == &report.coverage.front())
            text += "; recording cost " + percent_text(report.overhead.percent / 100) + " of the time";
        block.add("coverage", text);
    }
}

void add_ending(Block& block, const Report& report, Level level, const std::string& json_path) {
    const std::size_t most = level == Level::full ? warnings_shown_full : warnings_shown_max;
    for (std::size_t i = 0; i < report.warnings.size() && i < most; ++i) block.add("warning", report.warnings[i]);
    if (report.warnings.size() > most) block.add("warning", "and " + std::to_string(report.warnings.size() - most) + " more");
    if (report.policy.mode_run == "observe" && report.arms.empty())
        block.add("note", "nothing was delayed: a collective ends with its last rank, and no gain is claimed");
    if (!json_path.empty()) block.add("json", json_path);
}

}  // namespace

std::vector<std::string> report_lines(const Report& report, Level level, const std::string& json_path) {
    if (level == Level::none) return {};
    if (report.ranks.empty()) {
        std::string head = "paced-fabric: ";
        if (!report.job.id.empty()) head += "job " + report.job.id + (report.job.step.empty() ? "" : "." + report.job.step) + ": ";
        // With a segment and without a rank there was an MPI that found no room, and has said so.
        Block block(head + (report.warnings.empty() ? "nothing was recorded: no task has used collectives of an MPI or Gloo that is known here"
                                                    : "nothing was recorded"));
        add_notes_of_other_nodes(block, report.plan);
        for (const std::string& warning : report.warnings) block.add("warning", warning);
        return block.take();
    }
    Block block(head_of(report));
    const bool any = std::any_of(report.communicators.begin(), report.communicators.end(),
                                 [](const CommunicatorReport& communicator) { return communicator.calls > 0; });
    if (!any) {
        block.add("collectives", "none were recorded");
        add_notes_of_other_nodes(block, report.plan);
        add_coverage(block, report, level);
        add_ending(block, report, level, json_path);
        return block.take();
    }
    add_iterations(block, report.iterations);
    add_stragglers(block, report);
    add_attribution(block, report.attribution);
    add_pacing(block, report, level);
    add_order_run(block, report.plan);
    add_communicators(block, report, level);
    add_ranks(block, report, level);
    add_differing_nodes(block, report.plan, level);
    add_notes_of_other_nodes(block, report.plan);
    add_coverage(block, report, level);
    add_ending(block, report, level, json_path);
    return block.take();
}

}  // namespace paced::report
