// SPDX-License-Identifier: BSD-3-Clause
// `paced-fabric-helper finish`: what the ranks left in the run folder becomes the report.
#include <algorithm>
#include <ctime>
#include <optional>
#include <utility>

#include <unistd.h>

#include "plugin/helper/answer.h"
#include "plugin/helper/verbs.h"
#include "plugin/step/report_file.h"
#include "plugin/step_environment.h"
#include "policy/io/segment_reader.h"
#include "policy/io/text_file.h"
#include "policy/report/analysis.h"
#include "policy/report/text.h"

namespace paced::helper {

namespace {

// A recorded call is two clock reads and some stores; tests/bench holds it under 1.5 times the reads. The reads are
// timed here, on a node of the job: the quickest of some rounds, the others were interrupted.
double recorder_ns_per_call() {
    constexpr int rounds = 8, reads = 2'000;
    double best_ns = 1e12;
    for (int round = 0; round < rounds; ++round) {
        timespec begin{}, end{};
        clock_gettime(CLOCK_MONOTONIC, &begin);
        for (int i = 0; i < reads; ++i) clock_gettime(CLOCK_MONOTONIC, &end);
        const double ns = static_cast<double>(end.tv_sec - begin.tv_sec) * 1e9 + static_cast<double>(end.tv_nsec - begin.tv_nsec);
        best_ns = std::min(best_ns, ns);
    }
    return 1.5 * 2 * best_ns / reads;
}

report::Level level_of(const std::vector<report::JobPlan>& plans) {
    if (plans.empty()) return report::Level::summary;
    const auto wanted = config::parse_report(plans.front().policy.report.value);
    return wanted ? wanted->level : report::Level::summary;
}

// with_head: the plan first, where nobody has shown it at the start (`paced run`).
std::vector<std::string> make_report(const std::string& run_dir, bool with_head) {
    Result<report::Trace> trace = io::read_run_folder(run_dir);
    if (!trace) return {"paced-fabric: no report: " + trace.error().message};

    std::vector<std::string> unread;
    const std::vector<report::JobPlan> plans = plans_of(*trace, unread);
    trace->warnings.insert(trace->warnings.end(), unread.begin(), unread.end());
    report::Report report = analyse(*trace, plans, {.recorder_ns_per_call = recorder_ns_per_call()});

    std::string path = plans.empty() ? std::string() : plans.front().report_path;
    std::optional<std::string> problem;
    if (!path.empty()) {
        const std::string json = to_json(report);
        problem = step::replace_file(path, json, 0666);
        // The log shows the figures as the file has them, rounded once: `paced report` shows the same then.
        if (auto as_written = report::parse_report(json)) report = std::move(*as_written);
    }
    if (problem) path.clear();
    const report::Level level = level_of(plans);
    std::vector<std::string> lines;
    if (with_head && !plans.empty()) lines = head_lines(report, level);
    for (std::string& line : report_lines(report, level, path)) lines.push_back(std::move(line));
    if (level == report::Level::none && !path.empty()) lines.push_back("paced-fabric: the report is " + path);
    if (problem) lines.push_back("paced-fabric: " + *problem);
    return lines;
}

}  // namespace

int finish(const Environment& environment, bool plainly) {
    const std::string run_dir = environment.get_or(step::run_dir, "");
    const std::vector<std::string> lines =
        run_dir.empty() ? std::vector<std::string>{"paced-fabric: no report: PACED_FABRIC_STEP_RUN_DIR is not set"} : make_report(run_dir, plainly);
    if (plainly) {
        std::string text;
        for (const std::string& line : lines) (text += line) += '\n';
        return io::write_all(STDERR_FILENO, text) ? 0 : 3;
    }
    Answer answer;
    answer.log(lines);
    return io::write_all(STDOUT_FILENO, answer.text()) ? 0 : 3;
}

}  // namespace paced::helper
