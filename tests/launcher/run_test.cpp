// SPDX-License-Identifier: BSD-3-Clause
// `paced run`, copied into a tree of its own beside a library that does nothing, so that these tests need no other
// part of us. Run folders go below the test's folder too.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/base/text.h"
#include "tests/doubles/paths.h"
#include "tests/doubles/run_program.h"
#include "tests/doubles/temporary_folder.h"

namespace paced {
namespace {

namespace fs = std::filesystem;
using Variables = std::map<std::string, std::string>;

// The variables that `env` printed.
Variables parse_environment(const std::string& text) {
    Variables variables;
    for (std::string_view line : split(text, '\n')) {
        const auto equals = line.find('=');
        if (equals != std::string_view::npos) variables.emplace(line.substr(0, equals), line.substr(equals + 1));
    }
    return variables;
}

// Ours among them.
Variables ours(const Variables& all) {
    Variables some;
    for (const auto& [name, value] : all)
        if (name.starts_with("PACED_FABRIC_STEP_") || name == "LD_PRELOAD") some.emplace(name, value);
    return some;
}

class PacedRun : public testing::Test {
protected:
    PacedRun() {
        plant(folder_.path() / "tree");
        folder_.write("policy.toml", "schema = 1\n");
        fs::create_directory(base_);
    }

    static void plant(const fs::path& tree) {
        fs::create_directories(tree / "bin");
        fs::create_directories(tree / "lib");
        fs::copy_file(test::bin_dir() / "paced", tree / "bin/paced");
        fs::copy_file(PACED_FABRIC_PRELOAD_DOUBLE, tree / "lib/libpaced_fabric.so");
        std::ofstream(tree / "bin/paced-fabric-helper") << "#!/bin/sh\n";
        fs::permissions(tree / "bin/paced-fabric-helper", fs::perms::owner_all);
    }

    std::vector<std::string> words(std::vector<std::string> flags, const std::vector<std::string>& command) const {
        flags.insert(flags.begin(), {program_, "run", "--config=" + policy_, "--run-base=" + base_});
        flags.emplace_back("--");
        flags.insert(flags.end(), command.begin(), command.end());
        return flags;
    }

    test::Outcome run(std::vector<std::string> flags, const std::vector<std::string>& command, Variables environment = {}) const {
        return test::run_program(words(std::move(flags), command), {.environment = std::move(environment)});
    }

    // paced run with a command that prints its environment.
    Variables variables_of(const std::vector<std::string>& flags, const Variables& environment = {}) const {
        const auto outcome = run(flags, {"env"}, environment);
        EXPECT_EQ(outcome.exit_code, 0);
        EXPECT_EQ(outcome.err, "");
        return parse_environment(outcome.out);
    }

    std::string user_folder() const { return base_ + "/paced-fabric-" + std::to_string(geteuid()); }

    test::TemporaryFolder folder_;
    std::string program_ = folder_ / "tree/bin/paced";
    std::string library_ = folder_ / "tree/lib/libpaced_fabric.so";
    std::string policy_ = folder_ / "policy.toml";
    std::string base_ = folder_ / "shm";
};

TEST_F(PacedRun, IsTheCommandAloneWhereNothingIsAskedFor) {
    const auto outcome = run({}, {"sh", "-c", "env; exit 7"});
    EXPECT_EQ(outcome.exit_code, 7);
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(ours(parse_environment(outcome.out)), Variables{});
    EXPECT_FALSE(fs::exists(user_folder()));
}

TEST_F(PacedRun, ExitCodesAndSignalsAreTheCommandsOwn) {
    EXPECT_EQ(run({"--paced-fabric=observe"}, {"false"}).exit_code, 1);
    EXPECT_EQ(run({"--paced-fabric=observe"}, {"sh", "-c", "kill -TERM $$"}).exit_code, 128 + 15);
    const auto missing = run({}, {"/no/such/program"});
    EXPECT_EQ(missing.exit_code, 127);
    EXPECT_EQ(missing.err, "paced run: cannot run '/no/such/program': No such file or directory\n");
    const auto no_program = run({}, {policy_});
    EXPECT_EQ(no_program.exit_code, 126);
    EXPECT_EQ(no_program.err, "paced run: cannot run '" + policy_ + "': Permission denied\n");
}

TEST_F(PacedRun, TheCommandsOwnFlagsAreNotOurs) {
    EXPECT_EQ(run({"--paced-fabric"}, {"echo", "--paced-fabric=x", "--", "-n"}).out, "--paced-fabric=x -- -n\n");
    // without the dashes, the first word without one begins the command
    const auto outcome = test::run_program({program_, "run", "--config=" + policy_, "--run-base=" + base_, "--paced-fabric", "echo", "--paced"});
    EXPECT_EQ(outcome.out, "--paced\n");
    EXPECT_EQ(outcome.exit_code, 0);
}

TEST_F(PacedRun, SetsTheStepAlone) {
    const Variables all = variables_of({"--paced-fabric=observe", "--paced-fabric-window=500us"});
    const std::string stamp = all.at("PACED_FABRIC_STEP_STAMP");
    ASSERT_TRUE(stamp.starts_with("alone:")) << stamp;
    const std::string session = all.at("PACED_FABRIC_STEP_SESSION");
    EXPECT_TRUE(session.starts_with("alone-" + stamp.substr(6) + '-')) << session;
    const std::string run_dir = user_folder() + '/' + session;
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    EXPECT_EQ(ours(all), (Variables{{"LD_PRELOAD", library_},
                                    {"PACED_FABRIC_STEP_KEY_FILE", run_dir + "/key"},
                                    {"PACED_FABRIC_STEP_LEADER", "self"},
                                    {"PACED_FABRIC_STEP_LEAF", ""},
                                    {"PACED_FABRIC_STEP_MODE", "observe"},
                                    {"PACED_FABRIC_STEP_NODE", host},
                                    {"PACED_FABRIC_STEP_NODE_COUNT", "1"},
                                    {"PACED_FABRIC_STEP_PACING", ""},
                                    {"PACED_FABRIC_STEP_PLAN", run_dir + "/plan.json"},
                                    {"PACED_FABRIC_STEP_PORTS", "61000-61999"},
                                    {"PACED_FABRIC_STEP_REPORTER", folder_ / "tree/bin/paced-fabric-helper"},
                                    {"PACED_FABRIC_STEP_RUN_DIR", run_dir},
                                    {"PACED_FABRIC_STEP_SESSION", session},
                                    {"PACED_FABRIC_STEP_STAMP", stamp},
                                    {"PACED_FABRIC_STEP_WINDOW", "500000"}}));
    struct stat status {};
    ASSERT_EQ(lstat(run_dir.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0700u);
    ASSERT_EQ(lstat((run_dir + "/key").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0600u);
    EXPECT_EQ(status.st_size, 64);
}

TEST_F(PacedRun, PacingTakesTheSitesConstantsAlong) {
    folder_.write("policy.toml", "schema = 1\n[limits]\nwindow_max = \"2ms\"\nexploration_max_percent = 0.1\n[pacing]\nleast_pairs = 6\n");
    const Variables all = variables_of({"--paced-fabric=pace"});
    EXPECT_EQ(all.at("PACED_FABRIC_STEP_MODE"), "pace");
    EXPECT_EQ(all.at("PACED_FABRIC_STEP_WINDOW"), "auto:2000000");
    EXPECT_EQ(all.at("PACED_FABRIC_STEP_PACING"), "least_pairs=6 exploration_percent=0.1");
    EXPECT_EQ(all.at("PACED_FABRIC_STEP_LEAF"), "");  // one node has no leaf to speak of
}

TEST_F(PacedRun, EveryRunAloneIsAnotherStep) {
    const Variables one = variables_of({"--paced-fabric"}), two = variables_of({"--paced-fabric"});
    EXPECT_NE(one.at("PACED_FABRIC_STEP_SESSION"), two.at("PACED_FABRIC_STEP_SESSION"));
    EXPECT_NE(test::read_file(one.at("PACED_FABRIC_STEP_KEY_FILE")), test::read_file(two.at("PACED_FABRIC_STEP_KEY_FILE")));
}

TEST_F(PacedRun, ModesComeFromPolicyEnvironmentAndFlags) {
    folder_.write("policy.toml", "schema = 1\n[defaults]\nmode = \"observe\"\n[[rule]]\nmatch = { partition = \"quiet\" }\nset = { mode = \"off\" }\n[policy.fast]\nmode = \"pace\"\nwindow = \"1s\"\n");
    EXPECT_EQ(variables_of({}).at("PACED_FABRIC_STEP_MODE"), "observe");
    EXPECT_EQ(ours(variables_of({}, {{"SLURM_JOB_PARTITION", "quiet"}})), Variables{});
    EXPECT_EQ(variables_of({}, {{"SLURM_JOB_PARTITION", "quiet"}, {"PACED_FABRIC", "pace"}}).at("PACED_FABRIC_STEP_MODE"), "pace");
    EXPECT_EQ(ours(variables_of({"--paced-fabric=off"}, {{"PACED_FABRIC", "pace"}})), Variables{});
    const auto cut = run({"--paced-fabric=fast"}, {"env"});
    EXPECT_EQ(cut.err, "paced-fabric: window 1s cut to the site's window_max 100ms\n");
    EXPECT_EQ(parse_environment(cut.out).at("PACED_FABRIC_STEP_WINDOW"), "100000000");
}

// sbatch --paced-fabric=observe, and mpirun paced run inside: the job's flags are what the plugin left in SLURM_PACED_FABRIC_*.
TEST_F(PacedRun, FlagsOfTheJobAroundItCount) {
    const Variables job{{"SLURM_JOB_ID", "7"}, {"SLURM_PACED_FABRIC_MODE", "observe"}, {"SLURM_PACED_FABRIC_WINDOW", "500us"}, {"PACED_FABRIC", "off"}};
    const Variables all = variables_of({}, job);
    EXPECT_EQ(all.at("PACED_FABRIC_STEP_MODE"), "observe");
    EXPECT_EQ(all.at("PACED_FABRIC_STEP_WINDOW"), "500000");
    EXPECT_EQ(ours(variables_of({"--paced-fabric=off"}, job)), Variables{});
    Variables left_over = job;
    left_over.erase("SLURM_JOB_ID");
    EXPECT_EQ(ours(variables_of({}, left_over)), Variables{});
    // once right, and wrong by now
    const auto wrong = run({}, {"echo", "ran"}, {{"SLURM_JOB_ID", "7"}, {"SLURM_PACED_FABRIC_MODE", "gone"}});
    EXPECT_EQ(wrong.exit_code, 0);
    EXPECT_EQ(wrong.out, "ran\n");
    EXPECT_EQ(wrong.err, "paced-fabric: --paced-fabric of the job: unknown mode 'gone', ignored\n");
}

TEST_F(PacedRun, ThePlanSaysWhereTheReportGoes) {
    const Variables all = variables_of({"--paced-fabric=observe", "--paced-fabric-report=full,/tmp/r-%j.json"}, {{"SLURM_JOB_ID", "7"}});
    const std::string plan = test::read_file(all.at("PACED_FABRIC_STEP_PLAN"));
    EXPECT_NE(plan.find("\"/tmp/r-7.json\""), std::string::npos) << plan;
    EXPECT_NE(plan.find("flag --paced-fabric-report"), std::string::npos) << plan;
}

TEST_F(PacedRun, ExplainSaysAndChangesNothing) {
    const auto outcome = run({"--paced-fabric=explain", "--paced-fabric-order=ring"}, {"env"});
    EXPECT_TRUE(outcome.err.starts_with("paced-fabric: 1 task: explain (flag --paced-fabric)\n"
                                        "  policy      order ring (flag --paced-fabric-order), bind gpu-nic (built-in), window auto\n"
                                        "              (built-in), report summary (built-in)\n"
                                        "  node        "))
        << outcome.err;
    EXPECT_EQ(ours(parse_environment(outcome.out)), Variables{});
    EXPECT_FALSE(fs::exists(user_folder()));
}

TEST_F(PacedRun, WrongFlagsAreRefused) {
    const auto value = run({"--paced-fabric=obsrve", "--paced-fabric-order"}, {"echo", "ran"});
    EXPECT_EQ(value.exit_code, 1);
    EXPECT_EQ(value.out, "");
    EXPECT_EQ(value.err,
              "--paced-fabric: error: unknown mode 'obsrve'\n"
              "    hint: did you mean 'observe'?\n"
              "    hint: valid: 'off', 'observe', 'pace' or 'explain'\n"
              "--paced-fabric-order: error: a value is missing\n"
              "    hint: valid: 'none', 'ring', 'alltoall' or 'tree', or a grid such as 'tp=8,pp=4,dp=16'\n");
    const auto flag = run({"--paced-fabric-ordr=ring"}, {"echo", "ran"});
    EXPECT_EQ(flag.exit_code, 2);
    EXPECT_EQ(flag.out, "");
    EXPECT_EQ(flag.err, "paced run: unknown flag '--paced-fabric-ordr'\n    hint: did you mean '--paced-fabric-order'?\n    hint: 'paced run --help' shows what there is\n");
    const auto nothing = test::run_program({program_, "run", "--paced-fabric"});
    EXPECT_EQ(nothing.exit_code, 2);
    EXPECT_EQ(nothing.err, "paced run: no command\n    hint: paced run [flags] -- CMD…\n");
}

TEST_F(PacedRun, TheOtherRanksLeaveTheWordsToTheFirst) {
    const Variables rank_1{{"TORCHELASTIC_RUN_ID", "x"}, {"LOCAL_RANK", "1"}, {"RANK", "1"}, {"WORLD_SIZE", "2"}, {"LOCAL_WORLD_SIZE", "2"}};
    const auto outcome = run({"--paced-fabric=obsrve"}, {"echo", "ran"}, rank_1);
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(outcome.err, "");
}

TEST_F(PacedRun, WrongVariablesAreIgnoredWithALine) {
    const auto outcome = run({}, {"echo", "ran"}, {{"PACED_FABRIC", "obsrve"}, {"PACED_FABRIC_WINDOW", "5"}});
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.out, "ran\n");
    EXPECT_EQ(outcome.err, "paced-fabric: PACED_FABRIC: unknown mode 'obsrve', ignored\npaced-fabric: PACED_FABRIC_WINDOW: bad window '5', ignored\n");
}

// Whatever fails, the command runs as without us, and one line says so.
TEST_F(PacedRun, FailsOpen) {
    const auto check = [&](const std::string& line, const Variables& environment = {}) {
        const auto outcome = run({"--paced-fabric=observe"}, {"env"}, environment);
        EXPECT_EQ(outcome.exit_code, 0);
        EXPECT_EQ(outcome.err, "paced-fabric: off: " + line + '\n');
        const auto left = ours(parse_environment(outcome.out));
        const auto preload = environment.find("LD_PRELOAD");
        EXPECT_EQ(left, preload == environment.end() ? Variables{} : (Variables{{"LD_PRELOAD", preload->second}}));
    };
    folder_.write("policy.toml", "schema = 1\n[defaults]\nmode = \"obsrve\"\n");
    check("the site policy has mistakes: " + policy_ + ":3:8: unknown mode 'obsrve'");
    fs::remove(policy_);
    fs::create_directory(policy_);
    check("cannot read " + policy_ + ": Is a directory");
    fs::remove(policy_);
    folder_.write("policy.toml", "schema = 1\n");

    fs::permissions(policy_, fs::perms::others_write, fs::perm_options::add);
    check("the site policy is not used: " + policy_ + " can be written by everybody");
    fs::permissions(policy_, fs::perms::others_write, fs::perm_options::remove);

    folder_.write("disabled", "");
    check(folder_ / "disabled exists");
    fs::remove(folder_ / "disabled");

    fs::rename(library_, library_ + ".away");
    check("libpaced_fabric.so was not found beside the program");
    fs::rename(library_ + ".away", library_);

    fs::remove_all(base_);
    check("cannot open " + base_ + ": No such file or directory");
    fs::create_directory(base_);
    fs::create_directory(folder_ / "elsewhere");
    fs::create_directory_symlink(folder_ / "elsewhere", user_folder());
    check("cannot open " + user_folder() + ": Not a directory");
    EXPECT_TRUE(fs::is_empty(folder_ / "elsewhere"));
    fs::remove(user_folder());
    fs::create_directory(user_folder());
    fs::permissions(user_folder(), fs::perms::all);
    check(user_folder() + " is not a folder of this user alone");
}

TEST_F(PacedRun, AMissingPolicyIsTheBuiltInOne) {
    fs::remove(policy_);
    EXPECT_EQ(variables_of({"--paced-fabric"}).at("PACED_FABRIC_STEP_MODE"), "pace");
}

TEST_F(PacedRun, TheUsersPreloadStaysBehindOurs) {
    const std::string other = folder_ / "other.so";
    fs::copy_file(PACED_FABRIC_PRELOAD_DOUBLE, other);
    EXPECT_EQ(variables_of({"--paced-fabric"}, {{"LD_PRELOAD", other}}).at("LD_PRELOAD"), library_ + ':' + other);
    EXPECT_EQ(variables_of({"--paced-fabric"}, {{"LD_PRELOAD", other + ' ' + library_}}).at("LD_PRELOAD"), library_ + ':' + other);
    EXPECT_EQ(variables_of({}, {{"LD_PRELOAD", other}}).at("LD_PRELOAD"), other);
}

TEST_F(PacedRun, APathThatCannotBePreloadedGetsALink) {
    const std::string tree = folder_ / "a tree:with both";
    plant(tree);
    program_ = tree + "/bin/paced";
    const Variables all = variables_of({"--paced-fabric"});
    const std::string link = all.at("PACED_FABRIC_STEP_RUN_DIR") + "/libpaced_fabric.so";
    EXPECT_EQ(all.at("LD_PRELOAD"), link);
    EXPECT_EQ(fs::read_symlink(link), tree + "/lib/libpaced_fabric.so");
}

TEST_F(PacedRun, StepsAroundItAreTakenFor) {
    // the plugin has done it all
    const Variables plugin{{"SLURM_JOB_ID", "12"}, {"SLURM_STEP_ID", "3"}, {"SLURM_PROCID", "0"}, {"SLURM_LOCALID", "0"}, {"PACED_FABRIC_STEP_STAMP", "slurm:12.3"}, {"PACED_FABRIC_STEP_MODE", "pace"}};
    EXPECT_EQ(ours(variables_of({"--paced-fabric=observe"}, plugin)), (Variables{{"PACED_FABRIC_STEP_STAMP", "slurm:12.3"}, {"PACED_FABRIC_STEP_MODE", "pace"}}));
    // inherited from another step
    Variables stale = plugin;
    stale["PACED_FABRIC_STEP_STAMP"] = "slurm:12.2";
    EXPECT_EQ(variables_of({"--paced-fabric=observe"}, stale).at("PACED_FABRIC_STEP_STAMP"), "slurm:12.3");
    // paced run paced run: the outer one has
    const auto twice = run({"--paced-fabric=observe"}, words({"--paced-fabric=pace"}, {"env"}));
    EXPECT_EQ(twice.err, "");
    EXPECT_EQ(parse_environment(twice.out).at("PACED_FABRIC_STEP_MODE"), "observe");
}

TEST_F(PacedRun, UnderTorchrun) {
    const auto rank = [&](const char* local_rank) {
        return variables_of({"--paced-fabric=observe"}, {{"TORCHELASTIC_RUN_ID", "none"}, {"TORCHELASTIC_RESTART_COUNT", "0"}, {"MASTER_ADDR", "localhost"}, {"MASTER_PORT", "29500"}, {"RANK", local_rank}, {"LOCAL_RANK", local_rank}, {"WORLD_SIZE", "2"}, {"LOCAL_WORLD_SIZE", "2"}, {"GROUP_WORLD_SIZE", "1"}});
    };
    const Variables first = ours(rank("0")), second = ours(rank("1"));
    EXPECT_EQ(first, second);
    EXPECT_EQ(first.at("PACED_FABRIC_STEP_STAMP"), "torch:none");
    EXPECT_EQ(first.at("PACED_FABRIC_STEP_LEADER"), "self");
    const std::string key = test::read_file(first.at("PACED_FABRIC_STEP_KEY_FILE"));
    EXPECT_EQ(test::read_file(first.at("PACED_FABRIC_STEP_RUN_DIR") + "/owners").size() > 20, true);
    // the same run id once more is another step: the folder and its key are new
    const Variables again = ours(rank("0"));
    EXPECT_EQ(again.at("PACED_FABRIC_STEP_RUN_DIR"), first.at("PACED_FABRIC_STEP_RUN_DIR"));
    EXPECT_NE(test::read_file(again.at("PACED_FABRIC_STEP_KEY_FILE")), key);
}

TEST_F(PacedRun, SeveralNodesNeedALeaderAndASecret) {
    const Variables two_nodes{{"TORCHELASTIC_RUN_ID", "a"}, {"MASTER_ADDR", "127.0.0.1"}, {"MASTER_PORT", "1"}, {"RANK", "0"}, {"LOCAL_RANK", "0"}, {"WORLD_SIZE", "2"}, {"LOCAL_WORLD_SIZE", "1"}, {"GROUP_WORLD_SIZE", "2"}};
    const auto no_secret = run({"--paced-fabric=observe"}, {"env"}, two_nodes);
    EXPECT_EQ(no_secret.err, "paced-fabric: the report is of this node alone: the nodes have no secret in common\n");
    const Variables alone = parse_environment(no_secret.out);
    EXPECT_EQ(alone.at("PACED_FABRIC_STEP_LEADER"), "");
    EXPECT_EQ(alone.at("PACED_FABRIC_STEP_NODE_COUNT"), "2");

    Variables with_secret = two_nodes;
    const std::string key(64, 'a');
    with_secret["SLURM_PACED_FABRIC_KEY"] = key;
    const Variables self = variables_of({"--paced-fabric=observe"}, with_secret);
    EXPECT_EQ(self.at("PACED_FABRIC_STEP_LEADER"), "self");
    EXPECT_EQ(test::read_file(self.at("PACED_FABRIC_STEP_KEY_FILE")), key);
    EXPECT_EQ(self.count("SLURM_PACED_FABRIC_KEY"), 0u);
    EXPECT_EQ(variables_of({"--paced-fabric=observe", "--leader=192.0.2.250"}, with_secret).at("PACED_FABRIC_STEP_LEADER"), "192.0.2.250");
    const auto unknown = run({"--paced-fabric=observe", "--leader=no-such-host.invalid"}, {"true"}, with_secret);
    EXPECT_TRUE(unknown.err.starts_with("paced-fabric: the report is of this node alone: the address of no-such-host.invalid ")) << unknown.err;

    const auto mpi = run({"--paced-fabric=observe"}, {"true"},
                         {{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}, {"PMIX_NAMESPACE", "7"}, {"OMPI_MCA_orte_precondition_transports", "0123456789abcdef-0123456789abcdef"}});
    EXPECT_EQ(mpi.err, "paced-fabric: the report is of this node alone: which node is the first is not known; --leader=HOST names it\n");
}

TEST_F(PacedRun, DeadStepsAreSweptAtTheNextLaunch) {
    const std::string dead = user_folder() + "/alone-1-1", young = user_folder() + "/alone-2-2";
    fs::create_directories(dead);
    fs::create_directories(young);
    fs::permissions(user_folder(), fs::perms::owner_all);
    for (const std::string& path : {dead, young}) {
        fs::permissions(path, fs::perms::owner_all);
        struct stat space {};
        ASSERT_EQ(stat("/proc/self/ns/pid", &space), 0);
        std::ofstream(path + "/owners") << "0 999999999 1 " << space.st_ino << '\n';
        std::ofstream(path + "/segment") << "x";
    }
    const timespec old[2] = {{1'000'000'000, 0}, {1'000'000'000, 0}};
    ASSERT_EQ(utimensat(AT_FDCWD, dead.c_str(), old, 0), 0);
    variables_of({"--paced-fabric"});
    EXPECT_FALSE(fs::exists(dead));
    EXPECT_TRUE(fs::exists(young));
}

bool has_program(const std::string& name) { return test::run_program({"sh", "-c", "command -v " + name}).exit_code == 0; }

// Two real ranks write their environments; both must be of one step, each with our library.
class PacedRunUnderMpi : public PacedRun {
protected:
    void check(std::vector<std::string> launcher, const std::string& rank_variable, const std::string& stamp_start) {
        const auto command = words({"--paced-fabric=observe"}, {"sh", "-c", "env > " + (folder_ / "rank") + ".$" + rank_variable});
        launcher.insert(launcher.end(), command.begin(), command.end());
        const auto outcome = test::run_program(launcher);
        ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
        EXPECT_EQ(outcome.out, "");
        EXPECT_EQ(outcome.err, "");
        const Variables first = ours(parse_environment(test::read_file(folder_ / "rank.0"))), second = ours(parse_environment(test::read_file(folder_ / "rank.1")));
        EXPECT_EQ(first, second);
        ASSERT_EQ(first.count("PACED_FABRIC_STEP_STAMP"), 1u);
        EXPECT_TRUE(first.at("PACED_FABRIC_STEP_STAMP").starts_with(stamp_start)) << first.at("PACED_FABRIC_STEP_STAMP");
        EXPECT_EQ(first.at("PACED_FABRIC_STEP_LEADER"), "self");
        EXPECT_EQ(first.at("PACED_FABRIC_STEP_NODE_COUNT"), "1");
        const std::string owners = test::read_file(first.at("PACED_FABRIC_STEP_RUN_DIR") + "/owners");
        EXPECT_EQ(std::count(owners.begin(), owners.end(), '\n'), 2);
    }
};

TEST_F(PacedRunUnderMpi, OpenMpi) {
    if (!has_program("mpirun.openmpi")) GTEST_SKIP() << "mpirun.openmpi is not there";
    check({"mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n", "2"}, "OMPI_COMM_WORLD_RANK", "pmix:");
}

TEST_F(PacedRunUnderMpi, Mpich) {
    if (!has_program("mpirun.mpich")) GTEST_SKIP() << "mpirun.mpich is not there";
    check({"mpirun.mpich", "-n", "2"}, "PMI_RANK", "pmi:");
}

}  // namespace
}  // namespace paced
