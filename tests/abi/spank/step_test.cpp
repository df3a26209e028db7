// SPDX-License-Identifier: BSD-3-Clause
// Inside slurmstepd: a whole step, and everything that can go wrong in it.
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <functional>
#include <grp.h>
#include <sys/wait.h>

#include "tests/abi/spank/step_fixture.h"

namespace paced::test {
namespace {

TEST_F(Step, from_flag_to_task) {
    fake_setenv("PACED_FABRIC_FAKE_LINES", "env A=all;task 0 B=zero;task 1 B=one");
    fake.local_tasks = 2;
    fake.tasks = 5;
    fake.nodes = 3;
    launch();
    EXPECT_EQ(log(), "log fake: node n3 (0 of 3) step 7.0 tasks 2/5 MODE='observe'\n");
    EXPECT_EQ(task(0)["B"], "zero");
    Variables one = task(1);
    EXPECT_EQ(one["B"], "one");
    EXPECT_EQ(one["A"], "all");
    EXPECT_EQ(one["PACED_FABRIC_STEP_MODE"], "observe");
    EXPECT_EQ(one["LOG"], "");
    finish();
}

TEST_F(Step, slurm_calls_the_option_twice) {
    call(plugin.init);
    EXPECT_EQ(option("paced-fabric", nullptr, 1), 0);
    EXPECT_EQ(option("paced-fabric", "", 1), 0);
    EXPECT_EQ(option("paced-fabric-order", "bad", 1), 0);  // not refused here: the job is there already
    call(plugin.init_post_opt);
    call(plugin.user_init);
    EXPECT_EQ(log(), "log fake: node n3 (0 of 1) step 7.0 tasks 1/1 MODE='' ORDER='bad'\n");
}

TEST_F(Step, carried_flags_stand_in_for_lost_ones) {
    fake_setenv("SLURM_PACED_FABRIC_MODE", "pace");
    fake_setenv("SLURM_PACED_FABRIC_WINDOW", "2ms");
    launch("observe");
    EXPECT_EQ(log(), "log fake: node n3 (0 of 1) step 7.0 tasks 1/1 MODE='observe' WINDOW='2ms'\n");
}

TEST_F(Step, nothing_wanted_nothing_done) {
    launch(nullptr);
    const Variables before = job_environment();
    Variables after = task(0);
    EXPECT_EQ(after["LOG"], "");
    after.erase("LOG");
    EXPECT_EQ(after, before);
    finish();
    EXPECT_EQ(log(), "");
    EXPECT_FALSE(std::filesystem::exists(SNAPSHOT_FOLDER));
}

TEST_F(Step, off_is_off) {
    fake_setenv("PACED_FABRIC", "pace");
    write("policy.toml", "schema = 1\n");
    launch("off");
    finish();
    EXPECT_EQ(log(), "");
}

TEST_F(Step, only_numbered_steps) {
    for (const std::uint32_t id : {0xfffffff0U, 0xfffffffaU, 0xfffffffbU, 0xfffffffcU, 0xfffffffdU}) {
        begin();
        fake.step = id;
        fake.nodes = 0;
        launch();
        Variables after = task(0);
        EXPECT_EQ(after.count("PACED_FABRIC_STEP_MODE"), 0U);
        finish();
        EXPECT_EQ(log(), "");
    }
}

TEST_F(Step, slurm_knows_nothing) {
    fake.items_fail = true;
    launch();
    task(0);
    finish();
    EXPECT_EQ(log(), "");
}

TEST_F(Step, slurm_says_zero_nodes) {
    fake.nodes = 0;
    fake_setenv("SLURM_STEP_NUM_NODES", "4");
    launch();
    EXPECT_EQ(first_line(), "log fake: node n3 (0 of 4) step 7.0 tasks 1/1 MODE='observe'");
    begin();
    fake.nodes = 0;
    launch();
    EXPECT_EQ(first_line(), "log fake: node n3 (0 of 1) step 7.0 tasks 1/1 MODE='observe'");
}

TEST_F(Step, no_groups_no_environment) {
    fake.group_count = 0;
    launch();
    EXPECT_NE(log(), "");
    begin();
    fake_setenv("PACED_FABRIC", "observe");
    call(plugin.init);
    call(plugin.init_post_opt);
    char** const kept = fake.environment;
    fake.environment = nullptr;
    call(plugin.user_init);
    EXPECT_EQ(log(), "log fake: node n3 (0 of 1) step 7.0 tasks 1/1\n");
    fake.environment = kept;
}

TEST_F(Step, callbacks_in_any_order_and_number) {
    for (auto* callback : {plugin.exit, plugin.task_exit, plugin.task_init, plugin.user_init, plugin.init_post_opt}) EXPECT_EQ(call(callback), 0);
    call(plugin.init);
    option("paced-fabric", "observe", 1);
    for (auto* callback : {plugin.exit, plugin.task_exit, plugin.task_init, plugin.user_init}) EXPECT_EQ(call(callback), 0);
    EXPECT_EQ(log(), "");
    begin();
    launch();
    for (int i = 0; i < 5; ++i) finish();
    fake.task = -1;
    EXPECT_EQ(call(plugin.task_init), 0);
}

TEST_F(Step, a_helper_that_fails_leaves_the_step_alone) {
    const struct {
        const char *kind, *words;
    } table[] = {
        {"crash", "the helper was ended by signal 11"},
        {"fail", "the helper exited with code 1"},
        {"hang", "the helper did not answer within 300 ms"},
        {"hang_with_child", "the helper did not answer within 300 ms"},
        {"deaf", "the helper did not answer within 300 ms"},
        {"busy", "the helper did not answer within 300 ms"},
        {"flood", "the helper answered too much"},
        {"silent", "the helper gave an answer that is not understood: not begun by \"paced-fabric-step 1\""},
        {"cut", "the helper gave an answer that is not understood: no last line \"end\""},
        {"nonsense", "the helper gave an answer that is not understood: not begun by \"paced-fabric-step 1\""},
        {"future", "the helper gave an answer that is not understood: not begun by \"paced-fabric-step 1\""},
    };
    words.push_back("deadline_ms=300");
    for (const auto& [kind, words_of_it] : table) {
        begin();
        fake_setenv("PACED_FABRIC_FAKE", kind);
        launch();
        EXPECT_EQ(log(), "log paced-fabric: n3: " + std::string(words_of_it) + "; this node's part of the step runs as it would without the plugin\n");
        const Variables before = job_environment();
        Variables after = task(0);
        after.erase("LOG");
        EXPECT_EQ(after, before);
        finish();
    }
}

TEST_F(Step, a_helper_that_is_not_there_or_no_program) {
    const std::string behind = "; this node's part of the step runs as it would without the plugin\n";
    std::filesystem::remove(folder / "bin/paced-fabric-helper");
    launch();
    EXPECT_EQ(log(), "log paced-fabric: n3: there is no program paced-fabric-helper" + behind);
    begin();
    write("bin/paced-fabric-helper", "not a program");
    launch();
    EXPECT_EQ(log(), "log paced-fabric: n3: the helper could not be started (No such file or directory)" + behind);
    begin();
    std::filesystem::remove(folder / "bin/paced-fabric-helper");
    std::filesystem::create_directory(folder / "bin/paced-fabric-helper");
    launch();
    EXPECT_EQ(log(), "log paced-fabric: n3: there is no program paced-fabric-helper" + behind);
}

TEST_F(Step, the_ninth_node_speaks_to_the_admin_only) {
    fake.node = 8;
    fake_setenv("PACED_FABRIC_FAKE", "crash");
    launch();
    EXPECT_EQ(first_line().substr(0, 23), "info paced-fabric: n3: ");
}

TEST_F(Step, an_environment_that_is_too_large) {
    for (int i = 0; i < 5000; ++i) fake_setenv(("NCCL_" + std::to_string(i)).c_str(), "x");
    launch();
    EXPECT_EQ(log(), "log paced-fabric: n3: the job's environment is too large for the helper; this node's part of the step runs as it would without the plugin\n");
}

TEST_F(Step, nothing_is_left_open_or_running_and_nothing_is_printed) {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
    const int saved_out = dup(1), saved_err = dup(2);
    dup2(ends[1], 1);
    dup2(ends[1], 2);
    const int before = dup(0);
    close(before);
    for (const char* kind : {"", "crash", "flood"}) {
        begin();
        fake_setenv("PACED_FABRIC_FAKE", kind);
        fake_setenv("PACED_FABRIC_FAKE_LINES", "run-dir @RUN_DIR@;leader yes");
        launch();
        finish();
    }
    const int after = dup(0);
    close(after);
    dup2(saved_out, 1);
    dup2(saved_err, 2);
    close(saved_out);
    close(saved_err);
    char byte;
    EXPECT_EQ(read(ends[0], &byte, 1), -1);
    close(ends[0]);
    close(ends[1]);
    EXPECT_EQ(before, after);
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
}

TEST_F(Step, the_host_may_block_signals_and_ignore_children) {
    sigset_t all, old;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &old);
    const auto handler = std::signal(SIGCHLD, SIG_IGN);
    launch();
    std::signal(SIGCHLD, handler);
    sigset_t now;
    sigprocmask(SIG_SETMASK, &old, &now);
    EXPECT_EQ(sigismember(&now, SIGUSR1), 1);
    EXPECT_EQ(first_line(), "log fake: node n3 (0 of 1) step 7.0 tasks 1/1 MODE='observe'");
}

TEST_F(Step, what_the_task_has_is_not_overwritten) {
    fake_setenv("PACED_FABRIC_FAKE_LINES", "env UCX_NET_DEVICES=ours;env PACED_FABRIC_STEP_STAMP=right");
    fake_setenv("UCX_NET_DEVICES", "users");
    fake_setenv("PACED_FABRIC_STEP_STAMP", "stale");
    fake_setenv("SLURM_PACED_FABRIC_KEY", std::string(64, 'a').c_str());
    launch();
    Variables after = task(0);
    EXPECT_EQ(after["UCX_NET_DEVICES"], "users");
    EXPECT_EQ(after["PACED_FABRIC_STEP_STAMP"], "right");
    EXPECT_EQ(after.count("SLURM_PACED_FABRIC_KEY"), 0U);
}

TEST_F(Step, preload) {
    const std::string library = (folder / "lib.so").string();
    const std::string lines = "preload " + library;
    fake_setenv("PACED_FABRIC_FAKE_LINES", lines.c_str());
    fake_setenv("LD_PRELOAD", "/users.so");
    launch();
    Variables without = task(0);
    EXPECT_EQ(without["LD_PRELOAD"], "/users.so");
    EXPECT_EQ(without["LOG"], "log paced-fabric: n3: " + library + " is not there for the tasks; nothing will be recorded\n");
    EXPECT_EQ(task(1)["LOG"], "");
    write("lib.so", "");
    EXPECT_EQ(task(0)["LD_PRELOAD"], library + ":/users.so");
    const std::string longest(20'000, 'x');
    fake_setenv("LD_PRELOAD", longest.c_str());
    Variables with_longest = task(0);
    EXPECT_EQ(with_longest["LD_PRELOAD"], longest);
    EXPECT_EQ(with_longest["LOG"], "log paced-fabric: n3: LD_PRELOAD is too long to add to; nothing will be recorded\n");
}

TEST_F(Step, launcher_daemons_are_left_alone) {
    char orted[] = "/opt/openmpi/bin/orted", train[] = "train";
    char* arguments[] = {orted, train, nullptr};
    fake.arguments = arguments;
    fake.argument_count = 2;
    launch();
    EXPECT_EQ(log(), "debug paced-fabric: /opt/openmpi/bin/orted launches the ranks itself; this step is left alone\n");
    EXPECT_EQ(task(0).count("PACED_FABRIC_STEP_MODE"), 0U);
    begin();
    fake.arguments = arguments + 1;
    fake.argument_count = 1;
    launch();
    EXPECT_EQ(task(0)["PACED_FABRIC_STEP_MODE"], "observe");
}

TEST_F(Step, report_and_cleaning) {
    const std::filesystem::path mine = "/dev/shm/paced-fabric-test-" + std::to_string(getpid()) + "/run";
    const std::string lines = "leader yes;run-dir " + mine.string();
    const auto run = [&](const char* finish_kind) {
        begin();
        fake_setenv("PACED_FABRIC_FAKE_LINES", lines.c_str());
        fake_setenv("PACED_FABRIC_FAKE_FINISH", finish_kind);
        launch();
        fake.log[0] = '\0';
        std::filesystem::create_directories(mine);
        for (const char* name : {"segment", "key", "plan.json", "merged", "node-n1.dump"}) std::ofstream(mine / name) << name;
        finish();
        EXPECT_FALSE(std::filesystem::exists(mine));
        return log();
    };
    EXPECT_EQ(run(""), "log fake: finished " + mine.filename().string() + " as " + std::to_string(getuid()) + "\n");
    EXPECT_EQ(run("killed_twice"), run(""));
    // however often it is killed, the end of a step is held for no longer than its deadline
    const auto begun = std::chrono::steady_clock::now();
    EXPECT_NE(run("killed_late").find("no report"), std::string::npos);
    EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(12));
    EXPECT_EQ(run("crash"), "log paced-fabric: n3: no report: the helper was ended by signal 11\n");
    EXPECT_EQ(run("nonsense"), "log paced-fabric: n3: no report: the helper gave an answer that is not understood: a line that the protocol does not know\n");
    EXPECT_EQ(run("flood"), "log paced-fabric: n3: no report: the helper answered too much\n");

    // folders are not ours, and what a link points to stays
    begin();
    fake_setenv("PACED_FABRIC_FAKE_LINES", lines.c_str());
    launch();
    write("precious", "x");
    std::filesystem::create_directories(mine / "folder");
    std::filesystem::create_symlink(folder / "precious", mine / "key");
    std::ofstream(mine / "folder/users") << "x";
    fake.log[0] = '\0';
    finish();
    EXPECT_EQ(log(), "log paced-fabric: n3: no rank of this step got through MPI_Init; nothing was recorded\n");
    begin();  // who wants no report is told of none
    fake_setenv("PACED_FABRIC_FAKE_LINES", lines.c_str());
    fake_setenv("SLURM_PACED_FABRIC_REPORT", "none");
    launch();
    fake.log[0] = '\0';
    finish();
    EXPECT_EQ(log(), "");
    EXPECT_TRUE(std::filesystem::exists(mine / "folder/users") && std::filesystem::exists(folder / "precious"));
    EXPECT_FALSE(std::filesystem::is_symlink(mine / "key"));
    std::filesystem::remove_all(mine.parent_path());
}

TEST_F(Step, cleaning_is_not_led_astray) {
    const std::filesystem::path above = "/dev/shm/paced-fabric-test-" + std::to_string(getpid());
    const std::string lines = "leader no;run-dir " + (above / "run").string();
    fake_setenv("PACED_FABRIC_FAKE_LINES", lines.c_str());
    launch();
    std::filesystem::create_directories(folder / "other");
    write("other/segment", "x");
    std::filesystem::create_directories(above);
    std::filesystem::create_directory_symlink(folder / "other", above / "run");
    finish();
    EXPECT_TRUE(std::filesystem::exists(folder / "other/segment"));
    std::filesystem::remove_all(above);
}

TEST_F(Step, a_failed_launch_is_cleared_in_exit) {
    const std::filesystem::path mine = "/dev/shm/paced-fabric-test-" + std::to_string(getpid()) + "/run";
    const std::string lines = "leader no;run-dir " + mine.string();
    fake_setenv("PACED_FABRIC_FAKE_LINES", lines.c_str());
    fake.local_tasks = 4;
    launch();
    std::filesystem::create_directories(mine);
    std::ofstream(mine / "key") << "x";
    call(plugin.task_exit);
    EXPECT_TRUE(std::filesystem::exists(mine));
    call(plugin.exit);
    EXPECT_FALSE(std::filesystem::exists(mine));
    std::filesystem::remove(mine.parent_path());
}

TEST_F(Step, the_kill_switch) {
    write("disabled", "");
    launch();
    finish();
    const std::string debug = "debug paced-fabric: " + (folder / "disabled").string() + " is there; the plugin does nothing\n";
    const std::string line = "log paced-fabric: off: " + (folder / "disabled").string() + " exists\n";
    EXPECT_EQ(log(), debug + line);
    EXPECT_EQ(task(0).count("PACED_FABRIC_STEP_MODE"), 0U);

    const auto says = [&](const char* mode, const std::function<void()>& prepare, const std::string& expected) {
        begin();
        prepare();
        launch(mode);
        finish();
        EXPECT_EQ(log(), debug + expected);
    };
    const auto nothing = [] {};
    says(nullptr, nothing, "");
    says("off", nothing, "");
    write("policy.toml", "schema = 1\n");
    says(nullptr, nothing, "");
    says(nullptr, [] { fake_setenv("PACED_FABRIC", "observe"); }, line);
    says(nullptr, [] { fake_setenv("SLURM_PACED_FABRIC_MODE", ""); }, line);
    says("off", [] { fake_setenv("PACED_FABRIC", "observe"); }, "");
    says("observe", [] { fake.node = 1; }, "");
    says("observe", [] { fake.step = 0xfffffffb; }, "");  // the batch script
    char orted[] = "orted";
    char* arguments[] = {orted, nullptr};
    says("observe", [&] { fake.arguments = arguments; fake.argument_count = 1; }, "");  // srun has said it
}

TEST_F(Step, helper_runs_as_the_user_and_cannot_go_back) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
    fake.uid = 65534;
    fake.gid = 65534;
    fake.groups[0] = 65534;
    fake.groups[1] = 12345;
    fake.group_count = 2;
    fake_setenv("PACED_FABRIC_FAKE_SAY", "privileges");
    EXPECT_EQ(call(plugin.init), 0);
    option("paced-fabric", "observe", 1);
    call(plugin.init_post_opt);
    ASSERT_EQ(setegid(65534), 0);
    ASSERT_EQ(seteuid(65534), 0);  // as in user_init: real root, effective user
    call(plugin.user_init);
    EXPECT_EQ(geteuid(), 65534U);
    ASSERT_EQ(seteuid(0), 0);
    ASSERT_EQ(setegid(0), 0);
    EXPECT_NE(log().find("log fake: uid 65534,65534,65534,65534 gid 65534,65534,65534,65534 groups 12345 65534 no-new-privileges 1\n"), std::string::npos) << log();
}

TEST_F(Step, a_slurmd_that_is_not_root) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
    const pid_t pid = fork();
    if (pid == 0) {
        if (setgroups(0, nullptr) != 0 || setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0) _exit(2);
        fake.uid = fake.gid = 65534;
        launch();
        const bool own_job = log().find("log fake: node n3") != std::string::npos;
        begin();
        fake.uid = 4711;  // somebody else's
        launch();
        const bool others_job = log().find("the helper could not be started (Operation not permitted); this node's part") != std::string::npos;
        finish();
        _exit(own_job && others_job ? 0 : 1);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace paced::test
