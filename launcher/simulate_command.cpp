// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <thread>

#include <CLI/CLI.hpp>

#include "launcher/commands.h"
#include "launcher/output.h"
#include "launcher/progress_line.h"
#include "launcher/simulate.h"
#include "policy/base/text.h"
#include "policy/io/text_file.h"

namespace paced::launcher {

namespace {

constexpr long long most_nodes = 1'000'000;
constexpr std::size_t most_bytes = 1 << 20;  // of a scenario: no person writes more

// nullopt: not numbers, or out of range.
std::optional<std::vector<std::uint32_t>> node_counts_of(const std::string& text) {
    std::vector<std::uint32_t> counts;
    for (const std::string_view part : split(text, ',')) {
        const auto count = parse_integer(part);
        if (!count || *count < 1 || *count > most_nodes) return std::nullopt;
        counts.push_back(static_cast<std::uint32_t>(*count));
    }
    std::sort(counts.begin(), counts.end());
    counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
    return counts;
}

std::optional<io::ScenarioFile> read_scenario(const SimulateOptions& options, int& exit_code) {
    const auto text = io::read_text_file(options.file, most_bytes);
    if (!text) {
        std::fprintf(stderr, "error: %s\n", text.error().message.c_str());
        exit_code = exit_surroundings_failed;
        return std::nullopt;
    }
    io::ScenarioOverrides overrides{options.nodes, {}, {}, options.fabric};
    if (options.seeds > 0) overrides.seeds = options.seeds;
    if (options.iterations > 0) overrides.iterations = options.iterations;
    Diagnostics diagnostics;
    auto scenario = io::parse_scenario(*text, options.file, overrides, diagnostics);
    std::fputs(format(diagnostics).c_str(), stderr);
    exit_code = scenario ? exit_done : exit_wrong_input;
    return scenario;
}

}  // namespace

int run_simulate(const SimulateOptions& options) {
    int exit_code = exit_done;
    auto scenario = read_scenario(options, exit_code);
    if (!scenario) return exit_code;

    // Before the work, which may take long.
    std::ofstream page;
    if (!options.html.empty()) page.open(options.html, std::ios::binary | std::ios::trunc);
    const auto page_failed = [&] {
        std::fprintf(stderr, "error: cannot write %s: %s\n", options.html.c_str(), std::strerror(errno));
        return exit_surroundings_failed;
    };
    if (!page) return page_failed();

    const auto runs = options.compare ? runs_of(scenario->scenario, simulation::all_cases) : runs_of(scenario->scenario);
    const std::uint32_t threads = options.jobs > 0 ? options.jobs : std::max(1u, std::thread::hardware_concurrency());
    Simulated simulated{*std::move(scenario), {}};
    {
        ProgressLine progress;
        const auto outcomes = run_all(simulated.file.scenario, runs, threads, [&](double part) { progress.show(part); });
        if (outcomes) {
            simulated.result = summarise(simulated.file.scenario, *outcomes);
        } else {
            std::fprintf(stderr, "error: %s\n", outcomes.error().message.c_str());
            exit_code = exit_surroundings_failed;
        }
    }
    if (exit_code != exit_done) return exit_code;

    if (!options.html.empty() && !(page << simulate_page(simulated) << std::flush)) return page_failed();
    return options.json ? print_result(simulate_json(simulated)) : print_text(simulate_text(simulated));
}

void add_simulate(CLI::App& program, Chosen& chosen) {
    CLI::App* command = program.add_subcommand("simulate", "Predict how a job scales, with and without order and pacing");
    auto options = std::make_shared<SimulateOptions>();
    auto nodes = std::make_shared<std::string>();
    command->add_option("SCENARIO", options->file, "a cluster and a job, as etc/scenarios/*.toml of the source")->required()->type_name("");
    command->add_option("--nodes", *nodes, "sizes to simulate, instead of the scenario's: 4,8,16")->type_name("N,N,...")->check([](const std::string& text) {
        return node_counts_of(text) ? std::string() : "'" + text + "' is no list of numbers from 1 to " + std::to_string(most_nodes) + ", such as 4,8,16";
    });
    command->add_option("--seeds", options->seeds, "runs of each case and size, each with its own chance")->type_name("K")->check(CLI::Range(1, 10'000));
    command->add_option("--iterations", options->iterations, "of each run")->type_name("N")->check(CLI::Range(1, 100'000'000));
    command->add_option("--fabric", options->fabric, "a fabric to use instead of the scenario's: topology.conf, ...")->type_name("FILE");
    command->add_flag("--compare", options->compare, "also what is there to be compared with: pacing without order, the\npaper's recipe, a barrier before every call, an oracle");
    command->add_flag("--json", options->json, "print JSON");
    command->add_option("--html", options->html, "write a page with pictures")->type_name("FILE");
    command->add_option("--jobs", options->jobs, "threads; default: one for each CPU")->type_name("N")->check(CLI::Range(1, 1024));
    command->footer(
        "What comes out is what a model says: docs/simulate.md tells what it knows and what not.\n"
        "\n"
        "  paced simulate etc/scenarios/paper.toml --nodes 4,8,16,32,64 --html paper.html");
    command->callback([&chosen, options, nodes] {
        if (!nodes->empty()) options->nodes = node_counts_of(*nodes).value_or(std::vector<std::uint32_t>{});
        chosen = [options] { return run_simulate(*options); };
    });
}

}  // namespace paced::launcher
