// SPDX-License-Identifier: BSD-3-Clause
// What `paced simulate` prints of a result that was made up here, so that no change of the simulator touches these golden files
// (tests/data/simulate).
#include <limits>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "launcher/progress_line.h"
#include "launcher/simulate.h"
#include "policy/base/text.h"
#include "policy/io/xml_reader.h"
#include "policy/report/text_table.h"
#include "tests/doubles/golden.h"
#include "tests/doubles/paths.h"

namespace paced {
namespace {

using namespace simulation;
using launcher::Simulated;
using Json = nlohmann::json;

Estimate around(double value, double half) { return {value, value - half, value + half}; }

Timeline timeline_of(double length_s, double held_s) {
    Timeline timeline{17, length_s, {}};
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        const auto at = [&](double part) { return static_cast<float>(part * length_s); };
        const double ready = .5 + .1 * rank;
        RankLine line{2 * rank, rank, {}};
        line.spans.push_back({Span::Kind::compute, 0, 0, at(ready)});
        if (held_s > 0) line.spans.push_back({Span::Kind::held, 0, at(ready), at(ready) + static_cast<float>(held_s)});
        if (rank < 3) line.spans.push_back({Span::Kind::waiting, 0, at(ready) + static_cast<float>(held_s), at(.8)});
        line.spans.push_back({Span::Kind::transfer, 0, at(.85), at(1)});
        timeline.ranks.push_back(std::move(line));
    }
    return timeline;
}

CaseResult case_of(Case ran, std::uint32_t nodes, double mean_s, double cv, double gain) {
    CaseResult one;
    one.ran = ran;
    one.throughput = around(8 * nodes / mean_s, .02 * nodes / mean_s);
    one.mean_s = around(mean_s, .002 * mean_s);
    one.cv = around(cv, .1 * cv);
    one.p50_s = around(.98 * mean_s, .001);
    one.p99_s = around(mean_s * (1 + 3 * cv), .005);
    if (ran != Case::baseline) one.gain_percent = around(gain, .4);
    one.stalls = ran == Case::baseline ? nodes / 4 : 0;
    one.steps_crossing = ran == Case::baseline ? nodes : 2;
    one.shares = {.2, mean_s - .23, .03, ran == Case::baseline ? .01 : 0, .004, ran == Case::paced ? .002 : 0};
    one.load = {{"nic", nodes * 2, .31, .35}, {"leaf", nodes / 4, ran == Case::baseline ? .62 : .2, ran == Case::baseline ? .97 : .41}};
    one.timeline = timeline_of(mean_s, ran == Case::paced ? .004 : 0);
    if (ran == Case::paced) {
        ClassResult paced;
        paced.bytes = 64 << 20;
        paced.facts.communicators = 8;
        paced.facts.size = nodes;
        paced.facts.crosses = true;
        paced.account.count = 2;
        paced.account.trials[0].setting.arm = pacing::Arm::hold_local;
        paced.account.trials[0].ended = pacing::Ended::no_gain;
        paced.account.trials[0].blocks = 12;
        paced.account.trials[0].pairs = 6;
        paced.account.trials[1].setting.arm = pacing::Arm::admit;
        paced.account.trials[1].setting.width = 2;
        paced.account.trials[1].ended = pacing::Ended::engaged;
        paced.account.trials[1].engaged_iteration = 210;
        paced.account.state = pacing::Ended::engaged;
        paced.account.engaged = paced.account.trials[1].setting;
        one.classes.push_back(paced);
        paced.bytes = 4096;
        paced.facts.crosses = false;
        paced.account = {};
        paced.account.state = pacing::Ended::finished;
        one.classes.push_back(paced);
    }
    return one;
}

Simulated made_up(bool compare) {
    Simulated simulated;
    simulated.file.scenario.description = "a cluster that does not exist, with <odd> & \"quoted\" words in it, long enough to need a second line";
    simulated.file.fitted_on = "nothing that was measured";
    simulated.file.hash = "0123456789abcdef";
    simulation::Result& result = simulated.result;
    result.scenario = "made-up";
    result.seeds = 5;
    result.iterations = 1000;
    for (const std::uint32_t nodes : {4u, 16u, 1024u}) {
        Row row{nodes, 8 * nodes, {}, 1'234'567ull * nodes, {"hosts are taken leaf by leaf: 2 steps between leaves instead of " + std::to_string(nodes)}};
        const double slower = nodes / 4096.0;
        row.cases = {case_of(Case::baseline, nodes, .25 + slower, .02 + slower, 0), case_of(Case::ordered, nodes, .25 + slower / 2, .02 + slower / 2, 100 * slower / 3),
                     case_of(Case::paced, nodes, .25 + slower / 4, .02, 100 * slower - .3)};
        if (compare) {
            row.cases.push_back(case_of(Case::recipe, nodes, .25 + slower, .02, -.5));
            row.cases.push_back(case_of(Case::oracle, nodes, .24, .01, 14.2));
        }
        result.rows.push_back(std::move(row));
    }
    return simulated;
}

TEST(SimulateText, ATableWithinTheLine) {
    for (const bool compare : {false, true}) {
        const std::string text = launcher::simulate_text(made_up(compare));
        for (const std::string_view line : split(text, '\n')) {
            EXPECT_LE(report::columns_of(line), 100u) << line;
            EXPECT_FALSE(line.ends_with(' ')) << line;
        }
        test::expect_golden(text, test::data(compare ? "simulate/compared.txt" : "simulate/table.txt"));
    }
}

TEST(SimulateText, NoRowsAndNoCases) {
    Simulated nothing;
    nothing.result.scenario = "empty";
    EXPECT_EQ(launcher::simulate_text(nothing), "Simulation of empty\n0 runs of 0 iterations for each case. What a model says, not what was measured; its constants were\n  fitted on nothing.\n");
    nothing.result.rows.push_back({4, 32, {}, 0, {}});
    EXPECT_NE(launcher::simulate_text(nothing).find("\n    4         -"), std::string::npos) << launcher::simulate_text(nothing);
    EXPECT_NE(launcher::simulate_page(nothing).find("</html>"), std::string::npos);
    EXPECT_TRUE(Json::parse(launcher::simulate_json(nothing)).at("rows").at(0).at("gain_percent").is_null());
}

// The words of the contract, and their types.
TEST(SimulateJson, TheObjectOfTheContract) {
    const std::string text = launcher::simulate_json(made_up(false));
    const Json json = Json::parse(text);
    EXPECT_EQ(json.at("scenario"), "made-up");
    EXPECT_EQ(json.at("seeds"), 5);
    EXPECT_EQ(json.at("model").at("hash"), "0123456789abcdef");
    EXPECT_EQ(json.at("model").at("fitted_on"), "nothing that was measured");
    ASSERT_EQ(json.at("rows").size(), 3u);
    for (const Json& row : json.at("rows")) {
        EXPECT_TRUE(row.at("nodes").is_number());
        for (const char* one : {"baseline", "ordered", "paced"})
            for (const char* figure : {"throughput", "cv", "p50", "p99"}) EXPECT_TRUE(row.at(one).at(figure).is_number()) << one << ' ' << figure;
        EXPECT_LE(row.at("gain_ci95").at(0), row.at("gain_percent"));
        EXPECT_GE(row.at("gain_ci95").at(1), row.at("gain_percent"));
        EXPECT_EQ(row.at("gain_percent"), row.at("paced").at("gain_percent"));
    }
    EXPECT_DOUBLE_EQ(json.at("rows").at(0).at("baseline").at("p50").get<double>(), 245.957);  // ms
    test::expect_golden(text, test::data("simulate/table.json"));
}

TEST(SimulateJson, WhatIsNoNumberIsNull) {
    Simulated odd = made_up(false);
    odd.result.rows[0].cases[2].gain_percent = {1.5, -std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()};
    odd.result.scenario = "\xff";
    const Json json = Json::parse(launcher::simulate_json(odd));
    EXPECT_TRUE(json.at("rows").at(0).at("gain_ci95").at(0).is_null());
    EXPECT_TRUE(json.at("rows").at(0).at("gain_ci95").at(1).is_null());
}

TEST(SimulatePage, IsOneFileAndWellFormed) {
    const std::string page = launcher::simulate_page(made_up(true));
    for (const char* foreign : {"<script", "http:", "https:", "src=", "href=", "@import", "url("}) EXPECT_EQ(page.find(foreign), std::string::npos) << foreign;
    EXPECT_EQ(page.find("<odd>"), std::string::npos);
    std::size_t pictures = 0;
    for (std::size_t start = page.find("<svg"); start != std::string::npos; start = page.find("<svg", start + 1), ++pictures) {
        const std::size_t end = page.find("</svg>", start);
        ASSERT_NE(end, std::string::npos);
        Diagnostics diagnostics;
        const std::string picture = page.substr(start, end + 6 - start);
        io::XmlReader reader(picture, "picture", diagnostics);
        io::XmlReader::Event event = reader.next();
        while (event == io::XmlReader::Event::open || event == io::XmlReader::Event::close) event = reader.next();
        EXPECT_EQ(event, io::XmlReader::Event::end) << format(diagnostics) << picture;
        for (const char* no_number : {"nan", "inf"}) EXPECT_EQ(picture.find(std::string("\"") + no_number), std::string::npos) << picture;
    }
    EXPECT_EQ(pictures, 5u + 3u + 2u);  // curves, an iteration of each usual case, loads
    test::expect_golden(page, test::data("simulate/page.html"));
}

TEST(Simulate, FiguresForPeople) {
    using launcher::throughput_text;
    EXPECT_EQ(throughput_text(0), "0.000");
    EXPECT_EQ(throughput_text(1.2345), "1.234");
    EXPECT_EQ(throughput_text(12.345), "12.35");
    EXPECT_EQ(throughput_text(999.4), "999.4");
    EXPECT_EQ(throughput_text(1234.4), "1,234");
    EXPECT_EQ(throughput_text(123'456), "123,456");
    EXPECT_EQ(throughput_text(12'345'678), "12.35M");
    using launcher::progress_text;
    using std::chrono::seconds;
    EXPECT_EQ(progress_text(0, seconds(3)), "[>                             ]   0%");
    EXPECT_EQ(progress_text(.5, seconds(60)), "[===============>              ]  50%  60.0 s left");
    EXPECT_EQ(progress_text(1, seconds(60)), "[==============================] 100%  0 left");
}

}  // namespace
}  // namespace paced
