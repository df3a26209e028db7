// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/site_policy_file.h"

#include <filesystem>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/io/toml_policy.h"
#include "tests/doubles/paths.h"
#include "tests/doubles/temporary_folder.h"

namespace paced::io {
namespace {

namespace fs = std::filesystem;
using namespace config;

TEST(SitePolicyFile, EveryValueIsReadWithItsPlace) {
    const std::string file = test::source_dir() / "tests/config/valid/everything.toml";
    Diagnostics diagnostics;
    const auto policy = read_site_policy(file, diagnostics);
    ASSERT_TRUE(policy);
    EXPECT_TRUE(diagnostics.empty()) << format(diagnostics);
    EXPECT_EQ(policy->file, file);
    EXPECT_EQ(policy->schema, 1);

    const Layer& defaults = policy->defaults;
    EXPECT_EQ(defaults.mode->value, Mode::observe);
    EXPECT_EQ(defaults.mode->where, (Location{file, 4, 8}));
    EXPECT_EQ(defaults.flag_mode->value, Mode::explain);
    EXPECT_EQ(to_string(defaults.order->value), "tp=8:100,pp=4:10,dp=16:1");
    EXPECT_EQ(defaults.bind->value, Bind::gpu_nic_cpu);
    EXPECT_EQ(to_string(defaults.window->value), "500us");
    EXPECT_EQ(defaults.report->value, (Report{Report::Level::full, "/scratch/%j-%s-100%%.json"}));

    EXPECT_EQ(policy->limits.window_max.value.count(), 2'000'000);
    EXPECT_EQ(policy->limits.window_max.where, (Location{file, 12, 14}));
    EXPECT_EQ(policy->limits.exploration_max_percent.value, 0);
    EXPECT_EQ(to_string(policy->limits.exchange_ports.value), "20000-20000");

    ASSERT_EQ(policy->rules.size(), 2u);
    const Rule& rule = policy->rules[0];
    EXPECT_EQ(rule.where, (Location{file, 16, 1}));
    EXPECT_EQ(rule.match.partition, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(rule.match.account, std::vector<std::string>{"c"});
    EXPECT_EQ(rule.match.qos, std::vector<std::string>{"d"});
    EXPECT_EQ(rule.match.user, std::vector<std::string>{"e"});
    EXPECT_EQ(rule.match.min_nodes, 2);
    EXPECT_EQ(rule.match.max_nodes, 2);
    EXPECT_EQ(rule.set.mode->value, Mode::off);
    EXPECT_EQ(rule.set.flag_mode->value, Mode::pace);
    EXPECT_EQ(rule.set.order->value.pattern, Order::Pattern::tree);
    EXPECT_EQ(rule.set.bind->value, Bind::none);
    EXPECT_EQ(rule.set.window->value, (Window{false, Nanoseconds{0}}));
    EXPECT_EQ(rule.set.report->value.level, Report::Level::none);
    EXPECT_EQ(policy->rules[1].match.user, std::vector<std::string>{"f"});
    EXPECT_EQ(policy->rules[1].set.mode->where, (Location{file, 24, 10}));

    ASSERT_EQ(policy->policies.size(), 2u);
    EXPECT_EQ(policy->find("a")->where, (Location{file, 26, 9}));
    EXPECT_TRUE(policy->find("a")->set.window->value.automatic);
    EXPECT_EQ(policy->find("b.c")->set.mode->value, Mode::explain);
    EXPECT_EQ(policy->find("c"), nullptr);
}

TEST(SitePolicyFile, PacingIsReadWithItsPlaces) {
    const std::string file = test::source_dir() / "tests/config/valid/pacing.toml";
    Diagnostics diagnostics;
    const auto policy = read_site_policy(file, diagnostics);
    ASSERT_TRUE(policy);
    EXPECT_FALSE(diagnostics.has_errors()) << format(diagnostics);
    EXPECT_EQ(policy->pacing.tuning.method, pacing::Method::comparison);
    EXPECT_EQ(policy->pacing.tuning.block_iterations, 16);
    EXPECT_EQ(policy->pacing.where.at("block_iterations"), (Location{file, 7, 20}));
    EXPECT_EQ(policy->pacing.where.size(), 4u);
    EXPECT_EQ(pacing_text(policy->pacing, policy->limits),
              "method=comparison arms=off,admit:1,rate:25mbit,fixed-delay:500us:300us,barrier,ours block_iterations=16 exploration_percent=0.25");
}

// Whoever takes the comment signs away gets what was built in.
TEST(SitePolicyFile, TheConstantsShownInTheShippedFileAreTheBuiltInOnes) {
    std::string text = "schema = 1\n[pacing]\n";
    const std::string shipped = test::read_file(test::source_dir() / "etc/policy.toml");
    for (const PacingConstant& constant : pacing_constants) {
        const std::size_t at = shipped.find("\n# " + std::string(constant.name) + " = ");
        ASSERT_NE(at, std::string::npos) << constant.name;
        text += shipped.substr(at + 3, shipped.find('\n', at + 1) - at - 2);
    }
    Diagnostics diagnostics;
    const SitePolicy policy = parse_site_policy(text, "shown", diagnostics);
    EXPECT_FALSE(diagnostics.has_errors()) << format(diagnostics);
    EXPECT_EQ(policy.pacing.where.size(), std::size(pacing_constants));
    Limits limits;
    limits.exploration_max_percent.value = 100;
    EXPECT_EQ(pacing_text(policy.pacing, limits), "");
}

// etc/policy.toml promises that what it says is what holds without it.
TEST(SitePolicyFile, TheShippedFileSaysWhatIsBuiltIn) {
    Diagnostics diagnostics;
    const auto shipped = read_site_policy(test::source_dir() / "etc/policy.toml", diagnostics);
    ASSERT_TRUE(shipped);
    const SitePolicy built_in;
    EXPECT_EQ(shipped->defaults.mode->value, BuiltIn::mode);
    EXPECT_EQ(shipped->defaults.flag_mode->value, BuiltIn::flag_mode);
    EXPECT_EQ(shipped->defaults.order->value, Order{});
    EXPECT_EQ(shipped->defaults.bind->value, BuiltIn::bind);
    EXPECT_EQ(shipped->defaults.window->value, Window{});
    EXPECT_EQ(shipped->defaults.report->value, Report{});
    EXPECT_EQ(shipped->limits.window_max.value, built_in.limits.window_max.value);
    EXPECT_EQ(shipped->limits.exploration_max_percent.value, built_in.limits.exploration_max_percent.value);
    EXPECT_EQ(shipped->limits.exchange_ports.value, built_in.limits.exchange_ports.value);
    EXPECT_TRUE(shipped->pacing.where.empty());
    EXPECT_TRUE(shipped->rules.empty());
    EXPECT_TRUE(shipped->policies.empty());
}

TEST(SitePolicyFile, MissingIsBuiltInAndUnreadableIsAnError) {
    const test::TemporaryFolder folder;
    const auto message = [](const std::string& path) {
        Diagnostics diagnostics;
        const auto policy = read_site_policy(path, diagnostics);
        EXPECT_TRUE(diagnostics.empty());
        return policy ? "read '" + policy->file + "'" : policy.error().message;
    };
    EXPECT_EQ(message(folder / "missing.toml"), "read ''");
    EXPECT_EQ(message(folder / "no/such/folder.toml"), "read ''");
    EXPECT_EQ(message(folder.path()), "cannot read " + folder.path().string() + ": Is a directory");
    EXPECT_EQ(message(folder.write("file", "x") + "/policy.toml"), "cannot read " + (folder / "file") + "/policy.toml: Not a directory");
    ASSERT_EQ(mkfifo((folder / "fifo").c_str(), 0600), 0);
    EXPECT_EQ(message(folder / "fifo"), "cannot read " + (folder / "fifo") + ": it is not a regular file");
    EXPECT_EQ(message(folder.write("large", std::string((1 << 20) + 1, '#'))), "cannot read " + (folder / "large") + ": it is larger than 1 MiB");
    if (geteuid() == 0) return;
    fs::permissions(folder.write("secret", "schema = 1\n"), fs::perms::none);
    EXPECT_EQ(message(folder / "secret"), "cannot read " + (folder / "secret") + ": Permission denied");
}

TEST(Trust, OthersMustNotBeAbleToChangeIt) {
    const test::TemporaryFolder folder;
    const std::string file = folder.write("etc/policy.toml", "schema = 1\n"), etc = folder / "etc";
    const uid_t self = geteuid();
    fs::permissions(etc, fs::perms::owner_all);
    fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
    EXPECT_EQ(why_untrusted(file, self), std::nullopt);
    EXPECT_EQ(why_untrusted(folder / "etc/missing.toml", self), std::nullopt);
    if (self != 0) {
        EXPECT_EQ(why_untrusted(file), file + " is owned by uid " + std::to_string(self) + ", not by root");
    }

    fs::permissions(file, fs::perms::others_write, fs::perm_options::add);
    EXPECT_EQ(why_untrusted(file, self), file + " can be written by everybody");
    fs::permissions(file, fs::perms::others_write, fs::perm_options::remove);
    fs::permissions(etc, fs::perms::others_write, fs::perm_options::add);
    EXPECT_EQ(why_untrusted(file, self), etc + " can be written by everybody");
    ASSERT_EQ(chmod(etc.c_str(), 01777), 0);
    EXPECT_EQ(why_untrusted(file, self), std::nullopt) << "nobody else can replace it in a sticky folder";
    fs::permissions(etc, fs::perms::owner_all);

    if (self != 0) GTEST_SKIP() << "other owners and groups: only root can make them";
    ASSERT_EQ(chown(file.c_str(), 12345, 0), 0);
    EXPECT_EQ(why_untrusted(file), file + " is owned by uid 12345, not by root");
    EXPECT_EQ(why_untrusted(file, 12345), std::nullopt);
    EXPECT_EQ(why_untrusted(file, 777), file + " is owned by uid 12345, not by uid 777");
    ASSERT_EQ(chown(file.c_str(), 0, 54321), 0);
    ASSERT_EQ(chmod(file.c_str(), 0664), 0);
    EXPECT_EQ(why_untrusted(file), file + " can be written by group 54321");
}

TEST(KillSwitch, IsAFileBesideThePolicy) {
    const test::TemporaryFolder folder;
    EXPECT_EQ(kill_switch(folder / "policy.toml"), std::nullopt);
    const std::string file = folder.write("disabled", "");
    EXPECT_EQ(kill_switch(folder / "policy.toml"), file);
    EXPECT_EQ(kill_switch("/no/such/folder/policy.toml"), std::nullopt);
}

}  // namespace
}  // namespace paced::io
