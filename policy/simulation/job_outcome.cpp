// SPDX-License-Identifier: BSD-3-Clause
// What is told of a job that has run.
#include <algorithm>
#include <cmath>

#include "policy/simulation/job.h"

namespace paced::simulation {
namespace {

constexpr std::size_t recorded_iterations = 200;

}  // namespace

// Of the recorded ranks that are members; a call's spans, and what was computed before it.
void Job::record(const Communicator& communicator, const ProgramCall& call, double end, std::uint32_t iteration) {
    if (iteration < scenario_.warmup || recorded_.size() > recorded_iterations) return;
    if (recorded_.empty() || recorded_.back().iteration < iteration) {
        if (recorded_.size() == recorded_iterations) return;
        Recorded next;
        next.iteration = iteration;
        next.spans.resize(recorded_ranks_.size());
        next.begin = state_[recorded_ranks_.front()].origin;
        recorded_.push_back(std::move(next));
    }
    // groups that do not wait for one another may still be at an earlier one
    const auto into = std::find_if(recorded_.rbegin(), recorded_.rend(), [&](const Recorded& one) { return one.iteration == iteration; });
    if (into == recorded_.rend()) return;
    const bool is_first = &call == &program_.front();
    const auto index = static_cast<std::uint32_t>(&communicator - communicators_.data());
    for (std::size_t i = 0; i < recorded_ranks_.size(); ++i) {
        const std::uint32_t rank = recorded_ranks_[i];
        if (kinds_[call.kind].first + kinds_[call.kind].group_of(rank) != index) continue;
        std::vector<Span>& spans = into->spans[i];
        const auto add = [&](Span::Kind kind, double from, double to) {
            if (to > from) spans.push_back({kind, call.traffic, static_cast<float>(from - into->begin), static_cast<float>(to - into->begin)});
        };
        const double arrival = entries_.arrival[rank], entry = communicator.held ? entries_.entry[rank] : arrival;
        const RankState& state = state_[rank];
        if (is_first) cursor_[i] = state.origin;
        if (call.blocking) add(Span::Kind::compute, cursor_[i], arrival);
        else if (&call == &program_.back()) add(Span::Kind::compute, cursor_[i], state.origin + state.length);
        add(Span::Kind::held, arrival, entry);
        add(Span::Kind::waiting, entry, communicator.entered);
        add(Span::Kind::transfer, communicator.entered, end);
        if (call.blocking) cursor_[i] = end;
    }
}

Timeline Job::timeline(const Outcome& outcome) const {
    Timeline line;
    if (recorded_.empty() || outcome.iteration_s.empty()) return line;
    std::vector<float> sorted(outcome.iteration_s.begin(), outcome.iteration_s.begin() + scenario_.iterations);
    const auto at = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() * 9 / 10);
    std::nth_element(sorted.begin(), at, sorted.end());
    const auto length = [&](const Recorded& one) { return outcome.iteration_s[one.iteration - scenario_.warmup]; };
    const Recorded* best = nullptr;
    for (const Recorded& one : recorded_) {
        if (one.iteration >= total_) break;
        if (best == nullptr || std::fabs(length(one) - *at) < std::fabs(length(*best) - *at)) best = &one;
    }
    if (best == nullptr) return line;
    line.iteration = best->iteration - scenario_.warmup;
    line.length_s = static_cast<double>(length(*best));
    for (std::size_t i = 0; i < recorded_ranks_.size(); ++i) {
        RankLine rank{recorded_ranks_[i], recorded_ranks_[i] / scenario_.node.ranks, best->spans[i]};
        std::stable_sort(rank.spans.begin(), rank.spans.end(), [](const Span& a, const Span& b) { return a.begin_s < b.begin_s; });
        line.ranks.push_back(std::move(rank));
    }
    return line;
}

std::vector<LevelLoad> Job::loads(double seconds) const {
    const std::vector<Link>& links = wiring_.links();
    std::vector<double> bytes(links.size());
    for (const Plan& plan : plans_) {
        for (const Phase& phase : plan.phases) {
            if (!phase.moves) continue;
            for (const LinkShare& one : phase.carried) bytes[one.link] += static_cast<double>(plan.executions) * phase.transfer.bytes * static_cast<double>(one.weight);
        }
    }
    for (const Burst& burst : bursts_)
        for (const Use& use : burst.transfer.uses) bytes[use.link] += burst.moved_bytes;
    std::vector<LevelLoad> load(wiring_.level_names().size());
    for (std::size_t level = 0; level < load.size(); ++level) load[level].level = wiring_.level_names()[level];
    for (std::uint32_t link = 0; link < links.size(); ++link) {
        if (bytes[link] <= 0) continue;
        LevelLoad& one = load[wiring_.level_of_link(link)];
        const double part = bytes[link] / links[link].bytes_s / seconds;
        ++one.links;
        one.mean += part;
        one.most = std::max(one.most, part);
    }
    std::vector<LevelLoad> used;
    for (LevelLoad& one : load) {
        if (one.links == 0) continue;
        one.mean /= one.links;
        used.push_back(one);
    }
    return used;
}

void Job::finish(Outcome& outcome, double now) {
    for (Burst& burst : bursts_)
        if (burst.on) burst.moved_bytes += network_.withdraw(burst.flow, now);
    const double iterations = scenario_.iterations, samples = scenario_.work.samples * (scenario_.work.scaling == Scaling::weak ? ranks_ : 1);
    double whole = 0, rate = 0, share = 0;
    outcome.parts = components_;
    outcome.iteration_s.reserve(std::size_t{components_} * scenario_.iterations);
    for (std::uint32_t part = 0; part < components_; ++part) {
        const double* const ends = &ends_[std::size_t{part} * total_];
        double before = scenario_.warmup > 0 ? ends[scenario_.warmup - 1] : 0;
        const double took = ends[total_ - 1] - before;
        for (std::uint32_t i = scenario_.warmup; i < total_; ++i) {
            outcome.iteration_s.push_back(static_cast<float>(ends[i] - before));
            before = ends[i];
        }
        whole += took / components_;
        rate += component_share_[part] * iterations / took;
        share += component_share_[part];
    }
    outcome.seconds = whole;
    outcome.throughput = samples * rate / share;
    outcome.messages = pacer_.messages();
    outcome.events = events_ + network_.changes() + pacer_.messages();
    outcome.stalls = network_.timeouts() + fabric_events_;
    const double each = iterations * ranks_;
    outcome.shares = {sums_.compute / each, sums_.waiting / each, sums_.transfer / each, (network_.stalled_s() + fabric_stall_s_) / total_, sums_.stolen / each, sums_.held / each};
    outcome.load = loads(now);
    outcome.classes = pacer_.finish();
    outcome.steps_crossing = steps_crossing();
    outcome.reasons = reasons_;
    if (!recorded_ranks_.empty()) outcome.timeline = timeline(outcome);
}

}  // namespace paced::simulation
