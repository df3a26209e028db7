// SPDX-License-Identifier: BSD-3-Clause
// `paced-fabric-helper finish` over run folders made here, byte by byte as the interposer leaves them.
#include <cstring>
#include <fstream>
#include <memory>

#include <gtest/gtest.h>
#include <unistd.h>

#include "policy/io/segment.h"
#include "policy/report/job_plan.h"
#include "policy/report/report.h"
#include "tests/doubles/paths.h"
#include "tests/helper/helper_run.h"

namespace paced::test {
namespace {

const std::string helper = bin_dir() / "paced-fabric-helper";

// Two ranks of one node: 40 iterations of an all-reduce; rank 1 comes 5 ms after rank 0, service takes 1 ms.
std::string segment_bytes() {
    auto header = std::make_unique<segment::Header>();
    header->magic = segment::segment_magic;
    header->version = segment::version;
    header->header_bytes = sizeof(segment::Header);
    header->slot_bytes = sizeof(segment::Slot);
    header->slots = 2;
    header->total_bytes = sizeof(segment::Header) + 2 * sizeof(segment::Slot);
    header->claimed = 2;
    std::strcpy(header->node, "n1");
    std::string bytes(reinterpret_cast<const char*>(header.get()), sizeof *header);
    for (int r = 0; r < 2; ++r) {
        auto slot = std::make_unique<segment::Slot>();
        slot->rank.state = segment::State::finished;
        slot->rank.world_rank = r;
        slot->rank.world_size = 2;
        slot->rank.started_ns = 1'000'000'000;
        slot->rank.finished_ns = 2'000'000'000;
        slot->rank.communicators = 1;
        std::strcpy(slot->rank.library, "MPICH 4.0.2");
        segment::Communicator& communicator = slot->communicators[0];
        communicator.id = 7;
        communicator.size = 2;
        communicator.rank = static_cast<std::uint32_t>(r);
        communicator.calls = 40;
        communicator.bytes = 40 * 1024;
        communicator.stride = 1;
        communicator.calls_by_operation[3] = 40;  // allreduce
        slot->owners[0] = segment::owner_of(0, 0);
        for (std::uint32_t i = 0; i < 40; ++i) {
            segment::Record& record = slot->blocks[0][i];
            const std::uint64_t begin = 1'000'000'000 + 20'000'000ULL * i;
            record.arrival_ns = begin + (r == 0 ? 10'000'000 : 15'000'000);
            record.completion_ns = begin + 16'000'000;
            record.bytes = 1024;
            record.sequence_low = i;
            record.operation = 3;
        }
        bytes.append(reinterpret_cast<const char*>(slot.get()), sizeof *slot);
    }
    return bytes;
}

report::JobPlan plan(const std::string& report, const std::string& path) {
    report::JobPlan plan;
    plan.job.id = "42";
    plan.job.step = "0";
    plan.job.hosts = {"n1"};
    plan.job.tasks = 2;
    plan.policy.mode = {"observe", "flag --paced-fabric"};
    plan.policy.mode_run = "observe";
    plan.policy.report = {report, "flag --paced-fabric-report"};
    plan.node.node = "n1";
    plan.report_path = path;
    return plan;
}

class Finish : public ::testing::Test {
protected:
    Said finish(std::vector<std::string> options = {}) {
        std::vector<std::string> command{helper, "finish"};
        command.insert(command.end(), options.begin(), options.end());
        return run(command, {{"PACED_FABRIC_STEP_RUN_DIR", folder_.path()}});
    }
    Folder folder_;
};

constexpr char expected[] =
    "paced-fabric: job 42.0, 2 ranks on 1 node, 1.00 s: what was measured\n"
    "  iterations  39 of 1 collective each: mean 20.0 ms, CV .000, p50 20.0 ms, p99 20.0 ms (by rank 0)\n"
    "  straggler   rank 1 on n1 arrives last in 100% of the late collectives and causes 100% of the\n"
    "              waiting: it costs about 5.00 ms of each iteration (25.0% of the time). Look at n1\n"
    "  time        outside of recorded collectives 82.1%, collectives 5.1%, waiting for persistent\n"
    "              stragglers 12.4%, at the start 0.32% of the mean rank's 784 ms, first to last\n"
    "              collective\n"
    "              point-to-point and non-blocking traffic is not recorded, and is in what is outside\n"
    "  collectives ranks  operations  calls  mean size               p50      p95      p99\n"
    "              0,1    allreduce      40      1 KiB  wait           0  5.00 ms  5.00 ms\n"
    "                                                   service  1.00 ms  1.00 ms  1.00 ms\n"
    "  ranks       rank  node  last in    cost  early by  in collectives\n"
    "                 0  n1         0%       0   5.00 ms           30.5%\n"
    "                 1  n1       100%  195 ms         0            5.1%\n"
    "              last in: of the late ones; cost: time it alone held others up; early by: in the mean\n"
    "  coverage    MPICH 4.0.2, 2 ranks: 80 calls recorded; recording cost <0.01% of the time\n"
    "  note        nothing was delayed: a collective ends with its last rank, and no gain is claimed\n";

std::string as_log(const std::string& text) {
    std::string log;
    std::size_t begin = 0;
    for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) log += "log " + text.substr(begin, end - begin) + '\n';
    return log;
}

TEST_F(Finish, ReportsToTheLogAndTheFile) {
    const std::string json = folder_.path() / "report.json";
    folder_.write("segment", segment_bytes());
    folder_.write("plan.json", to_json(plan("summary," + json, json)));
    const Said said = finish();
    EXPECT_EQ(said.code, 0);
    EXPECT_EQ(said.err, "");
    EXPECT_EQ(said.out, as_log(expected + ("  json        " + json + "\n")) + "end\n");
    const auto report = report::parse_report(read_file(json));
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->ranks.size(), 2u);
    // Plainly, for `paced run`, where nobody has shown the plan yet.
    const Said plain = finish({"--stderr"});
    EXPECT_EQ(plain.out, "");
    EXPECT_EQ(plain.err, "paced-fabric: job 42.0, 2 tasks on 1 node n1: observe (flag --paced-fabric)\n  policy      report summary," + json +
                             " (flag --paced-fabric-report)\n  node        n1: no GPUs, nothing to bind\n" + expected + "  json        " + json + "\n");
}

TEST_F(Finish, AFileThatCannotBeWrittenIsOneLine) {
    folder_.write("segment", segment_bytes());
    const std::string json = folder_.path() / "no/such/folder.json";
    folder_.write("plan.json", to_json(plan("summary", json)));
    EXPECT_EQ(finish().out, as_log(expected + ("paced-fabric: cannot write " + json + ": No such file or directory\n")) + "end\n");
    folder_.write("plan.json", to_json(plan("summary", "/dev/null")));
    EXPECT_EQ(finish().out, as_log(expected + std::string("paced-fabric: cannot write /dev/null: it is not a regular file\n")) + "end\n");
}

TEST_F(Finish, ReportNoneIsQuiet) {
    folder_.write("segment", segment_bytes());
    folder_.write("plan.json", to_json(plan("none", "")));
    EXPECT_EQ(finish().out, "end\n");
    const std::string json = folder_.path() / "report.json";
    folder_.write("plan.json", to_json(plan("none," + json, json)));
    EXPECT_EQ(finish().out, "log paced-fabric: the report is " + json + "\nend\n");
}

// `paced run` may have written no plan.
TEST_F(Finish, WithoutAPlanTheMeasurementStands) {
    folder_.write("segment", segment_bytes());
    const std::string text = finish().out;
    EXPECT_TRUE(text.starts_with("log paced-fabric: 2 ranks on 1 node, 1.00 s: what was measured\n")) << text;
    EXPECT_EQ(text.find("warning"), std::string::npos) << text;
}

TEST_F(Finish, BrokenFilesAreTold) {
    EXPECT_EQ(finish().out, "log paced-fabric: no report: cannot read " + folder_.path().string() + "/segment: No such file or directory\nend\n");
    folder_.write("segment", "PACDSEG1");
    EXPECT_EQ(finish().code, 0);
    std::string cut = segment_bytes();
    cut.resize(cut.size() / 2);
    folder_.write("segment", cut);
    EXPECT_EQ(finish().code, 0);
    EXPECT_TRUE(finish().out.starts_with("log paced-fabric: no report: cannot read ")) << finish().out;
    folder_.write("segment", segment_bytes());
    folder_.write("plan.json", "{\"schema\": 1}");
    folder_.write("node-n2.dump", "PACDDMP1 and then nothing of sense");
    const std::string text = finish().out;
    EXPECT_NE(text.find("log   warning     node n1: plan.json is not a plan of ours\n"), std::string::npos) << text << read_file(folder_.path() / "plan.json");
    EXPECT_NE(text.find("node-n2.dump"), std::string::npos) << text;
    EXPECT_EQ(run({helper, "finish"}, {}).out, "log paced-fabric: no report: PACED_FABRIC_STEP_RUN_DIR is not set\nend\n");
}

TEST_F(Finish, AnyBytesInTheSegmentAreSurvived) {
    const std::string whole = segment_bytes();
    std::uint64_t state = 1;
    const auto random = [&] { return (state = state * 6364136223846793005ULL + 1442695040888963407ULL) >> 33; };
    for (int i = 0; i < 40; ++i) {
        std::string bytes = whole;
        // Mostly where it matters: the header, the ranks and the records
        for (int n = 0; n < 200; ++n) {
            const std::size_t base = random() % 3 == 0 ? 0 : sizeof(segment::Header) + (random() % 2) * sizeof(segment::Slot);
            const std::size_t range = random() % 2 == 0 ? 4096 + 192 : 4096 + 12288 + 40 * 32;
            bytes[(base + 8 + random() % range) % bytes.size()] = static_cast<char>(random());
        }
        folder_.write("segment", bytes);
        const Said said = finish();
        EXPECT_EQ(said.code, 0) << i;
        EXPECT_TRUE(said.out.ends_with("end\n")) << i;
    }
}

}  // namespace
}  // namespace paced::test
