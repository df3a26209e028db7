// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/policy_explain.h"

#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <pwd.h>
#include <unistd.h>

#include "launcher/flags.h"
#include "policy/base/text.h"
#include "policy/io/site_policy_file.h"

namespace paced::launcher {

namespace {

using namespace config;

struct ExplainOptions {
    std::string file;
    JobFacts job;
    Flags flags;
    bool json = false;
};

struct Row {
    std::string setting, value, source;
};

std::string source_of(const Location& where) { return where.file.empty() ? "built-in" : to_string(Location{where.file, where.line, 0}); }

std::vector<Row> setting_rows(const Effective& effective) {
    return {{"mode", to_string(effective.mode.value), effective.mode.source},
            {"order", to_string(effective.order.value), effective.order.source},
            {"bind", to_string(effective.bind.value), effective.bind.source},
            {"window", to_string(effective.window.value), effective.window.source},
            {"report", to_string(effective.report.value), effective.report.source}};
}

std::vector<Row> limit_rows(const Limits& limits) {
    return {{"window_max", format_duration(limits.window_max.value), source_of(limits.window_max.where)},
            {"exploration_max_percent", number_text(limits.exploration_max_percent.value), source_of(limits.exploration_max_percent.where)},
            {"exchange_ports", to_string(limits.exchange_ports.value), source_of(limits.exchange_ports.where)}};
}

// What of [pacing] the file sets; the rest is as tuning.h has it.
std::vector<Row> pacing_rows(const Pacing& pacing, const Limits& limits) {
    std::vector<Row> rows;
    const auto add = [&](std::string_view name, std::string value) {
        if (const auto found = pacing.where.find(name); found != pacing.where.end()) rows.push_back({std::string(name), std::move(value), source_of(found->second)});
    };
    add("method", to_string(pacing.tuning.method));
    add("arm", pacing.arm);
    add("arms", pacing.arms);
    add("without", pacing.without);
    const pacing::Tuning tuning = tuning_within(pacing, limits);
    for (const PacingConstant& constant : pacing_constants) {
        add(constant.name, number_text(tuning.*constant.value));
        if (tuning.*constant.value != pacing.tuning.*constant.value && pacing.where.contains(constant.name)) rows.back().source += ", cut to exploration_max_percent";
    }
    return rows;
}

std::string own_name() {
    const passwd* entry = getpwuid(getuid());
    return entry == nullptr ? "" : entry->pw_name;
}

// What a reader must know before the table: nothing of it holds, or not all.
std::vector<std::string> warnings_on(const std::string& file) {
    std::vector<std::string> warnings;
    if (const auto path = io::kill_switch(file)) warnings.push_back("everything is off: " + *path + " exists");
    if (const auto why = io::why_untrusted(file)) warnings.push_back("jobs run without us: " + *why);
    return warnings;
}

// Columns as wide as they need to be; where a line would pass 100, the source goes to the next one.
void print(const std::vector<Row>& rows, std::size_t setting_width, std::size_t value_width) {
    const auto padded = [](std::string text, std::size_t width) {
        text.resize(std::max(text.size(), width), ' ');
        return text + "  ";
    };
    for (const Row& row : rows) {
        const std::string start = padded(row.setting, setting_width) + padded(row.value, value_width);
        const bool fits = start.size() + row.source.size() <= 100;
        std::cout << (fits ? start + row.source : start.substr(0, start.find_last_not_of(' ') + 1) + '\n' + std::string(setting_width + 2, ' ') + row.source) << '\n';
    }
}

void print_text(const SitePolicy& policy, const std::string& file, const JobFacts& job, const Effective& effective) {
    const auto known = [](const std::string& text) { return text.empty() ? "not known" : text; };
    std::cout << "policy  " << (policy.file.empty() ? "built-in (there is no " + file + ')' : file) << '\n';
    std::cout << "job     partition " << known(job.partition) << ", account " << known(job.account) << ", qos " << known(job.qos) << ", user "
              << known(job.user) << ", " << (job.nodes == 0 ? "nodes not known" : count_of(job.nodes, "node")) << "\n\n";

    const auto rows = setting_rows(effective), limits = limit_rows(effective.limits), constants = pacing_rows(effective.pacing, effective.limits);
    std::size_t setting_width = 7, value_width = 5;
    for (const auto* part : {&rows, &limits, &constants}) {
        for (const Row& row : *part) {
            setting_width = std::max(setting_width, row.setting.size());
            if (row.value.size() <= 40) value_width = std::max(value_width, row.value.size());
        }
    }
    print({{"setting", "value", "from"}}, setting_width, value_width);
    print(rows, setting_width, value_width);
    std::cout << '\n';
    print({{"limit", "value", "from"}}, setting_width, value_width);
    print(limits, setting_width, value_width);
    std::cout << '\n';
    if (constants.empty()) {
        print({{"pacing", "all", "built-in"}}, setting_width, value_width);
    } else {
        print({{"pacing", "value", "from"}}, setting_width, value_width);
        print(constants, setting_width, value_width);
        std::cout << "the other constants of [pacing] are built-in\n";
    }

    if (!policy.rules.empty()) std::cout << "\nrules\n";
    for (const Rule& rule : policy.rules) {
        const auto why_not = mismatch(rule.match, job);
        std::cout << "  " << source_of(rule.where) << (why_not ? "  does not apply: " + *why_not : "  applies") << '\n';
    }
    if (!effective.notes.empty()) std::cout << "\nnotes\n";
    for (const std::string& note : effective.notes) std::cout << "  " << note << '\n';
}

void print_json(const SitePolicy& policy, const JobFacts& job, const Effective& effective) {
    using nlohmann::ordered_json;
    const auto object = [](const std::vector<Row>& rows) {
        ordered_json made = ordered_json::object();
        for (const Row& row : rows) made[row.setting] = {{"value", row.value}, {"source", row.source}};
        return made;
    };
    ordered_json rules = ordered_json::array();
    for (const Rule& rule : policy.rules) {
        const auto why_not = mismatch(rule.match, job);
        ordered_json entry{{"where", source_of(rule.where)}, {"applies", !why_not}};
        if (why_not) entry["why_not"] = *why_not;
        rules.push_back(std::move(entry));
    }
    const auto or_null = [](const std::string& text) { return text.empty() ? ordered_json() : ordered_json(text); };
    const ordered_json all{
        {"policy", or_null(policy.file)},
        {"job", {{"partition", or_null(job.partition)}, {"account", or_null(job.account)}, {"qos", or_null(job.qos)}, {"user", or_null(job.user)}, {"nodes", job.nodes == 0 ? ordered_json() : ordered_json(job.nodes)}}},
        {"settings", object(setting_rows(effective))},
        {"limits", object(limit_rows(effective.limits))},
        {"pacing", object(pacing_rows(effective.pacing, effective.limits))},
        {"named_policy", or_null(effective.named_policy)},
        {"rules", std::move(rules)},
        {"notes", effective.notes}};
    std::cout << all.dump(2, ' ', false, ordered_json::error_handler_t::replace) << '\n';
}

int explain(ExplainOptions options) {
    if (options.job.user.empty()) options.job.user = own_name();
    const std::string file = options.file.empty() ? io::default_policy_path : options.file;
    Diagnostics diagnostics;
    const auto policy = io::read_site_policy(file, diagnostics);
    if (!policy || (policy->file.empty() && !options.file.empty())) {
        std::cerr << "error: " << (policy ? "cannot read " + file + ": no such file" : policy.error().message) << '\n';
        return exit_surroundings_failed;
    }
    std::cerr << format(diagnostics);
    if (diagnostics.has_errors()) return exit_wrong_input;

    Diagnostics wrong;
    const Effective effective = resolve(*policy, options.flags, Environment::capture(), options.job, wrong);
    std::cerr << format(wrong);
    if (wrong.has_errors()) return exit_wrong_input;

    // a file that was named may be a draft: it need not be root's yet
    if (options.file.empty())
        for (const std::string& warning : warnings_on(file)) std::cerr << "warning: " << warning << '\n';
    if (options.json)
        print_json(*policy, options.job, effective);
    else
        print_text(*policy, file, options.job, effective);
    return exit_done;
}

}  // namespace

void add_policy_explain(CLI::App& policy, Chosen& chosen) {
    CLI::App* command = policy.add_subcommand("explain", "Show what a job gets, and from which line, flag or variable");
    auto options = std::make_shared<ExplainOptions>();
    command->add_option("--file", options->file, "policy file; default /etc/paced-fabric/policy.toml")->type_name("FILE");
    command->add_option("--partition", options->job.partition, "the job's partition")->type_name("NAME");
    command->add_option("--account", options->job.account, "its account")->type_name("NAME");
    command->add_option("--qos", options->job.qos, "its QOS")->type_name("NAME");
    command->add_option("--user", options->job.user, "its user; default: you")->type_name("NAME");
    command->add_option("--nodes", options->job.nodes, "its number of nodes")->type_name("N")->check(CLI::Range(1, 1'000'000).description(""));
    command->add_flag("--json", options->json, "print JSON");
    add_flags(*command, options->flags);
    command->footer("PACED_FABRIC, PACED_FABRIC_ORDER, _BIND, _WINDOW and _REPORT of your environment count as they\nwould for a job.");
    command->callback([&chosen, options] { chosen = [options] { return explain(*options); }; });
}

}  // namespace paced::launcher
