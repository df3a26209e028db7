// SPDX-License-Identifier: BSD-3-Clause
#include "policy/config/effective.h"

#include <gtest/gtest.h>

namespace paced::config {
namespace {

template <class T>
Located<T> at(int line, T value) {
    return {std::move(value), {"p.toml", line, 9}};
}

// [defaults] in lines 1 to 9, a rule for partition gpu in 20 to 29, one for user ada in 30 to 39, policies from 40.
SitePolicy site() {
    SitePolicy policy;
    policy.file = "p.toml";
    policy.defaults.mode = at(1, Mode::observe);
    policy.defaults.flag_mode = at(2, Mode::explain);
    policy.defaults.bind = at(3, Bind::none);
    policy.rules.push_back({{"p.toml", 20, 1}, {.partition = {"gpu"}}, {.mode = at(21, Mode::pace), .window = at(22, Window{false, Nanoseconds{1'000'000}})}});
    policy.rules.push_back({{"p.toml", 30, 1}, {.user = {"ada"}}, {.flag_mode = at(31, Mode::pace), .window = at(32, Window{false, Nanoseconds{2'000'000}})}});
    policy.policies.push_back({"tuned", {"p.toml", 40, 1}, {.mode = at(41, Mode::pace), .order = at(42, Order{Order::Pattern::ring, {}}), .bind = at(43, Bind::gpu_nic_cpu)}});
    policy.policies.push_back({"plain", {"p.toml", 50, 1}, {.order = at(51, Order{Order::Pattern::tree, {}})}});
    return policy;
}

std::string text(const Effective& effective) {
    std::string lines;
    const auto line = [&](const char* name, const std::string& value, const std::string& source) { lines += name + (" " + value) + " <- " + source + '\n'; };
    line("mode", to_string(effective.mode.value), effective.mode.source);
    line("order", to_string(effective.order.value), effective.order.source);
    line("bind", to_string(effective.bind.value), effective.bind.source);
    line("window", to_string(effective.window.value), effective.window.source);
    line("report", to_string(effective.report.value), effective.report.source);
    if (effective.asked_for) lines += "asked for\n";
    if (!effective.named_policy.empty()) lines += "policy " + effective.named_policy + '\n';
    for (const std::string& note : effective.notes) lines += "note " + note + '\n';
    return lines;
}

FlagValue flag(std::string value) { return {true, std::move(value)}; }

// The effective values, then what was wrong.
std::string resolved(const SitePolicy& policy, const Flags& flags = {}, std::map<std::string, std::string, std::less<>> environment = {}, const JobFacts& job = {}) {
    Diagnostics diagnostics;
    const Effective effective = resolve(policy, flags, Environment(std::move(environment)), job, diagnostics);
    return text(effective) + format(diagnostics);
}

std::string first_line(const std::string& lines) { return lines.substr(0, lines.find('\n')); }

TEST(Resolve, BuiltIn) {
    EXPECT_EQ(resolved({}),
              "mode off <- built-in\norder none <- built-in\nbind gpu-nic <- built-in\nwindow auto <- built-in\nreport summary <- built-in\n");
}

TEST(Resolve, ABareFlagMeansTheFlagMode) {
    for (const char* bare : {"", "(null)"})
        EXPECT_EQ(resolved({}, {.mode = flag(bare)}),
                  "mode pace <- flag --paced-fabric, flag_mode built-in\norder none <- built-in\nbind gpu-nic <- built-in\nwindow auto <- built-in\n"
                  "report summary <- built-in\nasked for\n");
    EXPECT_EQ(first_line(resolved(site(), {.mode = flag("")})), "mode explain <- flag --paced-fabric, flag_mode p.toml:2");
    EXPECT_EQ(first_line(resolved(site(), {.mode = flag("")}, {}, {.user = "ada"})), "mode pace <- flag --paced-fabric, flag_mode p.toml:31");
}

TEST(Resolve, DefaultsThenRulesTheLastOneWins) {
    EXPECT_EQ(resolved(site()), "mode observe <- p.toml:1\norder none <- built-in\nbind none <- p.toml:3\nwindow auto <- built-in\nreport summary <- built-in\n");
    EXPECT_EQ(resolved(site(), {}, {}, {.partition = "gpu"}),
              "mode pace <- p.toml:21\norder none <- built-in\nbind none <- p.toml:3\nwindow 1ms <- p.toml:22\nreport summary <- built-in\n");
    EXPECT_EQ(resolved(site(), {}, {}, {.partition = "gpu", .user = "ada"}),
              "mode pace <- p.toml:21\norder none <- built-in\nbind none <- p.toml:3\nwindow 2ms <- p.toml:32\nreport summary <- built-in\n");
}

TEST(Resolve, EnvironmentOverRulesAndCommandLineOverEnvironment) {
    const std::map<std::string, std::string, std::less<>> environment{{"PACED_FABRIC", "off"},
                                                                      {"PACED_FABRIC_ORDER", "tp=2,dp=2"},
                                                                      {"PACED_FABRIC_BIND", "gpu-nic"},
                                                                      {"PACED_FABRIC_WINDOW", "3ms"},
                                                                      {"PACED_FABRIC_REPORT", "full,%j.json"}};
    EXPECT_EQ(resolved(site(), {}, environment, {.partition = "gpu"}),
              "mode off <- environment PACED_FABRIC\norder tp=2,dp=2 <- environment PACED_FABRIC_ORDER\nbind gpu-nic <- environment PACED_FABRIC_BIND\n"
              "window 3ms <- environment PACED_FABRIC_WINDOW\nreport full,%j.json <- environment PACED_FABRIC_REPORT\nasked for\n");
    const Flags flags{flag("explain"), flag("ring"), flag("none"), flag("0"), flag("none")};
    EXPECT_EQ(resolved(site(), flags, environment, {.partition = "gpu"}),
              "mode explain <- flag --paced-fabric\norder ring <- flag --paced-fabric-order\nbind none <- flag --paced-fabric-bind\n"
              "window 0 <- flag --paced-fabric-window\nreport none <- flag --paced-fabric-report\nasked for\n");
}

TEST(Resolve, AnEmptyVariableIsNone) {
    EXPECT_EQ(resolved({}, {}, {{"PACED_FABRIC", ""}, {"PACED_FABRIC_ORDER", ""}, {"PACED_FABRIC_BIND", ""}, {"PACED_FABRIC_WINDOW", ""}, {"PACED_FABRIC_REPORT", ""}}),
              resolved({}));
}

TEST(Resolve, APolicyNamedByTheFlagHoldsBehindTheOtherFlags) {
    const std::string tuned = "mode pace <- p.toml:41 (policy tuned)\norder ring <- p.toml:42 (policy tuned)\n";
    EXPECT_EQ(resolved(site(), {.mode = flag("tuned")}),
              tuned + "bind gpu-nic-cpu <- p.toml:43 (policy tuned)\nwindow auto <- built-in\nreport summary <- built-in\nasked for\npolicy tuned\n");
    // before the environment, behind a flag
    EXPECT_EQ(resolved(site(), {.mode = flag("tuned"), .bind = flag("none")}, {{"PACED_FABRIC_ORDER", "alltoall"}, {"PACED_FABRIC_WINDOW", "1ms"}}),
              tuned + "bind none <- flag --paced-fabric-bind\nwindow 1ms <- environment PACED_FABRIC_WINDOW\nreport summary <- built-in\nasked for\npolicy tuned\n");
}

TEST(Resolve, APolicyNamedByTheEnvironmentHoldsBehindTheOtherVariables) {
    EXPECT_EQ(resolved(site(), {}, {{"PACED_FABRIC", "tuned"}, {"PACED_FABRIC_ORDER", "alltoall"}}),
              "mode pace <- p.toml:41 (policy tuned)\norder alltoall <- environment PACED_FABRIC_ORDER\nbind gpu-nic-cpu <- p.toml:43 (policy tuned)\n"
              "window auto <- built-in\nreport summary <- built-in\nasked for\npolicy tuned\n");
    // the flag replaces the variable with all that it named
    EXPECT_EQ(resolved(site(), {.mode = flag("observe")}, {{"PACED_FABRIC", "tuned"}}),
              "mode observe <- flag --paced-fabric\norder none <- built-in\nbind none <- p.toml:3\nwindow auto <- built-in\nreport summary <- built-in\nasked for\n");
}

TEST(Resolve, APolicyWithoutModeTakesTheFlagMode) {
    EXPECT_EQ(resolved(site(), {.mode = flag("plain")}),
              "mode explain <- flag --paced-fabric, flag_mode p.toml:2\norder tree <- p.toml:51 (policy plain)\nbind none <- p.toml:3\nwindow auto <- built-in\n"
              "report summary <- built-in\nasked for\npolicy plain\n");
}

TEST(Resolve, WrongValuesAreToldTogetherAndTheNextSourceHolds) {
    EXPECT_EQ(resolved(site(), {.mode = flag("obsrve"), .order = flag("rings"), .bind = flag("")}, {{"PACED_FABRIC", "tund"}, {"PACED_FABRIC_WINDOW", "5"}, {"PACED_FABRIC_BIND", "gpu-nic"}}),
              "mode observe <- p.toml:1\norder none <- built-in\nbind gpu-nic <- environment PACED_FABRIC_BIND\nwindow auto <- built-in\nreport summary <- built-in\n"
              "PACED_FABRIC: error: unknown mode or policy 'tund'\n"
              "    hint: did you mean 'tuned'?\n"
              "    hint: valid: 'off', 'observe', 'pace', 'explain', 'tuned' or 'plain'\n"
              "--paced-fabric: error: unknown mode or policy 'obsrve'\n"
              "    hint: did you mean 'observe'?\n"
              "    hint: valid: 'off', 'observe', 'pace', 'explain', 'tuned' or 'plain'\n"
              "PACED_FABRIC_WINDOW: error: bad window '5'\n"
              "    hint: a time needs its unit: '5us' or '5ms'\n"
              "    hint: valid: 'auto', '0', or a time of at most an hour in ns, us, ms or s, such as '500us' or '2ms'\n"
              "--paced-fabric-order: error: unknown order 'rings'\n"
              "    hint: did you mean 'ring'?\n"
              "    hint: valid: 'none', 'ring', 'alltoall' or 'tree', or a grid such as 'tp=8,pp=4,dp=16'\n"
              "--paced-fabric-bind: error: a value is missing\n"
              "    hint: valid: 'none', 'gpu-nic' or 'gpu-nic-cpu'\n");
    // a wrong flag leaves the variable in force
    EXPECT_EQ(first_line(resolved({}, {.mode = flag("x")}, {{"PACED_FABRIC", "observe"}})), "mode observe <- environment PACED_FABRIC");
}

TEST(Resolve, TheWindowIsCutToTheLimit) {
    SitePolicy policy;
    policy.limits.window_max = at(7, Nanoseconds{2'000'000});
    const auto window = [&](const char* value) {
        const std::string all = resolved(policy, {.mode = flag("pace"), .window = flag(value)});
        return all.substr(all.find("window"));
    };
    const std::string rest = " <- flag --paced-fabric-window\nreport summary <- built-in\nasked for\n";
    EXPECT_EQ(window("5ms"), "window 2ms" + rest + "note window 5ms cut to the site's window_max 2ms\n");
    EXPECT_EQ(window("2ms"), "window 2ms" + rest);
    EXPECT_EQ(window("0"), "window 0" + rest);
    EXPECT_EQ(window("auto"), "window auto" + rest);
}

TEST(Resolve, FlagsWithoutEffectAreNoted) {
    const std::string all = resolved({}, {.order = flag("ring")});
    EXPECT_EQ(all.substr(all.find("note")), "note --paced-fabric-order has no effect without --paced-fabric: the mode is off (built-in)\n");
    EXPECT_EQ(resolved({}, {.mode = flag("off"), .order = flag("ring")}).find("note"), std::string::npos);
    EXPECT_EQ(resolved(site(), {.order = flag("ring")}).find("note"), std::string::npos);
    EXPECT_EQ(resolved({}, {}, {{"PACED_FABRIC_ORDER", "ring"}}).find("note"), std::string::npos) << "set once for all jobs, perhaps";
}

std::string checked(const SitePolicy& policy, std::string_view name, const std::string& value) {
    Diagnostics diagnostics;
    check_flag(policy, name, {true, value}, diagnostics);
    return format(diagnostics);
}

TEST(CheckFlag, AcceptsWhatResolveTakes) {
    EXPECT_EQ(checked({}, "paced-fabric", ""), "");
    EXPECT_EQ(checked({}, "paced-fabric", "(null)"), "");
    EXPECT_EQ(checked({}, "paced-fabric", "pace"), "");
    EXPECT_EQ(checked(site(), "paced-fabric", "tuned"), "");
    EXPECT_EQ(checked({}, "paced-fabric-order", "tp=8"), "");
    EXPECT_EQ(checked({}, "paced-fabric-bind", "none"), "");
    EXPECT_EQ(checked({}, "paced-fabric-window", "100ms"), "");
    EXPECT_EQ(checked({}, "paced-fabric-report", "none"), "");
}

TEST(CheckFlag, SaysWhatIsWrong) {
    EXPECT_EQ(checked({}, "paced-fabric", "tuned"),
              "--paced-fabric: error: unknown mode 'tuned'\n"
              "    hint: valid: 'off', 'observe', 'pace' or 'explain'\n");
    EXPECT_EQ(checked({}, "paced-fabric-report", "(null)"),
              "--paced-fabric-report: error: a value is missing\n"
              "    hint: valid: 'none', 'summary' or 'full', then optionally a comma and the path of the JSON report\n");
    EXPECT_EQ(checked({}, "paced-fabric-window", "1s"), "--paced-fabric-window: warning: window 1s cut to the site's window_max 100ms\n");
    EXPECT_EQ(checked({}, "paced-fabric-ordr", "ring"),
              "error: unknown flag 'paced-fabric-ordr'\n"
              "    hint: did you mean 'paced-fabric-order'?\n"
              "    hint: valid: 'paced-fabric', 'paced-fabric-order', 'paced-fabric-bind', 'paced-fabric-window' or 'paced-fabric-report'\n");
}

}  // namespace
}  // namespace paced::config
