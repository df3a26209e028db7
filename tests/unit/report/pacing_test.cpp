// SPDX-License-Identifier: BSD-3-Clause
// Pacing in the report: from what the leader leaves to figures, and to text (golden/pacing-*.txt, UPDATE_GOLDEN=1 rewrites them).
#include "policy/report/pacing_accounts.h"

#include <cstdlib>
#include <fstream>
#include <limits>

#include <gtest/gtest.h>

#include "policy/base/text.h"
#include "policy/report/analysis.h"
#include "policy/report/text.h"
#include "tests/doubles/paths.h"
#include "tests/unit/report/synthetic.h"

namespace paced::report {
namespace {

using pacing::Ended;
using ClassAccount = pacing::Conductor::ClassAccount;

pacing::Setting setting(pacing::Arm arm) {
    pacing::Setting made;
    made.arm = arm;
    return made;
}
pacing::Setting admit(std::uint32_t width) {
    pacing::Setting made = setting(pacing::Arm::admit);
    made.width = width;
    made.cap_ns = 60'000'000;
    return made;
}

pacing::Trial trial(const pacing::Setting& tried, std::uint32_t pairs, std::uint64_t first, std::uint64_t decided, Ended ended, double probe, double low, double high) {
    pacing::Trial made;
    made.setting = tried;
    made.pairs = made.blocks = pairs;
    made.first_iteration = first;
    made.decided_iteration = decided;
    made.engaged_iteration = ended == Ended::engaged ? decided : 0;
    made.ended = ended;
    made.probe_gain = probe;
    made.probe_low = low;
    made.probe_high = high;
    return made;
}

// Four pairs of ranks across the leaves, paced; of 2,000 iterations.
ClassAccount engaged_class() {
    ClassAccount made;
    made.signature = 7;
    made.bytes = 131072;
    made.facts.communicators = 4;
    made.facts.size = 2;
    made.facts.crosses = true;
    pacing::Account& account = made.account;
    account.trials[0] = trial(admit(1), 11, 24, 212, Ended::engaged, 22.1, 6.4, 41.2);
    pacing::Trial& engaged = account.trials[0];
    engaged.blocks = 180;
    engaged.gain = 21.4;
    engaged.gain_low = 17.9;
    engaged.gain_high = 25.1;
    engaged.holdout_blocks = 31;
    engaged.mean_ms = 96.2;
    engaged.cv = .09;
    engaged.off_mean_ms = 122;
    engaged.off_cv = .61;
    engaged.held_ms = 8.1;
    account.trials[1] = trial(admit(2), 6, 900, 1010, Ended::loses, -4.2, -9.9, std::numeric_limits<double>::infinity());
    account.trials[1].held_ms = 4;
    account.count = 2;
    account.iterations = 2000;
    account.blocks = 246;
    account.void_blocks = 3;
    account.probe_cost_ms = 410;
    account.total_ms = 201'000;
    account.state = Ended::engaged;
    account.engaged = admit(1);
    return made;
}

// Eight ranks, barriers; nothing was to be gained.
ClassAccount quiet_class() {
    ClassAccount made;
    made.signature = 9;
    made.facts.communicators = 1;
    made.facts.size = 8;
    made.account.trials[0] = trial(setting(pacing::Arm::hold_local), 9, 40, 180, Ended::no_gain, .1, -.8, 1.0);
    made.account.trials[1] = trial(admit(1), 4, 400, 460, Ended::loses, -3, -8, -1);
    made.account.count = 2;
    made.account.iterations = 2000;
    made.account.blocks = 250;
    made.account.probe_cost_ms = 120;
    made.account.total_ms = 201'000;
    made.account.state = Ended::no_gain;
    return made;
}

testing::Program pairs() {
    testing::Program program;
    program.groups = 4;
    program.bytes = 131072;
    return program;
}

std::vector<JobPlan> paced_plans(const testing::Program& program) {
    std::vector<JobPlan> plans = testing::plans_for(program);
    for (JobPlan& plan : plans) {
        plan.policy.mode = {"pace", "flag --paced-fabric"};
        plan.policy.mode_run = "pace";
        plan.policy.longest_delay = "100ms";
        plan.policy.exploration_percent = 0.5;
        plan.policy.pacing = {"", "built-in"};
    }
    return plans;
}

Report report_of(std::vector<ClassAccount> classes, const testing::Program& program = pairs(), const std::vector<JobPlan>& plans = paced_plans(pairs())) {
    Trace trace = testing::play(program).trace;
    PacingTrace& pacing = trace.pacing.emplace();
    pacing.finished = true;
    pacing.nodes = pacing.most_nodes = 8;
    pacing.messages = 1400;
    pacing.bytes = 210'000;
    pacing.classes = std::move(classes);
    return analyse(trace, plans);
}

void expect_golden(const std::string& name, const std::vector<std::string>& lines) {
    for (const std::string& line : lines) {
        EXPECT_LE(line.size(), 100u) << line;
        EXPECT_FALSE(line.ends_with(' ')) << line;
    }
    const auto file = test::source_dir() / "tests/unit/report/golden" / name;
    const std::string text = join(lines, "\n") + '\n';
    if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(file, std::ios::binary) << text;
    EXPECT_EQ(text, test::read_file(file)) << name;
}

// The text of everything under the label, on one line.
std::string said(const std::vector<std::string>& lines, std::string_view label) {
    std::string text;
    bool within = false;
    for (const std::string& line : lines) {
        if (line.size() > 2 && line[2] != ' ') within = line.substr(2).starts_with(label);
        if (within) text += (text.empty() ? "" : " ") + std::string(trim(std::string_view(line).substr(14)));
    }
    return text;
}
std::string paced(const Report& report, Level level = Level::summary) { return said(report_lines(report, level, ""), "pacing"); }

TEST(PacingReport, ClassesAreNamedInWords) {
    const Report report = report_of({engaged_class(), quiet_class(), quiet_class()});
    ASSERT_TRUE(report.pacing);
    ASSERT_EQ(report.pacing->classes.size(), 3u);
    EXPECT_EQ(report.pacing->classes[0].label, "4 communicators of 2 ranks, allreduce 128 KiB, across leaves");
    EXPECT_EQ(report.pacing->classes[0].engaged, "admit:1");
    EXPECT_EQ(report.pacing->classes[0].state, "engaged");
    EXPECT_EQ(report.pacing->classes[1].label, "1 communicator of 8 ranks");  // no record shows its operation
    EXPECT_EQ(report.pacing->classes[2].label, "1 communicator of 8 ranks (2)");
    EXPECT_EQ(report.pacing->classes[1].engaged, "");
    ASSERT_EQ(report.arms.size(), 6u);
    EXPECT_EQ(report.arms[4].label, "1 communicator of 8 ranks (2)");
}

TEST(PacingReport, TheGainIsThatOfTheHoldout) {
    const Report report = report_of({engaged_class()});
    const Arm& arm = report.arms.at(0);
    EXPECT_EQ(arm.arm, "admit");
    EXPECT_EQ(arm.setting, "admit:1");
    EXPECT_EQ(arm.engaged_at_iteration, 212u);
    EXPECT_EQ(arm.gain, (Gain{21.4, 17.9, 25.1}));
    EXPECT_EQ(arm.probe, (Gain{22.1, 6.4, 41.2}));
    EXPECT_EQ(report.arms.at(1).engaged_at_iteration, std::nullopt);
    EXPECT_EQ(report.arms.at(1).gain, std::nullopt);
    EXPECT_EQ(report.arms.at(1).probe->low, -9.9);
    EXPECT_GE(report.arms.at(1).probe->high, 1e5);  // not known, and JSON has no infinity
}

// One block has no interval: nothing is claimed, and the probe's gain is never put in its place.
TEST(PacingReport, WithoutAnIntervalNothingIsClaimed) {
    ClassAccount account = engaged_class();
    account.account.trials[0].holdout_blocks = 1;
    const Report report = report_of({account});
    EXPECT_EQ(report.arms.at(0).gain, std::nullopt);
    const std::string text = paced(report);
    EXPECT_NE(text.find("No gain is claimed"), std::string::npos) << text;
    EXPECT_EQ(text.find("+21.4%"), std::string::npos) << text;
}

TEST(PacingReport, AGainThatMayBeNoneIsSaidToBe) {
    ClassAccount account = engaged_class();
    account.account.trials[0].gain_low = -.2;
    EXPECT_NE(paced(report_of({account})).find("too little to be sure of"), std::string::npos);
}

TEST(PacingReport, PermitsThatCameTooLateAreSaid) {
    ClassAccount account = engaged_class();
    account.account.trials[0].held_calls = 5000;
    account.account.trials[0].timeouts = 50;
    EXPECT_EQ(paced(report_of({account})).find("deadline"), std::string::npos);
    account.account.trials[0].timeouts = 700;
    const Report report = report_of({account});
    EXPECT_EQ(report.arms.at(0).timeouts, 700u);
    EXPECT_EQ(report.arms.at(0).held_calls, 5000u);
    EXPECT_NE(paced(report).find("Of 5000 delays 700 ended by their deadline alone"), std::string::npos) << paced(report);
}

TEST(PacingReport, ALoopThatWasComeBackToSaysSo) {
    ClassAccount account = engaged_class();
    account.account.resumed = 3;
    EXPECT_TRUE(paced(report_of({account}), Level::summary).find("The program left this loop and came back to it 3 times") != std::string::npos);
    EXPECT_EQ(report_of({account}).pacing->classes[0].resumed, 3);
}

TEST(PacingReport, ASettingFromTheStartHasNoRounds) {
    std::vector<JobPlan> plans = paced_plans(pairs());
    for (JobPlan& plan : plans) plan.policy.pacing = {"method=fixed arm=admit:1", "a policy"};
    ClassAccount account = engaged_class();
    account.account.count = 1;
    const std::string text = paced(report_of({account}, pairs(), plans));
    EXPECT_NE(text.find("one setting from the start, for a benchmark, and nothing is claimed one communicator at a time (admit:1), 180 blocks: iterations of 96.2 ms, CV .090, "
                        "a rank held for 8.10 ms of an iteration in the mean"), std::string::npos) << text;
    EXPECT_EQ(text.find("rounds"), std::string::npos) << text;
}

TEST(PacingReport, ACliffCell) {
    const Report report = report_of({engaged_class()});
    expect_golden("pacing-engaged.txt", report_lines(report, Level::summary, "/home/ada/paced-42.json"));
    EXPECT_LE(report_lines(report, Level::summary, "").size(), 34u);
}

TEST(PacingReport, ACellWithNothingToGainIsOneSentence) {
    const Report report = report_of({quiet_class()});
    expect_golden("pacing-no-gain.txt", report_lines(report, Level::summary, ""));
    EXPECT_EQ(paced(report), "1 communicator of 8 ranks: not paced, nothing to be gained: 2 settings tried in 13 blocks, none proved a gain. "
                             "The experiments cost 0.06% of the time");
    expect_golden("pacing-no-gain-full.txt", report_lines(report, Level::full, ""));
}

TEST(PacingReport, SaysWhyItEndedWhereItDid) {
    const auto of = [](Ended state, std::uint32_t trials, Ended last = Ended::no_gain) {
        ClassAccount account = quiet_class();
        account.account.state = state;
        account.account.count = trials;
        account.account.trials[0].ended = last;
        account.account.probe_cost_ms = -1;
        return paced(report_of({account}));
    };
    const std::string start = "1 communicator of 8 ranks: ", end = ". The experiments cost nothing";
    EXPECT_EQ(of(Ended::straggler, 0), start + "left alone, since one rank is late again and again: delaying the others would not help");
    EXPECT_EQ(of(Ended::fault, 1), start + "switched off after something unexpected" + end);
    EXPECT_EQ(of(Ended::not_applicable, 0), start + "left alone: none of the ways to pace it applies here");
    EXPECT_EQ(of(Ended::no_gain, 0), start + "not paced: nothing to be gained showed in 250 blocks of iterations, so nothing was tried");
    EXPECT_EQ(of(Ended::finished, 0), start + "not paced: the job ended before the first experiment could begin, after 2000 iterations");
    EXPECT_EQ(of(Ended::running, 1, Ended::running), start + "not paced: the job ended before the first experiment was decided" + end);
    EXPECT_EQ(of(Ended::running, 2, Ended::running), start + "not paced: the job ended amid the experiments: 2 settings tried in 13 blocks, none proved a gain" + end);
    ClassAccount competing = quiet_class();  // settings of one arm, none of them given up yet
    competing.account.state = competing.account.trials[0].ended = competing.account.trials[1].ended = Ended::finished;
    competing.account.probe_cost_ms = -1;
    EXPECT_EQ(paced(report_of({competing})), start + "not paced: the job ended before the first experiment was decided" + end);
    EXPECT_EQ(of(Ended::budget, 1), start + "not paced: the experiments had cost what they may: 1 setting tried in 9 blocks, none proved a gain" + end);
    ClassAccount waiting = quiet_class();
    EXPECT_EQ(of(Ended::finished, 2, Ended::no_gain).find("amid"), std::string::npos);
    EXPECT_EQ(of(Ended::finished, 2, Ended::finished), start + "not paced: the job ended amid the experiments: 2 settings tried in 13 blocks, none proved a gain" + end);
    EXPECT_EQ(of(Ended::moved_on, 0), start + "not paced: after 2000 iterations the program went on to another loop");
    waiting.account = {};
    EXPECT_EQ(paced(report_of({waiting})), start + "not paced: its turn did not come, one class is tried at a time");

    ClassAccount gone = engaged_class();
    gone.account.state = Ended::no_gain;
    gone.account.engaged = {};
    gone.account.trials[0].ended = Ended::no_gain;
    gone.account.trials[0].decided_iteration = 1700;
    const std::string text = paced(report_of({gone}));
    EXPECT_NE(text.find("paced for a while from iteration 212 on, then let go (no gain): one communicator at a time"), std::string::npos) << text;
}

// Two blocks have an interval by the book, and it may say nothing.
TEST(PacingReport, AnIntervalThatSaysNothingIsNoFact) {
    ClassAccount account = engaged_class();
    account.account.trials[0].gain_low = -84.3;
    account.account.trials[0].gain_high = 758;
    account.account.trials[0].holdout_blocks = 2;
    account.account.trials[0].probe_low = -70;
    account.account.trials[0].probe_high = 400;
    const Report report = report_of({account});
    const std::string text = paced(report);
    EXPECT_NE(text.find("The gain is not known: the 2 blocks without pacing in between are too few, or differ too much, to tell"), std::string::npos) << text;
    EXPECT_EQ(text.find("without it"), std::string::npos) << text;
    for (const std::string& line : report_lines(report, Level::full, "")) {
        EXPECT_EQ(line.find("758"), std::string::npos) << line;
        EXPECT_EQ(line.find("400%"), std::string::npos) << line;
    }
}

// After a kill the account is some seconds old, and what was running then is said to be.
// The job was paced all the time: what the first setting gained is not lost because another one took over.
TEST(PacingReport, AReplacedSettingKeepsItsClaim) {
    ClassAccount account = engaged_class();
    account.account.trials[0].ended = Ended::replaced;
    account.account.trials[0].decided_iteration = 1500;
    account.account.trials[1] = trial(admit(2), 6, 900, 1500, Ended::engaged, 3, 1, 5);
    account.account.engaged = admit(2);
    const std::string text = paced(report_of({account}));
    EXPECT_NE(text.find("paced from iteration 212 on, since iteration 1500 two communicators at a time (admit:2). No gain is claimed: too few blocks without pacing came after that"), std::string::npos) << text;
    EXPECT_NE(text.find(". Before, with admit:1, a gain in throughput +21.4% (95% interval +17.9% to +25.1%), measured against 31 blocks without pacing in between"), std::string::npos) << text;
    account.account.trials[1].gain = 20;
    account.account.trials[1].gain_low = 12;
    account.account.trials[1].gain_high = 29;
    account.account.trials[1].holdout_blocks = 4;
    const std::string known = paced(report_of({account}));
    EXPECT_NE(known.find("Gain in throughput +20.0%"), std::string::npos) << known;
    EXPECT_EQ(known.find("Before"), std::string::npos) << known;
}

TEST(PacingReport, WhatWasStillRunning) {
    ClassAccount account = quiet_class();
    account.account.trials[1].ended = account.account.state = Ended::running;
    EXPECT_EQ(report_of({account}).arms.at(1).ended, "job ended");
    Trace trace = testing::play(pairs()).trace;
    trace.pacing.emplace().classes = {account};
    const Report killed = analyse(trace, paced_plans(pairs()));
    EXPECT_EQ(killed.arms.at(1).ended, "running");
    EXPECT_NE(paced(killed).find("as it stood some seconds before the step was killed"), std::string::npos);
}

TEST(PacingReport, NothingLeftAndNothingToPace) {
    Report report = report_of({});
    EXPECT_EQ(paced(report), "nothing was paced: no communicator repeats the same collectives in a way that can be measured");
    report.pacing.reset();
    EXPECT_EQ(paced(report), "nothing is known of it: the step's first node left no account that can be read");
    report.policy.mode_run = "observe";
    EXPECT_EQ(paced(report), "");
}

TEST(PacingReport, FaultsAreWarnings) {
    Trace trace = testing::play(pairs()).trace;
    trace.pacing.emplace();
    trace.pacing->faults = {{12'300'000'000, "node n5 fell silent: off"}};
    trace.pacing->all_faults = 3;
    const Report report = analyse(trace, paced_plans(pairs()));
    EXPECT_EQ(report.warnings, (std::vector<std::string>{"pacing: node n5 fell silent: off, 12.3 s after the start", "pacing: and 2 more faults"}));
    EXPECT_NE(paced(report).find("nothing was paced"), std::string::npos);
}

TEST(PacingReport, AStragglerIsLeftAloneAndNamed) {
    testing::Program program = pairs();
    program.groups = 1;
    program.straggler = 5;
    program.straggler_ms = 20;
    ClassAccount account = quiet_class();
    account.account.count = 0;
    account.account.state = Ended::straggler;
    const std::string text = said(report_lines(report_of({account}, program, paced_plans(program)), Level::summary, ""), "straggler");
    EXPECT_TRUE(text.starts_with("rank 5 on n6 arrives last in ")) << text;
    EXPECT_TRUE(text.ends_with("Pacing leaves it alone: delaying the others would not help it. Look at n6")) << text;
}

// A comparison lists its blocks, spelled as the policy spells arms; a job under the law drags none along.
TEST(PacingReport, BlocksOfAComparison) {
    Trace trace = testing::play(pairs()).trace;
    PacingTrace& pacing = trace.pacing.emplace();
    pacing.finished = true;
    pacing.classes = {engaged_class()};
    for (std::uint32_t i = 0; i < 3; ++i) {
        pacing::BlockLine line;
        line.signature = 7;
        line.bytes = 131072;
        line.round = i / 2;
        line.iterations = 8;
        line.valid = i == 1 ? 3 : i == 2 ? 0 : 1;
        line.ran = i == 0 ? pacing::Setting{} : admit(i);
        line.mean_ns = 1e8;
        line.log_mean = 18.4;
        line.cv = .5;
        pacing.blocks.push_back(line);
    }
    pacing.all_blocks = 3;
    std::vector<JobPlan> plans = paced_plans(pairs());
    EXPECT_TRUE(analyse(trace, plans).blocks.empty());
    for (JobPlan& plan : plans) plan.policy.pacing = {"method=comparison arms=off,ours,admit:2", "/etc/paced-fabric/policy.toml"};
    const Report report = analyse(trace, plans);
    ASSERT_EQ(report.blocks.size(), 3u);
    EXPECT_EQ(report.blocks[0], (PacedBlock{"4 communicators of 2 ranks, allreduce 128 KiB, across leaves", "off", 0, 8, 100, 18.4, .5, true}));
    EXPECT_EQ(report.blocks[1].arm, "ours");
    EXPECT_TRUE(report.blocks[1].valid);
    EXPECT_EQ(report.blocks[2].arm, "admit:2");
    EXPECT_EQ(report.blocks[2].round, 1u);
    EXPECT_FALSE(report.blocks[2].valid);
    expect_golden("pacing-comparison.txt", report_lines(report, Level::summary, ""));
    const auto again = parse_report(to_json(report));
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->blocks, report.blocks);
}

TEST(PacingReport, JsonRoundTrips) {
    const Report report = report_of({engaged_class(), quiet_class()});
    const std::string json = to_json(report);
    const auto again = parse_report(json);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->arms, report.arms);
    EXPECT_EQ(again->pacing, report.pacing);
    EXPECT_EQ(again->policy, report.policy);
    EXPECT_EQ(to_json(*again), json);
    EXPECT_EQ(report_lines(*again, Level::full, ""), report_lines(parse_report(to_json(*again)).value(), Level::full, ""));
    EXPECT_EQ(paced(*again, Level::full), paced(report, Level::full));  // everything in the text comes from the JSON
}

TEST(PacingHead, SaysWhatWillBeDone) {
    JobPlan plan = paced_plans(pairs()).front();
    const auto head = [&] { return said(head_lines(plan, Level::summary), "pacing"); };
    EXPECT_EQ(head(), "paces where it measurably helps, else steps aside; delays of one collective stay under 100ms, experiments may cost 0.5% of the time");
    plan.policy.pacing = {"least_pairs=6", "/etc/paced-fabric/policy.toml"};
    EXPECT_TRUE(head().ends_with("set in /etc/paced-fabric/policy.toml: least_pairs=6")) << head();
    plan.policy.pacing.value = "method=fixed arm=barrier";
    EXPECT_EQ(head(), "a benchmark runs instead of the law and may slow this job down (/etc/paced-fabric/policy.toml): method=fixed arm=barrier");
    plan.policy.exploration_percent = 0;
    plan.policy.pacing = {"exploration_percent=0", "built-in"};
    EXPECT_EQ(head(), "nothing is paced, since experiments may cost nothing (exploration_max_percent 0)");
    plan.policy.longest_delay = "0";
    EXPECT_EQ(head(), "nothing is paced, since no delay is allowed (window 0 or window_max 0)");
    plan.policy.mode_run = "observe";
    EXPECT_EQ(head(), "");
}

TEST(PacingWords, SettingsAreSpelledAsThePolicySpellsThem) {
    pacing::Setting made = setting(pacing::Arm::rate);
    made.rate_bytes_s = 3'125'000;
    EXPECT_EQ(spelling_of(made), "rate:25mbit");
    EXPECT_EQ(meaning_of(made), "each socket at most 25 Mbit/s");
    made.rate_bytes_s = 156'250;
    EXPECT_EQ(spelling_of(made), "rate:1.25mbit");
    made = setting(pacing::Arm::fixed_delay);
    made.delay_ns = 500'000;
    made.threshold_ns = 300'000;
    EXPECT_EQ(spelling_of(made), "fixed-delay:500us:300us");
    made = setting(pacing::Arm::slots);
    made.delay_ns = 10'000'000;
    EXPECT_EQ(spelling_of(made), "slots:10ms");
    EXPECT_EQ(meaning_of(made), "one after another, 10.0 ms apart");
    EXPECT_EQ(spelling_of(admit(2)), "admit:2");
    EXPECT_EQ(meaning_of(admit(2)), "two communicators at a time");
    EXPECT_EQ(meaning_of(admit(12)), "12 communicators at a time");
    for (std::uint32_t arm = 0; arm < pacing::arm_count; ++arm) {
        EXPECT_NE(meaning_of(setting(static_cast<pacing::Arm>(arm))), "unknown") << arm;
        EXPECT_TRUE(spelling_of(setting(static_cast<pacing::Arm>(arm))).starts_with(pacing::name_of(static_cast<pacing::Arm>(arm))));
    }
}

}  // namespace
}  // namespace paced::report
