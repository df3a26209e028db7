// SPDX-License-Identifier: BSD-3-Clause
// `paced` and `paced policy`, as a person sees them.
#include <gtest/gtest.h>

#include "policy/base/text.h"
#include "tests/doubles/paths.h"
#include "tests/doubles/run_program.h"
#include "tests/doubles/temporary_folder.h"

namespace paced {
namespace {

test::Outcome paced_in(const std::string& folder, std::vector<std::string> arguments, std::map<std::string, std::string> environment = {}) {
    arguments.insert(arguments.begin(), (test::bin_dir() / "paced").string());
    return test::run_program(arguments, {.environment = std::move(environment), .folder = folder});
}

test::Outcome paced(std::vector<std::string> arguments) { return paced_in("", std::move(arguments)); }

constexpr char policy_text[] = R"(schema = 1
[defaults]
mode = "observe"
[limits]
window_max = "2ms"
[[rule]]
match = { partition = "gpu", min_nodes = 2 }
set = { mode = "pace", window = "1ms" }
[[rule]]
match = { user = ["ada", "bob"] }
set = { report = "full" }
[policy.training]
order = "tp=8,dp=4"
bind = "gpu-nic-cpu"
)";

TEST(Paced, VersionAndHelp) {
    const auto version = paced({"--version"});
    EXPECT_EQ(version.exit_code, 0);
    EXPECT_EQ(version.out, "paced 0.1.0\n");
    for (const std::vector<std::string>& arguments :
         std::vector<std::vector<std::string>>{{"--help"}, {"policy", "--help"}, {"policy", "check", "--help"}, {"policy", "explain", "--help"}, {"run", "--help"}, {"simulate", "--help"}}) {
        const auto help = paced(arguments);
        EXPECT_EQ(help.exit_code, 0);
        EXPECT_EQ(help.err, "");
        EXPECT_NE(help.out.find("Usage: paced"), std::string::npos);
        for (std::string_view line : split(help.out, '\n')) EXPECT_LE(line.size(), 102u) << line;  // 100 columns; an ellipsis is three bytes
    }
}

TEST(Paced, AWrongCommandLineIsUsage) {
    const struct {
        std::vector<std::string> arguments;
        std::string err;
    } cases[] = {
        {{"polcy"}, "paced: unknown command 'polcy'\n    hint: did you mean 'policy'?\n    hint: 'paced --help' shows what there is\n"},
        {{"--versoin"}, "paced: unknown flag '--versoin'\n    hint: did you mean '--version'?\n    hint: 'paced --help' shows what there is\n"},
        {{"policy", "chekc", "x"}, "paced policy: unknown command 'chekc'\n    hint: did you mean 'check'?\n    hint: 'paced policy --help' shows what there is\n"},
        {{"policy", "check"}, "paced policy check: FILE is required\n    hint: 'paced policy check --help' shows what there is\n"},
        {{"policy", "explain", "x"}, "paced policy explain: unexpected argument 'x'\n    hint: 'paced policy explain --help' shows what there is\n"},
        {{"policy", "explain", "--node", "4"}, "paced policy explain: unknown flag '--node'\n    hint: did you mean '--nodes'?\n    hint: 'paced policy explain --help' shows what there is\n"},
        {{"policy", "explain", "--nodes", "0"}, "paced policy explain: --nodes: Value 0 not in range 1 to 1000000\n    hint: 'paced policy explain --help' shows what there is\n"},
    };
    for (const auto& c : cases) {
        const auto outcome = paced(c.arguments);
        EXPECT_EQ(outcome.exit_code, 2);
        EXPECT_EQ(outcome.out, "");
        EXPECT_EQ(outcome.err, c.err);
    }
    const auto nothing = paced({});
    EXPECT_EQ(nothing.exit_code, 2);
    EXPECT_EQ(nothing.err, paced({"--help"}).out);
}

TEST(PolicyCheck, GoodFilesAreCounted) {
    const test::TemporaryFolder folder;
    folder.write("a.toml", policy_text);
    folder.write("b.toml", "schema = 1\n");
    const auto outcome = paced_in(folder.path(), {"policy", "check", "a.toml", "b.toml"});
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.out, "a.toml: good, 2 rules, 1 named policy\nb.toml: good, 0 rules, 0 named policies\n");
    EXPECT_EQ(outcome.err, "");
}

TEST(PolicyCheck, EveryFileIsLookedAtAndTheWorstDecides) {
    const test::TemporaryFolder folder;
    folder.write("a.toml", "schema = 1\n[defaults]\nmod = \"off\"\n");
    folder.write("b.toml", "schema = 1\n");
    const auto outcome = paced_in(folder.path(), {"policy", "check", "a.toml", "b.toml"});
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(outcome.out, "b.toml: good, 0 rules, 0 named policies\n");
    EXPECT_EQ(outcome.err,
              "a.toml:3:1: error: unknown key 'mod' in [defaults]\n"
              "    hint: did you mean 'mode'?\n"
              "    hint: valid: 'mode', 'flag_mode', 'order', 'bind', 'window' or 'report'\n");
    const auto missing = paced_in(folder.path(), {"policy", "check", "c.toml", "a.toml", "."});
    EXPECT_EQ(missing.exit_code, 3);
    EXPECT_TRUE(missing.err.starts_with("error: cannot read c.toml: no such file\na.toml:3:1: error:")) << missing.err;
    EXPECT_TRUE(missing.err.ends_with("error: cannot read .: Is a directory\n")) << missing.err;
}

TEST(PolicyCheck, WarningsAreNoMistakes) {
    const test::TemporaryFolder folder;
    folder.write("a.toml", "schema = 1\n[defaults]\nwindow = \"1s\"\n");
    const auto outcome = paced_in(folder.path(), {"policy", "check", "a.toml"});
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.out, "a.toml: good, 0 rules, 0 named policies\n");
    EXPECT_EQ(outcome.err, "a.toml:3:10: warning: window 1s will be cut to window_max 100ms\n");
}

TEST(PolicyExplain, ShowsValuesSourcesAndRules) {
    const test::TemporaryFolder folder;
    folder.write("p.toml", policy_text);
    const auto outcome = paced_in(folder.path(), {"policy", "explain", "--file", "p.toml", "--partition", "gpu", "--user", "eve", "--nodes", "4", "--paced-fabric-bind=none"},
                                  {{"PACED_FABRIC_WINDOW", "5ms"}});
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(outcome.out, R"(policy  p.toml
job     partition gpu, account not known, qos not known, user eve, 4 nodes

setting                  value        from
mode                     pace         p.toml:8
order                    none         built-in
bind                     none         flag --paced-fabric-bind
window                   2ms          environment PACED_FABRIC_WINDOW
report                   summary      built-in

limit                    value        from
window_max               2ms          p.toml:5
exploration_max_percent  0.5          built-in
exchange_ports           61000-61999  built-in

pacing                   all          built-in

rules
  p.toml:6  applies
  p.toml:9  does not apply: user is 'eve', not 'ada' or 'bob'

notes
  window 5ms cut to the site's window_max 2ms
)");
}

TEST(PolicyExplain, LongValuesTakeALineOfTheirOwn) {
    const test::TemporaryFolder folder;
    folder.write("p.toml", "schema = 1\n");
    const std::string path = "/scratch/" + std::string(50, 'x') + "/%j.json";
    const auto outcome = paced_in(folder.path(), {"policy", "explain", "--file", "p.toml", "--user", "eve", "--paced-fabric-report=full," + path});
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_NE(outcome.out.find("\nreport                   full," + path + "\n                         flag --paced-fabric-report\n"), std::string::npos) << outcome.out;
}

TEST(PolicyExplain, Json) {
    const test::TemporaryFolder folder;
    folder.write("p.toml", policy_text);
    const auto outcome = paced_in(folder.path(), {"policy", "explain", "--file", "p.toml", "--user", "ada", "--paced-fabric=training", "--json"});
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.out, R"json({
  "policy": "p.toml",
  "job": {
    "partition": null,
    "account": null,
    "qos": null,
    "user": "ada",
    "nodes": null
  },
  "settings": {
    "mode": {
      "value": "pace",
      "source": "flag --paced-fabric, flag_mode built-in"
    },
    "order": {
      "value": "tp=8,dp=4",
      "source": "p.toml:13 (policy training)"
    },
    "bind": {
      "value": "gpu-nic-cpu",
      "source": "p.toml:14 (policy training)"
    },
    "window": {
      "value": "auto",
      "source": "built-in"
    },
    "report": {
      "value": "full",
      "source": "p.toml:11"
    }
  },
  "limits": {
    "window_max": {
      "value": "2ms",
      "source": "p.toml:5"
    },
    "exploration_max_percent": {
      "value": "0.5",
      "source": "built-in"
    },
    "exchange_ports": {
      "value": "61000-61999",
      "source": "built-in"
    }
  },
  "pacing": {},
  "named_policy": "training",
  "rules": [
    {
      "where": "p.toml:6",
      "applies": false,
      "why_not": "partition is not known"
    },
    {
      "where": "p.toml:9",
      "applies": true
    }
  ],
  "notes": []
}
)json");
}

TEST(PolicyExplain, ShowsTheConstantsThatTheSiteSets) {
    const test::TemporaryFolder folder;
    folder.write("p.toml", "schema = 1\n[limits]\nexploration_max_percent = 0.2\n[pacing]\nmost_pairs = 100\nexploration_percent = 0.4\n");
    const auto check = paced_in(folder.path(), {"policy", "check", "p.toml"});
    EXPECT_EQ(check.exit_code, 0);
    EXPECT_EQ(check.out, "p.toml: good, 0 rules, 0 named policies, 2 constants of [pacing]\n");
    EXPECT_EQ(check.err, "p.toml:6:23: warning: exploration_percent 0.4 will be cut to exploration_max_percent 0.2\n");
    const auto text = paced_in(folder.path(), {"policy", "explain", "--file", "p.toml", "--user", "eve"});
    EXPECT_EQ(text.exit_code, 0);
    EXPECT_TRUE(text.out.ends_with(R"(
pacing                   value        from
most_pairs               100          p.toml:5
exploration_percent      0.2          p.toml:6, cut to exploration_max_percent
the other constants of [pacing] are built-in
)")) << text.out;
    const auto json = paced_in(folder.path(), {"policy", "explain", "--file", "p.toml", "--user", "eve", "--json"});
    EXPECT_NE(json.out.find(R"("exploration_percent": {
      "value": "0.2",
      "source": "p.toml:6, cut to exploration_max_percent"
    })"), std::string::npos) << json.out;
}

TEST(PolicyExplain, WrongInputIsTold) {
    const test::TemporaryFolder folder;
    folder.write("p.toml", policy_text);
    folder.write("broken.toml", "schema = 1\nmode = 1\n");
    const auto flags = paced_in(folder.path(), {"policy", "explain", "--file", "p.toml", "--paced-fabric=trainin", "--paced-fabric-window"}, {{"PACED_FABRIC_BIND", "cpu"}});
    EXPECT_EQ(flags.exit_code, 1);
    EXPECT_EQ(flags.out, "");
    EXPECT_EQ(flags.err,
              "--paced-fabric: error: unknown mode or policy 'trainin'\n"
              "    hint: did you mean 'training'?\n"
              "    hint: valid: 'off', 'observe', 'pace', 'explain' or 'training'\n"
              "PACED_FABRIC_BIND: error: unknown binding 'cpu'\n"
              "    hint: valid: 'none', 'gpu-nic' or 'gpu-nic-cpu'\n"
              "--paced-fabric-window: error: a value is missing\n"
              "    hint: valid: 'auto', '0', or a time of at most an hour in ns, us, ms or s, such as '500us' or '2ms'\n");
    const auto broken = paced_in(folder.path(), {"policy", "explain", "--file", "broken.toml"});
    EXPECT_EQ(broken.exit_code, 1);
    EXPECT_TRUE(broken.err.starts_with("broken.toml:2:1: error: unknown key 'mode'\n")) << broken.err;
    const auto missing = paced_in(folder.path(), {"policy", "explain", "--file", "none.toml"});
    EXPECT_EQ(missing.exit_code, 3);
    EXPECT_EQ(missing.err, "error: cannot read none.toml: no such file\n");
}

}  // namespace
}  // namespace paced
