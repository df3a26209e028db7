// SPDX-License-Identifier: BSD-3-Clause
// `paced simulate` for people: the table that answers the question, then what is behind it at the largest size.
#include "launcher/simulate.h"
#include "policy/base/text.h"
#include "policy/report/text_layout.h"
#include "policy/report/text_table.h"

namespace paced::launcher {

namespace {

using report::change_text;
using report::cv_text;
using report::line_width;
using report::TextTable;
using report::time_text;
using simulation::Case;
using simulation::CaseResult;
using simulation::Row;

void add_line(std::string& text, const std::string& line) {
    const char* indent = "";
    for (const std::string& part : report::wrapped(line, line_width - 2)) {
        (text += indent).append(part) += '\n';
        indent = "  ";
    }
}

std::string ms_text(const simulation::Estimate& seconds) { return time_text(1e3 * seconds.value); }

// The figure of each of the usual cases, "-" where a case is missing.
template <class Figure>
void add_usual(std::vector<std::string>& cells, const Row& row, Figure figure) {
    for (const Case ran : simulation::usual_cases) {
        const CaseResult* one = find_case(row, ran);
        cells.push_back(one == nullptr ? "-" : figure(*one));
    }
}

void add_overview(std::string& text, const std::vector<Row>& rows) {
    TextTable table({{"nodes", true}, {"baseline", true}, {"ordered", true}, {"paced", true}, {"gain", true}, {"95% interval", true},
                     {"CV: baseline", true}, {"ordered", true}, {"paced", true}});
    for (const Row& row : rows) {
        std::vector<std::string> cells{std::to_string(row.nodes)};
        add_usual(cells, row, [](const CaseResult& one) { return throughput_text(one.throughput.value); });
        const CaseResult* paced = find_case(row, Case::paced);
        cells.push_back(paced == nullptr ? "-" : change_text(paced->gain_percent.value));
        cells.push_back(paced == nullptr ? "-" : gain_interval_text(*paced));
        add_usual(cells, row, [](const CaseResult& one) { return cv_text(one.cv.value); });
        table.add(std::move(cells));
    }
    text += '\n' + table.text();
    add_line(text, "throughput in samples/s; gain: of paced (ordered, and under the pacing law) over the baseline");
}

void add_iterations(std::string& text, const std::vector<Row>& rows) {
    TextTable table({{"nodes", true}, {"ranks", true}, {"p50: baseline", true}, {"ordered", true}, {"paced", true},
                     {"p99: baseline", true}, {"ordered", true}, {"paced", true}});
    for (const Row& row : rows) {
        std::vector<std::string> cells{std::to_string(row.nodes), std::to_string(row.ranks)};
        add_usual(cells, row, [](const CaseResult& one) { return ms_text(one.p50_s); });
        add_usual(cells, row, [](const CaseResult& one) { return ms_text(one.p99_s); });
        table.add(std::move(cells));
    }
    text += "\nIterations\n" + table.text();
}

bool is_usual(Case ran) { return ran <= Case::paced; }

// Cases that nobody would run in earnest, in the submitted order.
void add_compared(std::string& text, const std::vector<Row>& rows) {
    TextTable table({{"nodes", true}, {"case"}, {"throughput", true}, {"gain", true}, {"95% interval", true}, {"CV", true}, {"mean", true}, {"p50", true}, {"p99", true}});
    for (const Row& row : rows)
        for (const CaseResult& one : row.cases)
            if (!is_usual(one.ran))
                table.add({std::to_string(row.nodes), name_of(one.ran), throughput_text(one.throughput.value), change_text(one.gain_percent.value), gain_interval_text(one),
                           cv_text(one.cv.value), ms_text(one.mean_s), ms_text(one.p50_s), ms_text(one.p99_s)});
    if (table.empty()) return;
    text += "\nTo compare with, in the submitted order\n" + table.text();
    add_line(text, "alone: the pacing law without an order; recipe: a small fixed delay for who was early; barrier: one before every call; oracle: knows all arrivals");
}

void add_shares(std::string& text, const Row& row) {
    TextTable table({{"case"}, {"compute", true}, {"of it stolen", true}, {"waiting", true}, {"of it held", true}, {"transfer", true}, {"of it stalls", true}, {"stalls in all", true}});
    for (const CaseResult& one : row.cases) {
        const simulation::Shares& shares = one.shares;
        std::vector<std::string> cells{name_of(one.ran)};
        for (const double seconds : {shares.compute, shares.stolen, shares.waiting, shares.held, shares.transfer, shares.stalls}) cells.push_back(time_text(1e3 * seconds));
        cells.push_back(std::to_string(one.stalls));
        table.add(std::move(cells));
    }
    text += "\nWhere a mean iteration of the mean rank goes, " + count_of(row.nodes, "node") + '\n' + table.text();
}

void add_load(std::string& text, const Row& row) {
    const CaseResult* baseline = find_case(row, Case::baseline);
    if (baseline == nullptr || baseline->load.empty()) return;
    TextTable table({{"level"}, {"links", true}, {"mean: baseline", true}, {"ordered", true}, {"paced", true}, {"busiest: baseline", true}, {"ordered", true}, {"paced", true}});
    for (std::size_t i = 0; i < baseline->load.size(); ++i) {
        const simulation::LevelLoad& level = baseline->load[i];
        std::vector<std::string> cells{level.level, std::to_string(level.links)};
        const auto at = [i](const CaseResult& one) -> const simulation::LevelLoad* { return i < one.load.size() ? &one.load[i] : nullptr; };
        add_usual(cells, row, [&](const CaseResult& one) { return at(one) == nullptr ? std::string("-") : report::percent_text(at(one)->mean); });
        add_usual(cells, row, [&](const CaseResult& one) { return at(one) == nullptr ? std::string("-") : report::percent_text(at(one)->most); });
        table.add(std::move(cells));
    }
    text += "\nLoad of the links that carried anything, " + count_of(row.nodes, "node") + '\n' + table.text();
}

void add_list(std::string& text, const std::string& head, const std::vector<std::string>& items) {
    if (items.empty()) return;
    text += '\n' + head + '\n';
    for (const std::string& item : items) {
        const char* indent = "  ";
        for (const std::string& part : report::wrapped(item, line_width - 4)) {
            (text += indent).append(part) += '\n';
            indent = "    ";
        }
    }
}

}  // namespace

std::string simulate_text(const Simulated& simulated) {
    const simulation::Result& result = simulated.result;
    std::string text;
    add_line(text, "Simulation of " + result.scenario + (simulated.file.scenario.description.empty() ? "" : ": " + simulated.file.scenario.description));
    add_line(text, count_of(result.seeds, "run") + " of " + count_of(result.iterations, "iteration") + " for each case. What a model says, not what was measured; " +
                       (simulated.file.fitted_on.empty() ? "its constants were fitted on nothing." : "its constants were fitted on " + simulated.file.fitted_on + '.'));
    if (result.rows.empty()) return text;
    add_overview(text, result.rows);
    add_iterations(text, result.rows);
    add_compared(text, result.rows);
    const Row& largest = result.rows.back();
    add_shares(text, largest);
    add_load(text, largest);
    add_list(text, "Order, " + count_of(largest.nodes, "node"), largest.reasons);
    if (const CaseResult* paced = find_case(largest, Case::paced)) add_list(text, "Pacing, " + count_of(largest.nodes, "node") + ", first run", law_lines(*paced));
    return text;
}

}  // namespace paced::launcher
