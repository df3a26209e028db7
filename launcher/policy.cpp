// SPDX-License-Identifier: BSD-3-Clause
// `paced policy`: its two subcommands; `check` is here, `explain` in policy_explain.cpp.
#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>

#include "launcher/commands.h"
#include "launcher/policy_explain.h"
#include "policy/base/text.h"
#include "policy/io/site_policy_file.h"

namespace paced::launcher {

namespace {

int check_one(const std::string& file) {
    Diagnostics diagnostics;
    const auto policy = io::read_site_policy(file, diagnostics);
    if (!policy) {
        std::cerr << "error: " << policy.error().message << '\n';
        return exit_surroundings_failed;
    }
    if (policy->file.empty()) {
        std::cerr << "error: cannot read " << file << ": no such file\n";
        return exit_surroundings_failed;
    }
    std::cerr << format(diagnostics);
    if (diagnostics.has_errors()) return exit_wrong_input;
    std::cout << file << ": good, " << count_of(static_cast<long long>(policy->rules.size()), "rule") << ", "
              << count_of(static_cast<long long>(policy->policies.size()), "named policy", "named policies");
    if (const std::size_t set = policy->pacing.where.size(); set > 0) std::cout << ", " << count_of(static_cast<long long>(set), "constant") << " of [pacing]";
    std::cout << '\n';
    return exit_done;
}

// Every file is looked at; the worst outcome is the exit code.
int check(const std::vector<std::string>& files) {
    int worst = exit_done;
    for (const std::string& file : files) worst = std::max(worst, check_one(file));
    return worst;
}

}  // namespace

void add_policy(CLI::App& program, Chosen& chosen) {
    CLI::App* policy = program.add_subcommand("policy", "Check the site policy, or show what it gives a job");

    CLI::App* command = policy->add_subcommand("check", "Tell every mistake in policy files, each with its line");
    auto files = std::make_shared<std::vector<std::string>>();
    command->add_option("FILE", *files, "policy files")->required()->type_name("");
    command->callback([&chosen, files] { chosen = [files] { return check(*files); }; });

    add_policy_explain(*policy, chosen);
}

}  // namespace paced::launcher
