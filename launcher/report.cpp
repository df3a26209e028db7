// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/report.h"

#include <algorithm>
#include <cstdio>
#include <memory>

#include <CLI/CLI.hpp>

#include "launcher/commands.h"
#include "policy/io/text_file.h"
#include "policy/report/text.h"

namespace paced::launcher {

namespace {

void print(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) std::printf("%s\n", line.c_str());
}

}  // namespace

int run_report(const ReportOptions& options) {
    int worst = exit_done;
    std::vector<report::Report> reports;
    for (const std::string& file : options.files) {
        const auto text = io::read_text_file(file);
        if (!text) {
            std::fprintf(stderr, "error: %s\n", text.error().message.c_str());
            worst = std::max(worst, exit_surroundings_failed);
            continue;
        }
        auto report = report::parse_report(*text);
        if (!report) {
            std::fprintf(stderr, "%s: error: %s\n", file.c_str(), report.error().message.c_str());
            worst = std::max(worst, exit_wrong_input);
            continue;
        }
        reports.push_back(std::move(*report));
    }
    if (options.json) {
        const bool several = options.files.size() > 1;
        if (several) std::printf("[\n");
        for (std::size_t i = 0; i < reports.size(); ++i) std::printf("%s%s", i > 0 ? ",\n" : "", to_json(reports[i]).c_str());
        if (several) std::printf("]\n");
        return worst;
    }
    for (std::size_t i = 0; i < reports.size(); ++i) {
        if (i > 0) std::printf("\n");
        print(head_lines(reports[i], report::Level::full));
        print(report_lines(reports[i], report::Level::full, ""));
    }
    return worst;
}

void add_report(CLI::App& program, Chosen& chosen) {
    CLI::App* command = program.add_subcommand("report", "Show JSON reports of jobs as text");
    auto options = std::make_shared<ReportOptions>();
    command->add_option("FILE", options->files, "reports, as --paced-fabric-report=summary,PATH leaves them")->required()->type_name("");
    command->add_flag("--json", options->json, "print JSON: one object, or an array for several files");
    command->callback([&chosen, options] { chosen = [options] { return run_report(*options); }; });
}

}  // namespace paced::launcher
