// SPDX-License-Identifier: BSD-3-Clause
// Runs into rows: each run gives one figure, and the interval is over runs (Student). A gain compares runs of the same seed, which saw the
// same compute times, placement and hashes. With one seed alone it comes from batches of iterations, which is the interval of that
// run and says nothing about other seeds.
#include <algorithm>
#include <cmath>

#include "policy/pacing/ratio.h"
#include "policy/simulation/simulate.h"

namespace paced::simulation {
namespace {

constexpr std::size_t batches = 20;

Estimate estimate_of(const std::vector<double>& values) {
    Estimate estimate;
    if (values.empty()) return estimate;
    double sum = 0, squares = 0;
    for (const double value : values) sum += value;
    const auto n = static_cast<double>(values.size());
    estimate.value = estimate.low = estimate.high = sum / n;
    if (values.size() < 2) return estimate;
    for (const double value : values) squares += (value - estimate.value) * (value - estimate.value);
    const double half = pacing::student_95(static_cast<std::uint32_t>(values.size() - 1)) * std::sqrt(squares / (n - 1) / n);
    estimate.low -= half;
    estimate.high += half;
    return estimate;
}

// The smallest value that at least that part of all values do not exceed.
double quantile_of(std::vector<float> values, double part) {
    if (values.empty()) return 0;
    const auto rank = static_cast<std::size_t>(std::ceil(part * static_cast<double>(values.size())));
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(rank, 1) - 1);
    std::nth_element(values.begin(), at, values.end());
    return static_cast<double>(*at);
}

struct Figures {
    double mean = 0, cv = 0;
};

// CV within each part of the job, the mean over parts.
Figures figures_of(const Outcome& outcome) {
    Figures figures;
    const std::size_t parts = std::max<std::uint32_t>(1, outcome.parts), each = outcome.iteration_s.size() / parts;
    if (each < 2) return figures;
    for (std::size_t part = 0; part < parts; ++part) {
        double sum = 0, squares = 0;
        const float* const values = outcome.iteration_s.data() + part * each;
        for (std::size_t i = 0; i < each; ++i) sum += static_cast<double>(values[i]);
        const double mean = sum / static_cast<double>(each);
        for (std::size_t i = 0; i < each; ++i) squares += (static_cast<double>(values[i]) - mean) * (static_cast<double>(values[i]) - mean);
        figures.mean += mean / static_cast<double>(parts);
        if (mean > 0) figures.cv += std::sqrt(squares / static_cast<double>(each - 1)) / mean / static_cast<double>(parts);
    }
    return figures;
}

// Over batches of iterations of the one run; T_base / T_case - 1 of the sums.
Estimate gain_within(const Outcome& base, const Outcome& other) {
    const std::size_t count = std::min(base.iteration_s.size(), other.iteration_s.size()), size = count / batches;
    Estimate gain;
    gain.value = gain.low = gain.high = 100 * (other.throughput / base.throughput - 1);
    if (size == 0) return gain;
    pacing::RatioOfMeans ratio;
    for (std::size_t batch = 0; batch < batches; ++batch) {
        double over = 0, under = 0;
        for (std::size_t i = batch * size; i < (batch + 1) * size; ++i) over += static_cast<double>(base.iteration_s[i]), under += static_cast<double>(other.iteration_s[i]);
        ratio.add(over, under);
    }
    double value = 0, low = 0, high = 0;
    if (!ratio.percent(value, low, high)) return gain;
    gain.low = gain.value - (value - low);
    gain.high = gain.value + (high - value);
    return gain;
}

Estimate gain_of(const std::vector<const Outcome*>& bases, const std::vector<const Outcome*>& others) {
    std::vector<double> logs;
    const Outcome *one = nullptr, *its = nullptr;
    for (const Outcome* other : others) {
        const auto base = std::find_if(bases.begin(), bases.end(), [&](const Outcome* each) { return each->seed == other->seed; });
        if (base == bases.end() || !((*base)->throughput > 0) || !(other->throughput > 0)) continue;
        logs.push_back(std::log(other->throughput / (*base)->throughput));
        one = other, its = *base;
    }
    if (logs.empty()) return {};
    if (logs.size() == 1) return gain_within(*its, *one);
    const Estimate log = estimate_of(logs);
    return {100 * std::expm1(log.value), 100 * std::expm1(log.low), 100 * std::expm1(log.high)};
}

void add_load(std::vector<LevelLoad>& sum, const std::vector<LevelLoad>& load, double part) {
    for (const LevelLoad& one : load) {
        auto at = std::find_if(sum.begin(), sum.end(), [&](const LevelLoad& known) { return known.level == one.level; });
        if (at == sum.end()) at = sum.insert(sum.end(), LevelLoad{one.level, 0, 0, 0});
        at->links = std::max(at->links, one.links);
        at->mean += one.mean * part;
        at->most = std::max(at->most, one.most);
    }
}

CaseResult case_of(Case ran, const std::vector<const Outcome*>& runs, const std::vector<const Outcome*>& bases) {
    CaseResult result;
    result.ran = ran;
    std::vector<double> throughput, mean, cv, p50, p99;
    const double part = 1 / static_cast<double>(runs.size());
    for (const Outcome* run : runs) {
        const Figures figures = figures_of(*run);
        throughput.push_back(run->throughput);
        mean.push_back(figures.mean);
        cv.push_back(figures.cv);
        p50.push_back(quantile_of(run->iteration_s, 0.5));
        p99.push_back(quantile_of(run->iteration_s, 0.99));
        result.stalls += run->stalls;
        result.steps_crossing += run->steps_crossing * part;
        const double* const from[] = {&run->shares.compute, &run->shares.waiting, &run->shares.transfer, &run->shares.stalls, &run->shares.stolen, &run->shares.held};
        double* const to[] = {&result.shares.compute, &result.shares.waiting, &result.shares.transfer, &result.shares.stalls, &result.shares.stolen, &result.shares.held};
        for (std::size_t i = 0; i < std::size(from); ++i) *to[i] += *from[i] * part;
        add_load(result.load, run->load, part);
    }
    result.throughput = estimate_of(throughput);
    result.mean_s = estimate_of(mean);
    result.cv = estimate_of(cv);
    result.p50_s = estimate_of(p50);
    result.p99_s = estimate_of(p99);
    result.gain_percent = ran == Case::baseline ? Estimate{} : gain_of(bases, runs);
    result.timeline = runs.front()->timeline;
    result.classes = runs.front()->classes;
    return result;
}

}  // namespace

Result summarise(const Scenario& scenario, std::span<const Outcome> outcomes) {
    Result result;
    result.scenario = scenario.name;
    result.seeds = scenario.seeds;
    result.iterations = scenario.iterations;
    std::vector<std::uint32_t> sizes;
    for (const Outcome& outcome : outcomes) sizes.push_back(outcome.nodes);
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    for (const std::uint32_t nodes : sizes) {
        Row row;
        row.nodes = nodes;
        row.ranks = nodes * scenario.node.ranks;
        std::vector<std::vector<const Outcome*>> runs(case_count);
        for (const Outcome& outcome : outcomes) {
            if (outcome.nodes != nodes) continue;
            runs[static_cast<std::size_t>(outcome.ran)].push_back(&outcome);
            row.events += outcome.events;
        }
        for (std::size_t i = 0; i < case_count; ++i) {
            // the first seed first, whatever the order in which threads ended
            std::sort(runs[i].begin(), runs[i].end(), [](const Outcome* a, const Outcome* b) { return a->seed < b->seed; });
            if (runs[i].empty()) continue;
            row.cases.push_back(case_of(static_cast<Case>(i), runs[i], runs[0]));
            if (row.reasons.empty()) row.reasons = runs[i].front()->reasons;
        }
        result.rows.push_back(std::move(row));
    }
    return result;
}

}  // namespace paced::simulation
