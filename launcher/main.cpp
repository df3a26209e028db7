// SPDX-License-Identifier: BSD-3-Clause
// `paced`: parses the command line and runs the command that it names.
#include <algorithm>

#include <CLI/CLI.hpp>

#include "launcher/commands.h"
#include "launcher/usage.h"

int main(int argc, char** argv) {
    using namespace paced::launcher;
    std::vector<std::string> arguments(argv + 1, argv + std::max(argc, 1));
    std::vector<std::string> command = split_off_command(arguments);

    CLI::App program{"paced-fabric gives each task the GPU, NIC and CPUs that sit together, orders a job's nodes by\nthe switches that they hang on, and records who waits for whom in its collectives. Pacing is not\nthere yet.", "paced"};
    program.set_version_flag("--version", "paced " PACED_FABRIC_VERSION);
    program.footer("Exit codes: 0 done, 1 the input is wrong, 2 usage, 3 the surroundings failed.");
    program.formatter(help_formatter());

    Chosen chosen;
    add_topo(program, chosen);
    add_plan(program, chosen);
    add_policy(program, chosen);
    add_report(program, chosen);
    add_simulate(program, chosen);
    add_run(program, chosen, std::move(command));

    try {
        std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
        program.parse(std::move(arguments));
    } catch (const CLI::ParseError& outcome) {
        return tell(program, outcome);
    }
    return chosen ? chosen() : tell_commands(program);
}
