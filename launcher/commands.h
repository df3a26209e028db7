// SPDX-License-Identifier: BSD-3-Clause
// The commands of `paced`. Each lives in a file of its own, which adds its subcommand and options to the program and,
// where that subcommand is the one on the command line, leaves what is to be done in `chosen`:
//
//   void add_topo(CLI::App& program, Chosen& chosen) {
//       CLI::App* command = program.add_subcommand("topo", "Show a node's topology");
//       auto options = std::make_shared<TopoOptions>();           // lives as long as the closures
//       command->add_option("FILE", options->file, "...");
//       command->callback([&chosen, options] { chosen = [options] { return topo(*options); }; });
//   }
//
// main() parses, then runs `chosen` outside of the parser and returns its exit code. Results go to stdout,
// everything else to stderr. A new command: its file, its line here, in main.cpp and in CMakeLists.txt.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace paced::launcher {

inline constexpr int exit_done = 0;
inline constexpr int exit_wrong_input = 1;         // diagnostics on stderr
inline constexpr int exit_usage = 2;               // the command line makes no sense
inline constexpr int exit_surroundings_failed = 3; // a file cannot be read, and the like

using Chosen = std::function<int()>;

void add_plan(CLI::App& program, Chosen& chosen);
void add_policy(CLI::App& program, Chosen& chosen);
void add_report(CLI::App& program, Chosen& chosen);
void add_simulate(CLI::App& program, Chosen& chosen);
void add_topo(CLI::App& program, Chosen& chosen);
// command: what stands behind the flags of `paced run`, see split_off_command().
void add_run(CLI::App& program, Chosen& chosen, std::vector<std::string> command);

// `paced run [flags] [--] CMD…`: takes CMD… off the arguments, since what it says is not for our parser. Flags have
// their values behind a '=', so the first word without a dash begins it.
std::vector<std::string> split_off_command(std::vector<std::string>& arguments);

}  // namespace paced::launcher
