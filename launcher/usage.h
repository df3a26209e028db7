// SPDX-License-Identifier: BSD-3-Clause
// Help, and what is said about a command line that makes no sense.
#pragma once

#include <memory>

namespace CLI {
class App;
class FormatterBase;
class ParseError;
}

namespace paced::launcher {

// Prints help or the error with its hints; the exit code.
int tell(const CLI::App& program, const CLI::ParseError& outcome);

// Nothing on the command line says what to do; the exit code.
int tell_commands(const CLI::App& program);

// How --help looks.
std::shared_ptr<CLI::FormatterBase> help_formatter();

}  // namespace paced::launcher
