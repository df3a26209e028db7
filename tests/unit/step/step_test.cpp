// SPDX-License-Identifier: BSD-3-Clause
#include <filesystem>
#include <map>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "plugin/step/job_facts.h"
#include "plugin/step/preload.h"
#include "plugin/step/step_setup.h"
#include "plugin/step_stamp.h"
#include "tests/doubles/temporary_folder.h"

namespace paced::step {
namespace {

Environment with(const char* name, const std::string& value) {
    Environment environment;
    environment.set(name, value);
    return environment;
}

TEST(Variables, AreTheWholeTable) {
    config::Effective effective;
    effective.mode.value = config::Mode::pace;
    effective.limits.exchange_ports.value = {2000, 2009};
    const StepSetup setup{"slurm:12.0", "12.0", "/dev/shm/x", "/dev/shm/x/key", "/dev/shm/x/plan.json", "10.0.0.1", "n1", 8, "leaf2", ""};
    const Variables expected{{"PACED_FABRIC_STEP_STAMP", "slurm:12.0"},
                             {"PACED_FABRIC_STEP_MODE", "pace"},
                             {"PACED_FABRIC_STEP_WINDOW", "auto:100000000"},
                             {"PACED_FABRIC_STEP_RUN_DIR", "/dev/shm/x"},
                             {"PACED_FABRIC_STEP_PLAN", "/dev/shm/x/plan.json"},
                             {"PACED_FABRIC_STEP_LEADER", "10.0.0.1"},
                             {"PACED_FABRIC_STEP_PORTS", "2000-2009"},
                             {"PACED_FABRIC_STEP_KEY_FILE", "/dev/shm/x/key"},
                             {"PACED_FABRIC_STEP_SESSION", "12.0"},
                             {"PACED_FABRIC_STEP_NODE", "n1"},
                             {"PACED_FABRIC_STEP_NODE_COUNT", "8"},
                             {"PACED_FABRIC_STEP_PACING", "least_pairs=6"},
                             {"PACED_FABRIC_STEP_LEAF", "leaf2"},
                             {"PACED_FABRIC_STEP_REPORTER", ""}};
    effective.limits.exploration_max_percent.value = 100;
    effective.pacing.tuning.least_pairs = 6;
    EXPECT_EQ(variables(setup, effective), expected);
    effective.window.value = {false, Nanoseconds{500'000}};
    EXPECT_EQ(variables(setup, effective)[2].second, "500000");
    effective.limits.window_max.value = Nanoseconds{400'000};
    EXPECT_EQ(variables(setup, effective)[2].second, "400000");
    effective.limits.window_max.value = Nanoseconds{0};
    EXPECT_EQ(variables(setup, effective)[2].second, "0");
    effective.window.value = {};
    EXPECT_EQ(variables(setup, effective)[2].second, "0");
}

// Who only observes delays nothing: no constants, no leaf, and the window as it was asked for.
TEST(Variables, WithoutPacing) {
    config::Effective effective;
    effective.mode.value = config::Mode::observe;
    effective.pacing.tuning.least_pairs = 6;
    StepSetup setup;
    setup.leaf = "leaf2";
    std::map<std::string, std::string> made;
    for (const auto& [name, value] : variables(setup, effective)) made[name] = value;
    EXPECT_EQ(made.at("PACED_FABRIC_STEP_WINDOW"), "auto");
    EXPECT_EQ(made.at("PACED_FABRIC_STEP_PACING"), "");
    EXPECT_EQ(made.at("PACED_FABRIC_STEP_LEAF"), "");
}

TEST(Preload, OursComesFirstAndOnce) {
    EXPECT_EQ(prepend_preload("/l/p.so", ""), "/l/p.so");
    EXPECT_EQ(prepend_preload("/l/p.so", "/a.so"), "/l/p.so:/a.so");
    EXPECT_EQ(prepend_preload("/l/p.so", "/a.so /b.so::/c.so "), "/l/p.so:/a.so:/b.so:/c.so");
    EXPECT_EQ(prepend_preload("/l/p.so", "/a.so:/l/p.so"), "/l/p.so:/a.so");
    EXPECT_EQ(prepend_preload("/l/p.so", "/l/p.so"), "/l/p.so");
    EXPECT_EQ(prepend_preload("/l/p.so", " : "), "/l/p.so");
}

TEST(Preload, BlanksAndColonsNeedALink) {
    const test::TemporaryFolder folder;
    EXPECT_EQ(*preloadable_path("/l/p.so", folder.path()), "/l/p.so");
    const std::string link = folder / "libpaced_fabric.so";
    for (int rank = 0; rank < 2; ++rank) EXPECT_EQ(*preloadable_path("/l l/p.so", folder.path()), link);
    EXPECT_EQ(std::filesystem::read_symlink(link), "/l l/p.so");
    EXPECT_EQ(preloadable_path("/l:l/p.so", "/no/such").error().message, "cannot make /no/such/libpaced_fabric.so: No such file or directory");
}

TEST(Stamp, AloneHoldsForTheProcessAndItsChildren) {
    const std::string stamp = "alone:" + std::to_string(getpid());
    EXPECT_TRUE(stamp_holds(stamp.c_str()));
    const pid_t child = fork();
    if (child == 0) _exit(stamp_holds(stamp.c_str()) ? 0 : 1);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_FALSE(stamp_holds(("alone:" + std::to_string(child)).c_str()));
    EXPECT_FALSE(stamp_holds("alone:x"));
}

TEST(Stamp, ThePmiProxyIsAtTheOtherEnd) {
    int pair[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    EXPECT_EQ(pmi_owner(std::to_string(pair[0]).c_str()), getpid());
    close(pair[0]);
    close(pair[1]);
    EXPECT_EQ(pmi_owner(""), 0);
    EXPECT_EQ(pmi_owner(nullptr), 0);
}

TEST(JobFacts, ComeFromSlurmsVariables) {
    const config::JobFacts none = job_facts({});
    EXPECT_EQ(none.partition + none.account + none.qos + none.user, "");
    EXPECT_EQ(none.nodes, 0);
    const config::JobFacts job = job_facts(Environment({{"SLURM_JOB_PARTITION", "gpu"}, {"SLURM_JOB_ACCOUNT", "a"}, {"SLURM_JOB_QOS", "q"}, {"SLURM_JOB_USER", "u"}, {"SLURM_JOB_NUM_NODES", "8"}}));
    EXPECT_EQ(job.partition, "gpu");
    EXPECT_EQ(job.account, "a");
    EXPECT_EQ(job.qos, "q");
    EXPECT_EQ(job.user, "u");
    EXPECT_EQ(job.nodes, 8);
    for (const char* text : {"-1", "x", "99999999999"}) EXPECT_EQ(job_facts(with("SLURM_JOB_NUM_NODES", text)).nodes, 0) << text;
}

}  // namespace
}  // namespace paced::step
