// SPDX-License-Identifier: BSD-3-Clause
// `paced simulate --html`: the same as the text, and what only pictures show.
#include <algorithm>
#include <array>

#include "launcher/simulate.h"
#include "policy/base/text.h"
#include "policy/report/html_page.h"
#include "policy/report/svg_charts.h"
#include "policy/report/text_layout.h"

namespace paced::launcher {

namespace {

using report::HtmlPage;
using report::LineChart;
using simulation::Case;
using simulation::CaseResult;
using simulation::Estimate;
using simulation::Row;
using simulation::Span;

// Colours that also differ for who sees few of them, and in grey.
constexpr std::array<const char*, simulation::case_count> colours{"#6b7280", "#0072b2", "#d55e00", "#56b4e9", "#009e73", "#cc79a7", "#e69f00"};
const char* colour_of(Case ran) { return colours[static_cast<std::size_t>(ran)]; }

bool is_usual(Case ran) { return ran <= Case::paced; }

// One curve for each case that any size has. estimate: of a case at a size, scaled; words: of its value.
template <class Figure, class Words>
HtmlPage::Figure curves(const std::vector<Row>& rows, const std::string& caption, const std::string& y_title, Figure estimate, Words words) {
    LineChart chart;
    chart.description = caption;
    chart.x_title = "nodes";
    chart.y_title = y_title;
    chart.log_x = true;
    for (const Case ran : simulation::all_cases) {
        LineChart::Series series{name_of(ran), colour_of(ran), !is_usual(ran), {}};
        for (const Row& row : rows) {
            const CaseResult* one = find_case(row, ran);
            if (one == nullptr) continue;
            const Estimate value = estimate(row, *one);
            series.points.push_back({static_cast<double>(row.nodes), value.value, value.low, value.high,
                                     std::string(name_of(ran)) + ", " + count_of(row.nodes, "node") + ": " + words(value.value) + " (" + words(value.low) + " to " + words(value.high) + ')'});
        }
        if (!series.points.empty()) chart.series.push_back(std::move(series));
    }
    return {caption, svg_of(chart)};
}

Estimate scaled(const Estimate& estimate, double by) { return {by * estimate.value, by * estimate.low, by * estimate.high}; }

void add_curves(HtmlPage& page, const std::vector<Row>& rows) {
    const auto per_node = [](const Row& row, const CaseResult& one) { return scaled(one.throughput, 1.0 / std::max(1u, row.nodes)); };
    const auto gain = [](const Row&, const CaseResult& one) { return one.gain_percent; };
    const auto whole = [](const Row&, const CaseResult& one) { return one.throughput; };
    const auto cv = [](const Row&, const CaseResult& one) { return one.cv; };
    const auto p99 = [](const Row&, const CaseResult& one) { return scaled(one.p99_s, 1e3); };
    page.heading("Against the number of nodes");
    page.figures({curves(rows, "Throughput", "samples/s", whole, throughput_text),
                  curves(rows, "Throughput of each node: level where nothing is lost", "samples/s and node", per_node, throughput_text),
                  curves(rows, "Gain in throughput over the baseline", "%", gain, report::change_text),
                  curves(rows, "Variation of iterations", "CV", cv, report::cv_text),
                  curves(rows, "Slow iterations: one in a hundred takes longer", "p99, ms", p99, report::time_text)});
    page.note("Bars are 95 % intervals over the runs.");
}

std::string percent_or_dash(const CaseResult& one) { return one.ran == Case::baseline ? "-" : report::change_text(one.gain_percent.value); }

void add_table(HtmlPage& page, const std::vector<Row>& rows) {
    std::vector<std::vector<std::string>> cells{{"nodes", "ranks", "case", "samples/s", "gain", "95 % interval", "CV", "mean", "p50", "p99", "stalls"}};
    for (const Row& row : rows)
        for (const CaseResult& one : row.cases)
            cells.push_back({std::to_string(row.nodes), std::to_string(row.ranks), name_of(one.ran), throughput_text(one.throughput.value), percent_or_dash(one), gain_interval_text(one),
                             report::cv_text(one.cv.value), report::time_text(1e3 * one.mean_s.value), report::time_text(1e3 * one.p50_s.value), report::time_text(1e3 * one.p99_s.value),
                             std::to_string(one.stalls)});
    page.table(cells, {true, true, false, true, true, true, true, true, true, true, true});
    page.note("baseline: as submitted. ordered: ranks in the order that suits the fabric. paced: ordered, and under the pacing law. gain: of throughput over the baseline.");
}

// Compute above, calls below where both go on at once.
HtmlPage::Figure timeline(const CaseResult& one, double longest_s) {
    report::Timeline chart;
    const simulation::Timeline& of = one.timeline;
    bool overlaps = false;
    for (const simulation::RankLine& line : of.ranks)
        for (std::size_t i = 1; i < line.spans.size(); ++i) overlaps = overlaps || line.spans[i].begin_s + 1e-9F < line.spans[i - 1].end_s;
    const double half = overlaps ? .5 : 0;
    chart.kinds = {{"compute", "#9ecae1", 0, overlaps ? .5 : 1}, {"held by us", "#d55e00", half, 1}, {"waiting for the last", "#f2c14e", half, 1}, {"transfer", "#3b6ea5", half, 1}};
    for (const simulation::RankLine& line : of.ranks) {
        report::Timeline::Row row{"rank " + std::to_string(line.rank), {}};
        for (const Span& span : line.spans) row.spans.push_back({static_cast<std::size_t>(span.kind), 1e3 * static_cast<double>(span.begin_s), 1e3 * static_cast<double>(span.end_s)});
        chart.rows.push_back(std::move(row));
    }
    const std::string caption = std::string(name_of(one.ran)) + ": iteration " + std::to_string(of.iteration) + ", " + report::time_text(1e3 * of.length_s);
    chart.description = caption;
    chart.end_ms = 1e3 * longest_s;
    return {caption, svg_of(chart)};
}

void add_timelines(HtmlPage& page, const Row& row) {
    double longest_s = 0;  // one axis for all
    for (const CaseResult& one : row.cases)
        if (is_usual(one.ran)) longest_s = std::max(longest_s, one.timeline.length_s);
    std::vector<HtmlPage::Figure> figures;
    for (const CaseResult& one : row.cases)
        if (is_usual(one.ran) && !one.timeline.ranks.empty()) figures.push_back(timeline(one, longest_s));
    if (figures.empty()) return;
    page.heading("One iteration of each case, " + count_of(row.nodes, "node"));
    page.figures(figures);
    page.note("Of the iterations of the first run the one whose length is nearest to the 90th percentile; of many ranks, some.");
}

void add_load(HtmlPage& page, const Row& row) {
    const CaseResult* baseline = find_case(row, Case::baseline);
    if (baseline == nullptr || baseline->load.empty()) return;
    const auto bars = [&](const std::string& caption, double simulation::LevelLoad::* figure) {
        report::BarChart chart{caption, "% of the links' rate", {}};
        for (std::size_t i = 0; i < baseline->load.size(); ++i) {
            const simulation::LevelLoad& level = baseline->load[i];
            report::BarChart::Group group{level.level + ", " + count_of(level.links, "link"), {}};
            for (const CaseResult& one : row.cases)
                if (is_usual(one.ran) && i < one.load.size())
                    group.bars.push_back({name_of(one.ran), colour_of(one.ran), 100 * one.load[i].*figure, report::percent_text(one.load[i].*figure)});
            chart.groups.push_back(std::move(group));
        }
        return HtmlPage::Figure{caption, svg_of(chart)};
    };
    page.heading("Load of the links, " + count_of(row.nodes, "node"));
    page.figures({bars("Mean over the links that carried anything", &simulation::LevelLoad::mean), bars("The busiest link", &simulation::LevelLoad::most)});
}

void add_words(HtmlPage& page, const Row& row) {
    page.heading("Order and pacing, " + count_of(row.nodes, "node"));
    for (const std::string& reason : row.reasons) page.paragraph(reason);
    if (const CaseResult* paced = find_case(row, Case::paced))
        for (const std::string& line : law_lines(*paced)) page.paragraph(line);
}

}  // namespace

std::string simulate_page(const Simulated& simulated) {
    const simulation::Result& result = simulated.result;
    HtmlPage page("Simulation of " + result.scenario);
    if (!simulated.file.scenario.description.empty()) page.paragraph(simulated.file.scenario.description);
    page.paragraph(count_of(result.seeds, "run") + " of " + count_of(result.iterations, "iteration") + " for each case. What a model says, not what was measured; " +
                   (simulated.file.fitted_on.empty() ? "its constants were fitted on nothing." : "its constants were fitted on " + simulated.file.fitted_on + '.') +
                   " Model " + simulated.file.hash + '.');
    if (!result.rows.empty()) {
        add_table(page, result.rows);
        add_curves(page, result.rows);
        add_timelines(page, result.rows.back());
        add_load(page, result.rows.back());
        add_words(page, result.rows.back());
    }
    return std::move(page).take();
}

}  // namespace paced::launcher
