// SPDX-License-Identifier: BSD-3-Clause
// Whole reports against files: tests/unit/report/golden/*.{txt,json}. UPDATE_GOLDEN=1 rewrites them; a person looks
// at the difference.
#include "policy/report/text.h"
#include "policy/report/text_table.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>

#include <gtest/gtest.h>

#include "policy/base/text.h"
#include "policy/report/analysis.h"
#include "tests/doubles/paths.h"
#include "tests/unit/report/synthetic.h"

namespace paced::report {
namespace {

using testing::plans_for;
using testing::play;
using testing::Program;

std::filesystem::path golden(const std::string& name) { return test::source_dir() / "tests/unit/report/golden" / name; }

void expect_golden(const std::string& name, const std::string& text) {
    if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(golden(name), std::ios::binary) << text;
    EXPECT_EQ(text, test::read_file(golden(name))) << name;
}

std::string text_of(const std::vector<std::string>& lines) { return lines.empty() ? std::string() : join(lines, "\n") + '\n'; }

void expect_narrow(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) {
        EXPECT_LE(line.size(), 100u) << line;
        EXPECT_FALSE(line.ends_with(' ')) << line;
    }
}

Program straggler() {
    Program program;
    program.buckets = 4;
    program.straggler = 5;
    program.straggler_ms = 20;
    program.clock_offset_ms = 1500;
    program.first_ms = 300;
    return program;
}

JobPlan eight_gpus() {
    JobPlan plan = plans_for(straggler()).front();
    const Binding two[] = {plan.node.bindings[0], plan.node.bindings[1]};
    plan.node.bindings.clear();
    for (int gpu = 0; gpu < 8; ++gpu) {
        Binding binding = two[gpu / 4];
        binding.gpu = binding.task = gpu;
        binding.device.pci[6] = static_cast<char>('0' + gpu);
        binding.candidates.push_back({"0000:11:00.0", "mlx5_7"});
        if (gpu == 7) binding.relation = "SYS";
        plan.node.bindings.push_back(binding);
    }
    plan.node.local_tasks = 8;
    plan.policy.mode = {"pace", "flag --paced-fabric"};
    plan.policy.mode_run = "pace";
    plan.policy.longest_delay = "2ms";
    plan.policy.exploration_percent = 0.5;
    plan.policy.notes = {"window 5ms cut to the site's window_max 2ms (/etc/paced-fabric/policy.toml:31)"};
    plan.fabric.crossings = 8;
    plan.fabric.unknown = {"n9", "n10"};
    plan.kept = {"NCCL_IB_HCA=mlx5_0 is yours and stays"};
    return plan;
}

TEST(Wrapping, ANumberStaysWithItsUnit) {
    using Lines = std::vector<std::string>;
    EXPECT_EQ(wrapped("of the mean rank's 89.1 s, first", 23), (Lines{"of the mean rank's", "89.1 s, first"}));
    EXPECT_EQ(wrapped("about 64 KiB", 8), (Lines{"about", "64 KiB"}));
    EXPECT_EQ(wrapped("it took 12 min 03 s in all", 16), (Lines{"it took", "12 min 03 s in", "all"}));
    EXPECT_EQ(wrapped("all 8 stragglers", 6), (Lines{"all 8", "stragglers"}));  // no unit, though it begins like one
    EXPECT_EQ(wrapped("89.1 s first", 4), (Lines{"89.1 s", "first"}));           // wider than the line
    EXPECT_EQ(wrapped("89.1 s", 4), Lines{"89.1 s"});
    EXPECT_EQ(wrapped("one two three", 7), (Lines{"one two", "three"}));
    EXPECT_EQ(wrapped("/a/long/path then", 5), (Lines{"/a/long/path", "then"}));
}

TEST(HeadText, EightGpusFitTwentyLines) {
    const std::vector<std::string> lines = head_lines(eight_gpus(), Level::summary);
    expect_golden("head-8gpu.txt", text_of(lines));
    expect_narrow(lines);
    EXPECT_LE(lines.size(), 20u);
    expect_golden("head-8gpu-full.txt", text_of(head_lines(eight_gpus(), Level::full)));
    EXPECT_TRUE(head_lines(eight_gpus(), Level::none).empty());
}

// The plan of a step whose nodes were submitted to and fro between the leaves.
JobPlan interleaved() {
    JobPlan plan = plans_for(straggler()).front();
    plan.fabric.leaves = {{"leaf1", {"n1", "n3", "n5", "n7"}}, {"leaf2", {"n2", "n4", "n6", "n8"}}};
    plan.fabric.crossings = 8;
    plan.policy.order = {"ring", "flag --paced-fabric-order"};
    plan.order = {"ring", "flag --paced-fabric-order", {"n1", "n3", "n5", "n7", "n2", "n4", "n6", "n8"}, {{"core", 2, 2, 2}, {"leaf", 2, 8, 2}}, 2, true,
                  false, {}, {"hosts are taken leaf by leaf", "runner-up: the submitted order"}};
    return plan;
}

// The lines with these labels, and those that they run on to.
std::string lines_of(const std::vector<std::string>& lines, std::initializer_list<std::string_view> labels) {
    std::string text;
    bool within = false;
    for (const std::string& line : lines) {
        if (line.size() > 2 && line[2] != ' ')
            within = std::any_of(labels.begin(), labels.end(), [&](std::string_view label) { return line.substr(2).starts_with(label); });
        if (within) text += line + '\n';
    }
    return text;
}

std::string order_lines(const JobPlan& plan, Level level) { return lines_of(head_lines(plan, level), {"order", "reason      order", "note"}); }

TEST(HeadText, AnOrderAppliedKeptOrOnlyShown) {
    JobPlan plan = interleaved();
    plan.policy.bind_applies = plan.policy.order_applies = plan.order.applied = true;
    plan.node.applied = {"UCX_NET_DEVICES", "NVSHMEM_HCA_LIST"};
    std::string text = order_lines(plan, Level::full);
    plan.order.applied = false;
    plan.order.kept_because = "you gave -m, which says how ranks are laid out";
    text += "--\n" + order_lines(plan, Level::summary);
    plan.order.kept_because.clear();
    plan.policy.order = {"ring", "/etc/paced-fabric/policy.toml:12"};
    plan.policy.order_applies = false;
    text += "--\n" + order_lines(plan, Level::summary);
    plan.order = {"none", "built-in", {}, {}, 0, false, false, {}, {}};
    plan.policy.order = {"none", "built-in"};
    text += "--\n" + order_lines(plan, Level::full);
    expect_golden("head-order.txt", text);
}

// The binding is said to be applied where something was handed to a task, and then what it was.
TEST(HeadText, WhatOfTheBindingIsApplied) {
    JobPlan plan = plans_for(straggler()).front();
    plan.policy.bind_applies = true;
    const auto note = [&] { return lines_of(head_lines(plan, Level::summary), {"note"}); };
    EXPECT_EQ(note(), "");
    plan.node.applied = {"UCX_NET_DEVICES", "cores"};
    EXPECT_EQ(note(), "  note        applied: binding (UCX_NET_DEVICES, cores)\n");
    plan.node.applied_to_own_gpu = true;
    EXPECT_EQ(note(), "  note        applied: binding (UCX_NET_DEVICES, cores, where a task has a GPU of its own)\n");
    const Result<JobPlan> back = parse_job_plan(to_json(plan));
    ASSERT_TRUE(back);
    EXPECT_EQ(back->node, plan.node);
}

// From a report: what was applied on any node.
TEST(HeadText, WhatIsAppliedOnSomeNodes) {
    std::vector<JobPlan> plans = plans_for(straggler());
    for (JobPlan& plan : plans) plan.policy.bind_applies = true;
    plans[1].node.applied = {"UCX_NET_DEVICES"};
    plans[2].node.applied = {"UCX_NET_DEVICES", "cores"};
    EXPECT_EQ(lines_of(head_lines(analyse({}, plans), Level::summary), {"note"}), "  note        applied: binding (UCX_NET_DEVICES, cores)\n");
}

TEST(ReportText, TheOrderThatRan) {
    Program program = straggler();
    program.straggler = -1;
    const Trace trace = play(program).trace;  // n1, n2, n3, ...
    std::vector<JobPlan> plans = plans_for(program);
    for (JobPlan& plan : plans) {
        const NodePlan node = plan.node;
        plan = interleaved();
        plan.node = node;
    }
    const auto ran = [&] {
        const Report report = analyse(trace, plans);
        const auto again = parse_report(to_json(report));
        EXPECT_TRUE(again);
        EXPECT_EQ(again->plan, report.plan);
        return lines_of(report_lines(report, Level::summary, ""), {"order", "warning"});
    };
    std::string text = ran();
    for (JobPlan& plan : plans) plan.order.applied = true;
    text += "--\n" + ran();
    for (JobPlan& plan : plans) {
        plan.order.hosts = plan.job.hosts;
        plan.order.levels.back().submitted = 10;
    }
    text += "--\n" + ran();
    expect_golden("order-ran.txt", text);
}

// A ring's steps measure no other traffic: what the head said of the costs is said again where the order ran.
TEST(ReportText, AnOrderForOtherTrafficThanARing) {
    Program program = straggler();
    program.straggler = -1;
    const Trace trace = play(program).trace;  // n1, n2, n3, ...
    std::vector<JobPlan> plans = plans_for(program);
    const auto ran = [&](bool applied, const std::vector<std::string>& hosts, const std::vector<OrderCost>& levels) {
        for (JobPlan& plan : plans) {
            const NodePlan node = plan.node;
            plan = interleaved();
            plan.node = node;
            plan.order.pattern = "alltoall";
            plan.order.applied = applied;
            plan.order.hosts = hosts;
            plan.order.levels = levels;
        }
        return lines_of(report_lines(analyse(trace, plans), Level::summary, ""), {"order"});
    };
    const std::vector<std::string> as_ran = plans.front().job.hosts, other = interleaved().order.hosts;
    const std::vector<OrderCost> levels{{"core", 0, 0, 0}, {"leaf", 16, 32, 16}};
    EXPECT_EQ(ran(true, as_ran, levels), "  order       for alltoall, ran as asked for: messages out of the busiest leaf in one step: 32 as\n"
                                         "              submitted, 16 chosen, the fewest possible\n");
    EXPECT_EQ(ran(true, as_ran, {}), "  order       for alltoall, ran as asked for\n");
    EXPECT_EQ(ran(true, other, levels), "  order       for alltoall, did not run as asked for\n");
    EXPECT_EQ(ran(false, as_ran, levels), "");
}

// Only the first node speaks in the head.
TEST(ReportText, WhatIsWrongOnOtherNodes) {
    std::vector<JobPlan> plans = plans_for(straggler());
    const Trace trace = play(straggler()).trace;
    const auto notes = [&] {
        const std::vector<std::string> lines = report_lines(analyse(trace, plans), Level::summary, "");
        expect_narrow(lines);
        return lines_of(lines, {"note        n", "note        and"});
    };
    const std::string nothing_delayed = "  note        nothing was delayed: a collective ends with its last rank, and no gain is claimed\n";
    for (JobPlan& plan : plans) plan.node.notes = {"the link of this NIC is down: mlx5_1"};
    EXPECT_EQ(notes(), nothing_delayed);  // as the head has said
    plans[2].node.notes.push_back("no task is bound: Slurm gave no GPUs");
    plans[6].node.notes = plans[2].node.notes;
    plans[4].node.notes = {};
    plans[5].node.notes = {"this NIC is slower than others as near, and passed over: mlx5_2"};
    EXPECT_EQ(notes(), "  note        n[3,7]: no task is bound: Slurm gave no GPUs\n"
                       "  note        n6: this NIC is slower than others as near, and passed over: mlx5_2\n" +
                           nothing_delayed);
    // The head that is printed with it says the rest, and nothing of this.
    EXPECT_EQ(lines_of(head_lines(analyse(trace, plans), Level::summary), {"note"}),
              "  note        n[1-4,7-8]: the link of this NIC is down: mlx5_1\n");
    EXPECT_EQ(lines_of(report_lines(analyse({}, plans), Level::summary, ""), {"note"}),
              "  note        n[3,7]: no task is bound: Slurm gave no GPUs\n"
              "  note        n6: this NIC is slower than others as near, and passed over: mlx5_2\n");
}

TEST(ReportText, NotesOfManyNodesAreCut) {
    Report report = analyse(play(straggler()).trace, plans_for(straggler()));
    const NodePlan first = report.plan.nodes.front();
    report.plan.nodes = {first};
    for (int i = 2; i <= 12; ++i) {
        report.plan.nodes.push_back(first);
        report.plan.nodes.back().node = "n" + std::to_string(i);
        report.plan.nodes.back().notes = {"wrong in way " + std::to_string(i)};
    }
    const std::string text = text_of(report_lines(report, Level::summary, ""));
    EXPECT_NE(text.find("  note        n9: wrong in way 9\n              and 3 more nodes\n"), std::string::npos) << text;
    EXPECT_EQ(text.find("way 10"), std::string::npos);
}

// Another node's own lines in explain.
TEST(NodeText, ANodeSpeaksOfItsNotesAlone) {
    NodePlan node = eight_gpus().node;
    node.node = "n5";
    node.notes.clear();
    EXPECT_TRUE(node_lines(node).empty());
    node.notes = {"the link of this NIC is down: mlx5_1", "2 tasks for 8 GPUs: which one a task uses is not known, so one that sees them all is not bound"};
    EXPECT_EQ(node_lines(node),
              (std::vector<std::string>{"paced-fabric: n5: the link of this NIC is down: mlx5_1",
                                        "paced-fabric: n5: 2 tasks for 8 GPUs: which one a task uses is not known, so one that sees them",
                                        "  all is not bound"}));
}

TEST(HeadText, ANodeWithoutGpusAndAFabricUnknown) {
    JobPlan plan = plans_for(straggler()).front();
    plan.node.bindings.clear();
    plan.fabric = {};
    plan.fabric.problem = "no topology.conf was found: tried /etc/slurm/topology.conf and /run/slurm/conf/topology.conf";
    expect_golden("head-no-gpus.txt", text_of(head_lines(plan, Level::summary)));
}

TEST(HeadText, NodesWithTheSameTableAreGrouped) {
    std::vector<JobPlan> plans = plans_for(straggler());
    plans[4].node.bindings[1].relation = "SYS";
    plans[6].node.bindings.clear();
    expect_golden("head-differing.txt", text_of(head_lines(analyse({}, plans), Level::summary)));
}

TEST(ReportText, AStraggler) {
    const Report report = analyse(play(straggler()).trace, plans_for(straggler()), {.recorder_ns_per_call = 60});
    const std::vector<std::string> lines = report_lines(report, Level::summary, "/home/ada/paced-42.json");
    expect_golden("straggler.txt", text_of(lines));
    expect_narrow(lines);
    EXPECT_LE(lines.size(), 24u);  // a screen
    expect_golden("straggler.json", to_json(report));
    EXPECT_TRUE(report_lines(report, Level::none, "").empty());
}

TEST(ReportText, ManyRanksShowTheWorst) {
    Program program = straggler();
    program.ranks_per_node = 8;
    program.groups = 8;
    const Report report = analyse(play(program).trace, plans_for(program));
    const std::vector<std::string> lines = report_lines(report, Level::summary, "");
    expect_golden("many-ranks.txt", text_of(lines));
    expect_narrow(lines);
}

TEST(ReportText, ContentionAndFullDetail) {
    Program program;
    program.contended_every = 4;
    program.contended_ms = 40;
    program.epilogue_reduces = 3;
    Trace trace = play(program).trace;
    trace.nodes[1].ranks[0].not_recorded = {{"Ialltoall", 12}, {"Neighbor_allgather", 3}};
    trace.nodes[1].ranks[0].dropped = 2;
    const std::vector<std::string> lines = report_lines(analyse(trace, plans_for(program)), Level::full, "");
    expect_golden("contention-full.txt", text_of(lines));
    expect_narrow(lines);
}

TEST(ReportText, KilledAndSilent) {
    Program program;
    program.killed_after = 30;
    program.silent_rank = 3;
    const std::vector<std::string> lines = report_lines(analyse(play(program).trace, plans_for(program)), Level::summary, "");
    expect_golden("killed.txt", text_of(lines));
    expect_narrow(lines);
}

TEST(ReportText, NothingRecorded) {
    Program program;
    program.iterations = 0;
    expect_golden("no-collectives.txt", text_of(report_lines(analyse(play(program).trace, plans_for(program)), Level::summary, "")));
    expect_golden("nothing.txt", text_of(report_lines(analyse({}, {}), Level::summary, "")));
}

TEST(ReportJson, RoundTrips) {
    const std::string json = test::read_file(golden("straggler.json"));
    const Result<Report> report = parse_report(json);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(to_json(*report), json);
    // the text is made from the JSON alone
    EXPECT_EQ(text_of(report_lines(*report, Level::summary, "/home/ada/paced-42.json")), test::read_file(golden("straggler.txt")));
}

TEST(ReportJson, WhatIsNoReportIsRefused) {
    for (const auto& [json, message] : std::vector<std::pair<std::string, std::string>>{
             {"", "not JSON"},
             {"[1]", "no report of ours: 'schema' is missing"},
             {R"({"schema": 3})", "no report of ours: 'schema' is missing"},
             {R"({"schema": "paced-fabric-report/9"})",
              "schema 'paced-fabric-report/9' is not known here; this program reads 'paced-fabric-report/1'"}}) {
        const Result<Report> report = parse_report(json);
        ASSERT_FALSE(report) << json;
        EXPECT_EQ(report.error().message, message);
    }
    const Result<Report> damaged = parse_report(R"({"schema": "paced-fabric-report/1", "ranks": 7})");
    ASSERT_FALSE(damaged);
    EXPECT_TRUE(damaged.error().message.starts_with("the report is damaged: ")) << damaged.error().message;
    EXPECT_TRUE(parse_report(R"({"schema": "paced-fabric-report/1", "later": {"key": 1}})"));
}

TEST(ReportJson, AnyBytesInNamesAreWritten) {
    Report report;
    report.job.name = "caf\xe9 \"\n";
    const Result<Report> back = parse_report(to_json(report));
    ASSERT_TRUE(back);
    EXPECT_EQ(back->job.name, "caf\xef\xbf\xbd \"\n");
}

TEST(JobPlanJson, RoundTrips) {
    const JobPlan plan = eight_gpus();
    const Result<JobPlan> back = parse_job_plan(to_json(plan));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(*back, plan);
    EXPECT_FALSE(parse_job_plan("{}"));
    EXPECT_FALSE(parse_job_plan(R"({"schema": "paced-fabric-plan/1", "kept": 1})"));
}

}  // namespace
}  // namespace paced::report
