// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/usage.h"

#include <iostream>

#include <CLI/CLI.hpp>

#include "launcher/commands.h"
#include "policy/base/text.h"

namespace paced::launcher {

namespace {

// The innermost subcommand on the command line: the one that the error and the help are about.
const CLI::App& innermost(const CLI::App& app) {
    const auto chosen = app.get_subcommands();
    return chosen.empty() ? app : innermost(*chosen.back());
}

std::string full_name(const CLI::App& app) {
    return app.get_parent() == nullptr ? app.get_name() : full_name(*app.get_parent()) + ' ' + app.get_name();
}

// What could have stood in place of a word: a flag for a flag, a subcommand otherwise.
std::vector<std::string> possible_words(const CLI::App& app, bool flags) {
    std::vector<std::string> words;
    if (flags)
        for (const CLI::Option* option : app.get_options())
            for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
    else
        for (const CLI::App* command : app.get_subcommands({})) words.push_back(command->get_name());
    return words;
}

class Formatter : public CLI::Formatter {
public:
    Formatter() { column_width(30); }

    std::string make_usage(const CLI::App* app, std::string) const override {
        std::string usage = "\nUsage: " + full_name(*app);
        if (!app->get_subcommands({}).empty()) usage += " COMMAND";
        for (const CLI::Option* positional : app->get_options([](const CLI::Option* option) { return option->get_positional(); }))
        {
            const std::string name = positional->get_name(true) + (positional->get_expected_max() > 1 ? "…" : "");
            usage += positional->get_required() ? ' ' + name : " [" + name + ']';
        }
        if (app->get_options().size() > app->get_options([](const CLI::Option* option) { return option->get_positional(); }).size() + 1)
            usage += " [flags]";  // more than --help
        if (app->get_name() == "run") usage += " [--] CMD…";  // which CLI11 never sees
        return usage + "\n";
    }

    // without the default value in braces that CLI11 puts behind a flag
    std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
        if (is_positional) return option->get_name(true);
        std::string names;
        for (const std::string& name : option->get_snames()) names += '-' + name + ", ";
        for (const std::string& name : option->get_lnames()) names += "--" + name + ", ";
        return names.substr(0, names.size() - 2);
    }

    // type names that begin with '=' or '[=' follow the flag at once
    std::string make_option_opts(const CLI::Option* option) const override {
        const std::string type = option->get_type_name();
        if (type.empty() || option->get_type_name() == "BOOLEAN") return {};
        return type.starts_with('=') || type.starts_with("[=") ? type : ' ' + type;
    }
};

}  // namespace

int tell_commands(const CLI::App& program) {
    std::cerr << innermost(program).help();
    return exit_usage;
}

std::shared_ptr<CLI::FormatterBase> help_formatter() { return std::make_shared<Formatter>(); }

int tell(const CLI::App& program, const CLI::ParseError& outcome) {
    if (outcome.get_exit_code() == 0) return program.exit(outcome);  // --help, --version

    const CLI::App& app = innermost(program);
    std::string message = outcome.what();
    std::vector<std::string> hints;
    if (const auto extras = program.remaining(true); outcome.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError) && !extras.empty()) {
        const std::string& argument = extras.front();
        const std::string word = argument.substr(0, argument.find('='));
        const bool flag = word.starts_with('-');
        const auto words = possible_words(app, flag);
        const std::vector<std::string_view> views(words.begin(), words.end());
        message = (flag ? "unknown flag '" : views.empty() ? "unexpected argument '" : "unknown command '") + word + '\'';
        if (const auto near = did_you_mean(word, views)) hints.push_back("did you mean '" + *near + "'?");
    }
    hints.push_back('\'' + full_name(app) + " --help' shows what there is");
    std::cerr << full_name(app) << ": " << message << '\n';
    for (const std::string& hint : hints) std::cerr << "    hint: " << hint << '\n';
    return exit_usage;
}

}  // namespace paced::launcher
