// SPDX-License-Identifier: BSD-3-Clause
// Inside sbatch, salloc and srun.
#include <fcntl.h>
#include <sys/wait.h>

#include "tests/abi/spank/fixture.h"

namespace paced::test {
namespace {

class Submission : public Spank {
protected:
    void TearDown() override {
        for (const char* name : {"MODE", "ORDER", "BIND", "WINDOW", "REPORT", "KEY"}) unsetenv((std::string("SLURM_PACED_FABRIC_") + name).c_str());
        for (const char* name : {"SLURM_JOB_ID", "PACED_FABRIC", "PACED_FABRIC_FAKE"}) unsetenv(name);
        Spank::TearDown();
    }
    // One run of sbatch or srun with these flags; false where it is refused.
    bool run(int context, const std::vector<std::pair<std::string, const char*>>& flags) {
        start(context);
        EXPECT_EQ(call(plugin.init), 0);
        for (const auto& [name, value] : flags) {
            if (option(name, value, 0) != 0) return false;
        }
        EXPECT_EQ(call(plugin.init_post_opt), 0);
        EXPECT_EQ(call(plugin.exit), 0);
        return true;
    }
};

TEST_F(Submission, five_flags_one_with_an_optional_argument) {
    for (const int context : {S_CTX_ALLOCATOR, S_CTX_LOCAL, S_CTX_REMOTE}) {
        start(context);
        call(plugin.init);
        std::vector<std::string> seen;
        for (int i = 0; i < fake.option_count; ++i) {
            const spank_option& flag = *fake.options[i];
            seen.push_back(std::string(flag.name) + " " + flag.arginfo + " " + std::to_string(flag.has_arg));
            EXPECT_GT(std::string(flag.usage).size(), 20U);
        }
        EXPECT_EQ(seen, (std::vector<std::string>{"paced-fabric MODE 2", "paced-fabric-order PATTERN 1", "paced-fabric-bind WHAT 1",
                                                  "paced-fabric-window TIME 1", "paced-fabric-report LEVEL[,PATH] 1"}));
    }
}

TEST_F(Submission, flags_are_handed_on) {
    ASSERT_TRUE(run(S_CTX_ALLOCATOR, {{"paced-fabric", "pace"}, {"paced-fabric-order", "tp=2,dp=4"}, {"paced-fabric-report", "full,/x y"}}));
    EXPECT_EQ(variable("SLURM_PACED_FABRIC_MODE"), "pace");
    EXPECT_EQ(variable("SLURM_PACED_FABRIC_ORDER"), "tp=2,dp=4");
    EXPECT_EQ(variable("SLURM_PACED_FABRIC_BIND"), "(unset)");
    EXPECT_EQ(variable("SLURM_PACED_FABRIC_REPORT"), "full,/x y");
    EXPECT_EQ(variable("SLURM_PACED_FABRIC_KEY").size(), 64U);
    EXPECT_EQ(log(), "");
}

TEST_F(Submission, a_bare_flag_is_one_without_a_value) {
    for (const char* bare : {static_cast<const char*>(nullptr), "", "(null)"}) {
        ASSERT_TRUE(run(S_CTX_ALLOCATOR, {{"paced-fabric", bare}}));
        EXPECT_EQ(variable("SLURM_PACED_FABRIC_MODE"), "");
    }
}

TEST_F(Submission, the_last_value_holds) {
    ASSERT_TRUE(run(S_CTX_LOCAL, {{"paced-fabric", "pace"}, {"paced-fabric", "observe"}, {"paced-fabric", "observe"}}));
    EXPECT_EQ(variable("SLURM_PACED_FABRIC_MODE"), "observe");
}

TEST_F(Submission, sbatch_takes_nothing_over_srun_does) {
    setenv("SLURM_JOB_ID", "7", 1);
    ASSERT_TRUE(run(S_CTX_ALLOCATOR, {{"paced-fabric", "pace"}, {"paced-fabric-order", "ring"}}));
    const std::string key = variable("SLURM_PACED_FABRIC_KEY");

    ASSERT_TRUE(run(S_CTX_LOCAL, {{"paced-fabric-order", "tree"}}));
    EXPECT_EQ(variable("SLURM_PACED_FABRIC_MODE"), "pace");
    EXPECT_EQ(variable("SLURM_PACED_FABRIC_ORDER"), "tree");
    EXPECT_EQ(variable("SLURM_PACED_FABRIC_KEY"), key);

    ASSERT_TRUE(run(S_CTX_ALLOCATOR, {{"paced-fabric-window", "2ms"}}));
    EXPECT_EQ(variable("SLURM_PACED_FABRIC_MODE"), "(unset)");
    EXPECT_EQ(variable("SLURM_PACED_FABRIC_ORDER"), "(unset)");
    EXPECT_EQ(variable("SLURM_PACED_FABRIC_WINDOW"), "2ms");
    EXPECT_NE(variable("SLURM_PACED_FABRIC_KEY"), key);

    // outside a job srun makes its own
    unsetenv("SLURM_JOB_ID");
    setenv("SLURM_SPANK__SLURM_SPANK_OPTION_paced_fabric_paced_fabric_bind", "gpu-nic", 1);
    ASSERT_TRUE(run(S_CTX_LOCAL, {}));
    EXPECT_EQ(variable("SLURM_PACED_FABRIC_WINDOW"), "(unset)");
    EXPECT_EQ(variable("SLURM_PACED_FABRIC_KEY"), "(unset)");
    EXPECT_EQ(variable("SLURM_SPANK__SLURM_SPANK_OPTION_paced_fabric_paced_fabric_bind"), "(unset)");
}

TEST_F(Submission, a_key_only_where_somebody_may_want_it) {
    run(S_CTX_ALLOCATOR, {});
    EXPECT_EQ(variable("SLURM_PACED_FABRIC_KEY"), "(unset)");
    run(S_CTX_ALLOCATOR, {{"paced-fabric", "off"}});
    EXPECT_EQ(variable("SLURM_PACED_FABRIC_KEY"), "(unset)");
    setenv("PACED_FABRIC", "observe", 1);
    run(S_CTX_ALLOCATOR, {});
    EXPECT_EQ(variable("SLURM_PACED_FABRIC_KEY").size(), 64U);
    unsetenv("PACED_FABRIC");
    write("policy.toml", "schema = 1\n");
    run(S_CTX_ALLOCATOR, {});
    EXPECT_EQ(variable("SLURM_PACED_FABRIC_KEY").size(), 64U);
}

TEST_F(Submission, srun_does_not_believe_a_key_that_is_none) {
    setenv("SLURM_JOB_ID", "7", 1);
    setenv("SLURM_PACED_FABRIC_KEY", "short", 1);
    run(S_CTX_LOCAL, {{"paced-fabric", "observe"}});
    EXPECT_EQ(variable("SLURM_PACED_FABRIC_KEY").size(), 64U);
}

TEST_F(Submission, components_of_a_heterogeneous_job_have_one_key) {
    run(S_CTX_ALLOCATOR, {{"paced-fabric", "observe"}});
    const std::string key = variable("SLURM_PACED_FABRIC_KEY");
    call(plugin.init_post_opt);
    EXPECT_EQ(variable("SLURM_PACED_FABRIC_KEY"), key);
}

TEST_F(Submission, a_refusal_has_the_helpers_words) {
    EXPECT_FALSE(run(S_CTX_ALLOCATOR, {{"paced-fabric-window", "bad"}}));
    EXPECT_EQ(log(), "log --paced-fabric-window: error: unknown value \"bad\"\nlog --paced-fabric-window: hint: did you mean \"good\"?\n");
    EXPECT_EQ(variable("SLURM_PACED_FABRIC_WINDOW"), "(unset)");
}

TEST_F(Submission, what_cannot_be_checked_is_accepted) {
    const std::pair<const char*, const char*> table[] = {
        {"hang", "did not answer within 300 ms"}, {"crash", "was ended by signal 11"}, {"flood", ""}, {"fail", "exited with code 1"}};
    words.push_back("deadline_ms=300");
    for (const auto& [kind, words_of_it] : table) {
        setenv("PACED_FABRIC_FAKE", kind, 1);
        EXPECT_TRUE(run(S_CTX_LOCAL, {{"paced-fabric", "bad"}})) << kind;
        EXPECT_NE(log().find(words_of_it), std::string::npos) << log();
    }
    std::filesystem::remove(folder / "bin/paced-fabric-helper");
    EXPECT_TRUE(run(S_CTX_LOCAL, {{"paced-fabric", "bad"}}));
    EXPECT_EQ(log(), "debug paced-fabric: no helper program, --paced-fabric is not checked here\n");
}

TEST_F(Submission, known_and_inherited_values_need_no_helper) {
    std::filesystem::remove(folder / "bin/paced-fabric-helper");
    for (const char* mode : {"off", "observe", "pace", "explain", ""}) {
        EXPECT_TRUE(run(S_CTX_ALLOCATOR, {{"paced-fabric", mode}}));
        EXPECT_EQ(log(), "");
    }
    setenv("SLURM_JOB_ID", "7", 1);
    setenv("SLURM_PACED_FABRIC_ORDER", "tp=8", 1);
    EXPECT_TRUE(run(S_CTX_LOCAL, {{"paced-fabric-order", "tp=8"}}));
    EXPECT_EQ(log(), "");
}

TEST_F(Submission, too_long_is_refused) {
    const std::string text(4096, 'x');
    EXPECT_FALSE(run(S_CTX_LOCAL, {{"paced-fabric", text.c_str()}}));
    EXPECT_EQ(log(), "log --paced-fabric: error: the value is longer than 4095 characters\n");
}

TEST_F(Submission, callbacks_survive_odd_calls) {
    start(S_CTX_LOCAL);
    EXPECT_EQ(plugin.init_post_opt(nullptr, 0, nullptr), 0);
    EXPECT_EQ(plugin.exit(nullptr, 0, nullptr), 0);
    call(plugin.init);
    auto* const callback = fake.options[0]->cb;
    EXPECT_EQ(callback(-1, "x", 0), 0);
    EXPECT_EQ(callback(5, "x", 0), 0);
    char* nothing[] = {nullptr, nullptr};
    EXPECT_EQ(plugin.init(nullptr, 1, nothing), 0);
}

TEST_F(Submission, inert_for_a_reason) {
    setenv("SLURM_PACED_FABRIC_MODE", "stays", 1);
    const auto is_inert = [&](const std::string& why) {
        EXPECT_TRUE(run(S_CTX_ALLOCATOR, {{"paced-fabric", "bad"}}));
        EXPECT_EQ(log(), why);
        EXPECT_EQ(variable("SLURM_PACED_FABRIC_MODE"), "stays");
        EXPECT_EQ(variable("SLURM_PACED_FABRIC_KEY"), "(unset)");
    };
    write("disabled", "");
    is_inert("debug paced-fabric: " + (folder / "disabled").string() + " is there; the plugin does nothing\n" +
             "log paced-fabric: off: " + (folder / "disabled").string() + " exists\n");
    std::filesystem::remove(folder / "disabled");
    words.push_back("colour=blue");
    is_inert("log paced-fabric: plugstack.conf: \"colour=blue\" is not understood; the plugin does nothing "
             "(it knows: config=PATH node_topology=FILE topology=FILE helper_dir=DIR deadline_ms=N)\n");
    words.pop_back();
    start(S_CTX_ALLOCATOR);
    fake.options_fail = true;
    call(plugin.init);
    call(plugin.init_post_opt);
    EXPECT_EQ(log(), "log paced-fabric: Slurm did not take the plugin's flags; the plugin does nothing\n");
    EXPECT_EQ(variable("SLURM_PACED_FABRIC_MODE"), "stays");
}

TEST_F(Submission, the_kill_switch_is_named_where_somebody_asks) {
    write("disabled", "");
    write("policy.toml", "schema = 1\n");
    const std::string debug = "debug paced-fabric: " + (folder / "disabled").string() + " is there; the plugin does nothing\n";
    const std::string line = "log paced-fabric: off: " + (folder / "disabled").string() + " exists\n";
    const auto says = [&](int context, const std::vector<std::pair<std::string, const char*>>& flags) {
        EXPECT_TRUE(run(context, flags));
        call(plugin.init_post_opt);  // of another component
        return log();
    };
    EXPECT_EQ(says(S_CTX_ALLOCATOR, {}), debug);
    EXPECT_EQ(says(S_CTX_ALLOCATOR, {{"paced-fabric", "off"}}), debug);
    EXPECT_EQ(says(S_CTX_ALLOCATOR, {{"paced-fabric", nullptr}}), debug + line);
    EXPECT_EQ(says(S_CTX_ALLOCATOR, {{"paced-fabric-order", "ring"}}), debug + line);
    EXPECT_EQ(says(S_CTX_LOCAL, {{"paced-fabric", "observe"}}), debug);  // its step says it
    setenv("PACED_FABRIC", "observe", 1);
    EXPECT_EQ(says(S_CTX_ALLOCATOR, {}), debug + line);
    EXPECT_EQ(says(S_CTX_ALLOCATOR, {{"paced-fabric", "off"}}), debug);
}

const std::string left_alone =
    "paced-fabric: mpirun's daemons are left alone: ranks started as 'mpirun … paced run -- PROGRAM' are recorded, others are not\n";

class Mpirun : public Submission {
protected:
    // One srun that starts mpirun's daemons, in a heterogeneous step of two components; what it logs.
    std::string srun(const char* mode, const char* program = "/usr/bin/orted") {
        setenv("SLURM_JOB_ID", "7", 1);
        std::string name = program;
        char* arguments[] = {name.data(), nullptr};
        std::vector<std::pair<std::string, const char*>> flags;
        if (mode != nullptr) flags.emplace_back("paced-fabric", mode);
        EXPECT_TRUE(run(S_CTX_LOCAL, flags));
        fake.arguments = arguments;
        fake.argument_count = 1;
        for (int component = 0; component < 2; ++component) EXPECT_EQ(call(plugin.local_user_init), 0);
        unsetenv("SLURM_PACED_FABRIC_MODE");
        return log();
    }
    // The same as a child of an mpirun whose stderr is this, and which ties that of its srun to /dev/null.
    void srun_below(int its_stderr) {
        const pid_t mpirun = fork();
        if (mpirun == 0) {
            dup2(its_stderr, 2);
            const pid_t child = fork();
            if (child == 0) {
                dup2(open("/dev/null", O_RDWR), 2);
                _exit(srun("observe").empty() ? 0 : 1);
            }
            int status = -1;
            waitpid(child, &status, 0);
            _exit(WEXITSTATUS(status));
        }
        int status = -1;
        waitpid(mpirun, &status, 0);
        EXPECT_EQ(status, 0);
    }
};

TEST_F(Mpirun, daemons_are_named_once_where_somebody_asks) {
    EXPECT_EQ(srun("observe"), "log " + left_alone);
    EXPECT_EQ(srun("pace", "hydra_pmi_proxy"), "log " + left_alone);
    EXPECT_EQ(srun("observe", "train"), "");
    EXPECT_EQ(srun("off"), "");
    write("policy.toml", "schema = 1\n");
    EXPECT_EQ(srun(nullptr), "");
    setenv("SLURM_PACED_FABRIC_MODE", "", 1);  // from sbatch --export=NONE --paced-fabric
    EXPECT_EQ(srun(nullptr), "log " + left_alone);
    setenv("PACED_FABRIC", "observe", 1);
    EXPECT_EQ(srun(nullptr), "log " + left_alone);
    write("disabled", "");
    EXPECT_EQ(srun(nullptr), "debug paced-fabric: " + (folder / "disabled").string() + " is there; the plugin does nothing\n" +
                                 "log paced-fabric: off: " + (folder / "disabled").string() + " exists\n");
}

TEST_F(Mpirun, what_mpirun_throws_away_goes_where_mpirun_speaks) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    srun_below(ends[1]);
    char text[1024] = {};
    ASSERT_GT(read(ends[0], text, sizeof text - 1), 0);
    EXPECT_EQ(text, left_alone);
    close(ends[0]);
    srun_below(ends[1]);  // nobody reads: nobody is hurt
    close(ends[1]);

    // a job's log is written at its end by all; in another file somebody's next line would lie over ours
    const std::string file = (folder / "job.out").string();
    const auto content = [&] { std::ifstream in(file); return std::string(std::istreambuf_iterator<char>(in), {}); };
    for (const int flags : {O_APPEND, 0}) {
        write("job.out", "before\n");
        const int log_file = open(file.c_str(), O_WRONLY | flags);
        srun_below(log_file);
        close(log_file);
        EXPECT_EQ(content(), flags == O_APPEND ? "before\n" + left_alone : "before\n");
    }
}

}  // namespace
}  // namespace paced::test
