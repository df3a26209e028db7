// SPDX-License-Identifier: BSD-3-Clause
// `paced-fabric-helper check-flag` and `step`: whole answers.
#include <optional>
#include <sstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/doubles/paths.h"
#include "tests/helper/helper_run.h"

namespace paced::test {
namespace {

const std::string helper = bin_dir() / "paced-fabric-helper";
const std::string probe = bin_dir() / "paced-fabric-probe";

class Step : public ::testing::Test {
protected:
    Step() : job_("77" + std::to_string(getpid())), run_dir_("/dev/shm/paced-fabric-" + std::to_string(geteuid()) + "/" + job_ + ".0") {
        policy_ = folder_.write("policy.toml", "schema = 1\n[defaults]\nflag_mode = \"observe\"\n");
        library_ = folder_.write("libpaced_fabric.so", "");
        topology_ = folder_.write("topology.conf", "SwitchName=leaf1 Nodes=n[1-2]\nSwitchName=leaf2 Nodes=n[3-4]\nSwitchName=spine Switches=leaf[1-2]\n");
        snapshot_ = folder_.write("snapshot.json", run({probe, data("topology/fake-no-gpu.xml")}, {}).out);
        given_ = {{"PACED_FABRIC_HELPER_CONFIG", policy_}, {"PACED_FABRIC_HELPER_SNAPSHOT", snapshot_}, {"PACED_FABRIC_HELPER_PROBE", probe},
                  {"PACED_FABRIC_HELPER_LIBRARY", library_}, {"PACED_FABRIC_HELPER_TOPOLOGY_CONF", topology_}, {"PACED_FABRIC_HELPER_MODE", "observe"},
                  {"PACED_FABRIC_HELPER_JOB", job_}, {"PACED_FABRIC_HELPER_STEP", "0"}, {"PACED_FABRIC_HELPER_NODE_NAME", "n1"},
                  {"PACED_FABRIC_HELPER_NODE_INDEX", "0"}, {"PACED_FABRIC_HELPER_NODE_COUNT", "1"}, {"PACED_FABRIC_HELPER_LOCAL_TASKS", "2"},
                  {"PACED_FABRIC_HELPER_TASKS", "2"}, {"PACED_FABRIC_HELPER_KEY", std::string(64, 'a')}, {"SLURM_STEP_NODELIST", "n1"}};
    }
    ~Step() override {
        std::error_code ignored;
        std::filesystem::remove_all(run_dir_, ignored);
    }

    void set(const std::string& name, const std::string& value) { given_["PACED_FABRIC_HELPER_" + name] = value; }
    void four_nodes(int index) {
        set("NODE_COUNT", "4");
        set("TASKS", "8");
        set("NODE_INDEX", std::to_string(index));
        set("NODE_NAME", "n" + std::to_string(index + 1));
        given_["SLURM_STEP_NODELIST"] = "n[1-4]";
    }

    // The answer, with what differs between runs replaced.
    std::string answer() {
        const Said said = run({helper, "step"}, given_, folder_.path());
        EXPECT_EQ(said.code, 0) << said.err;
        EXPECT_EQ(said.err, "");
        return replaced(replaced(said.out, folder_.path(), "DIR"), job_, "JOB");
    }
    struct Paces {
        std::string window, constants, leaf;
    };
    std::string variables(const std::string& leader, const std::string& node, int nodes, const std::optional<Paces>& paces = {}) const {
        const std::string dir = replaced(run_dir_, job_, "JOB");
        std::ostringstream text;
        text << "env PACED_FABRIC_STEP_STAMP=slurm:JOB.0\nenv PACED_FABRIC_STEP_MODE=" << (paces ? "pace" : "observe")
             << "\nenv PACED_FABRIC_STEP_WINDOW=" << (paces ? paces->window : "auto") << '\n'
             << "env PACED_FABRIC_STEP_RUN_DIR=" << dir << "\nenv PACED_FABRIC_STEP_PLAN=" << dir << "/plan.json\n"
             << "env PACED_FABRIC_STEP_LEADER=" << leader << "\nenv PACED_FABRIC_STEP_PORTS=61000-61999\n"
             << "env PACED_FABRIC_STEP_KEY_FILE=" << dir << "/key\nenv PACED_FABRIC_STEP_SESSION=JOB.0\n"
             << "env PACED_FABRIC_STEP_NODE=" << node << "\nenv PACED_FABRIC_STEP_NODE_COUNT=" << nodes
             << "\nenv PACED_FABRIC_STEP_PACING=" << (paces ? paces->constants : "") << "\nenv PACED_FABRIC_STEP_LEAF=" << (paces ? paces->leaf : "")
             << "\nenv PACED_FABRIC_STEP_REPORTER=\npreload DIR/libpaced_fabric.so\n";
        return text.str();
    }
    std::string run_dir_line() const { return "run-dir " + replaced(run_dir_, job_, "JOB") + '\n'; }

    Folder folder_;
    std::string job_, run_dir_, policy_, library_, topology_, snapshot_;
    std::map<std::string, std::string> given_;
};

TEST_F(Step, OneNodeObserved) {
    EXPECT_EQ(answer(), "paced-fabric-step 1\n"
                        "log paced-fabric: job JOB.0, 2 tasks on 1 node n1: observe (flag --paced-fabric)\n"
                        "log   node        n1: no GPUs, nothing to bind\n" +
                            run_dir_line() + "leader yes\n" + variables("self", "n1", 1) + "mode observe\nend\n");
    EXPECT_EQ(read_file(run_dir_ + "/key"), std::string(64, 'a'));
    EXPECT_NE(read_file(run_dir_ + "/plan.json").find("\"mode_run\": \"observe\""), std::string::npos);
}

TEST_F(Step, ABareFlagMeansWhatTheSiteSays) {
    set("MODE", "");
    EXPECT_NE(answer().find(": observe (flag --paced-fabric,"), std::string::npos);
    set("MODE", "(null)");  // as srun 22.05 hands it on
    EXPECT_NE(answer().find(": observe (flag --paced-fabric,"), std::string::npos);
}

TEST_F(Step, FourNodesWithGpusAndTwoLeaves) {
    four_nodes(0);
    set("SNAPSHOT", folder_.write("gpus.json", run({probe, data("topology/fake-8gpu-4nic.xml")}, {}).out));
    set("CONFIG", folder_.write("pace.toml", "schema = 1\n[limits]\nexploration_max_percent = 0.1\n[pacing]\nleast_pairs = 6\n"));
    set("MODE", "pace");
    set("USER_LD_PRELOAD", "/opt/tool.so");
    given_["UCX_NET_DEVICES"] = "mlx5_0:1";
    EXPECT_EQ(answer(), "paced-fabric-step 1\n"
                        "log paced-fabric: job JOB.0, 8 tasks on 4 nodes n[1-4]: pace (flag --paced-fabric)\n"
                        "log   pacing      paces where it measurably helps, else steps aside; delays of one collective stay under\n"
                        "log               100ms, experiments may cost 0.1% of the time\n"
                        "log               set in DIR/pace.toml: least_pairs=6 exploration_percent=0.1\n"
                        "log   fabric      2 leaves, from DIR/topology.conf: leaf1 n[1-2]; leaf2 n[3-4]\n"
                        "log               a ring over the ranks changes leaves 2 times, the fewest possible\n"
                        "log   node        n1: 8 GPUs (H100 SXM5 80GB), 2 tasks\n"
                        "log               GPU  PCI           NUMA  CPUs        NIC     relation\n"
                        "log                 0  0000:13:00.0     0  0-7,16-23   mlx5_0  PIX\n"
                        "log                 1  0000:14:00.0     0  0-7,16-23   mlx5_0  PIX\n"
                        "log                 2  0000:23:00.0     0  0-7,16-23   mlx5_1  PIX\n"
                        "log                 3  0000:24:00.0     0  0-7,16-23   mlx5_1  PIX\n"
                        "log                 4  0000:93:00.0     1  8-15,24-31  mlx5_2  PIX\n"
                        "log                 5  0000:94:00.0     1  8-15,24-31  mlx5_2  PIX\n"
                        "log                 6  0000:a3:00.0     1  8-15,24-31  mlx5_3  PIX\n"
                        "log                 7  0000:a4:00.0     1  8-15,24-31  mlx5_3  PIX\n"
                        "log   kept        your UCX_NET_DEVICES stays as it is\n"
                        "log   kept        your LD_PRELOAD stays, behind our library: /opt/tool.so\n"
                        "log   note        2 tasks for 8 GPUs: which one a task uses is not known, so one that sees them all is\n"
                        "log               not bound; one that Slurm gave its own is\n" +
                            run_dir_line() + "leader yes\n" + variables("self", "n1", 4, Paces{"auto:100000000", "least_pairs=6 exploration_percent=0.1", "leaf1"}) + "mode pace\nend\n");
}

// Another node says nothing where nothing is wrong.
TEST_F(Step, AnotherNodeIsSilent) {
    four_nodes(1);
    given_["SLURM_STEP_NODELIST"] = "192.0.2.7,n2,n3,n4";  // an address needs no name server
    EXPECT_EQ(answer(), "paced-fabric-step 1\n" + run_dir_line() + "leader no\n" + variables("192.0.2.7", "n2", 4) + "mode observe\nend\n");
}

// The interposer of each node is told where it hangs, which only its own helper can say.
TEST_F(Step, EachNodeThatPacesKnowsItsLeaf) {
    const auto leaf = [&] {
        const std::string text = answer(), name = "PACED_FABRIC_STEP_LEAF=";
        const std::size_t at = text.find(name);
        return at == std::string::npos ? "nothing" : text.substr(at + name.size(), text.find('\n', at) - at - name.size());
    };
    four_nodes(3);
    set("MODE", "pace");
    EXPECT_EQ(leaf(), "leaf2");
    std::filesystem::remove_all(run_dir_);  // another launch
    set("TOPOLOGY_CONF", folder_.path().string() + "/missing.conf");
    EXPECT_EQ(leaf(), "");
}

TEST_F(Step, AnotherNodeTellsWhatGoesWrongThere) {
    four_nodes(1);
    given_["SLURM_STEP_NODELIST"] = "host.invalid,n2,n3,n4";
    set("SNAPSHOT", "");
    set("PROBE", "/bin/false");
    EXPECT_EQ(answer(), "paced-fabric-step 1\n"
                        "log paced-fabric: n2: topology unknown: false ended with code 1\n"
                        "log paced-fabric: n2: its records stay out of the report: the address of host.invalid is not known\n" +
                            run_dir_line() + "leader no\n" + variables("", "n2", 4) + "mode observe\nend\n");
}

TEST_F(Step, ExplainChangesNothing) {
    four_nodes(0);
    set("MODE", "explain");
    EXPECT_EQ(answer(), "paced-fabric-step 1\n"
                        "log paced-fabric: job JOB.0, 8 tasks on 4 nodes n[1-4]: explain (flag --paced-fabric)\n"
                        "log   policy      order none (built-in), bind gpu-nic (built-in), window auto (built-in), report summary\n"
                        "log               (built-in)\n"
                        "log   fabric      2 leaves, from DIR/topology.conf: leaf1 n[1-2]; leaf2 n[3-4]\n"
                        "log               a ring over the ranks changes leaves 2 times, the fewest possible\n"
                        "log   node        n1: no GPUs, nothing to bind\n"
                        "log paced-fabric: explain: nothing of this step was changed\n"
                        "mode explain\nend\n");
    EXPECT_FALSE(std::filesystem::exists(run_dir_));
    four_nodes(2);
    EXPECT_EQ(answer(), "paced-fabric-step 1\nmode explain\nend\n");
    set("SNAPSHOT", folder_.write("gpus.json", run({probe, data("topology/fake-8gpu-4nic.xml")}, {}).out));
    EXPECT_EQ(answer(), "paced-fabric-step 1\n"
                        "log paced-fabric: n3: 2 tasks for 8 GPUs: which one a task uses is not known, so one that sees them\n"
                        "log   all is not bound; one that Slurm gave its own is\n"
                        "mode explain\nend\n");
}

TEST_F(Step, OffSaysNothing) {
    given_.erase("PACED_FABRIC_HELPER_MODE");
    EXPECT_EQ(answer(), "paced-fabric-step 1\nmode off\nend\n");
    set("MODE", "off");
    EXPECT_EQ(answer(), "paced-fabric-step 1\nmode off\nend\n");
    EXPECT_FALSE(std::filesystem::exists(run_dir_));
}

TEST_F(Step, AFlagWithoutAModeIsToldOnce) {
    const std::string told = "paced-fabric-step 1\n"
                             "log paced-fabric: --paced-fabric-order has no effect without --paced-fabric: the mode is off (built-in)\n"
                             "mode off\nend\n";
    const std::string silent = "paced-fabric-step 1\nmode off\nend\n";
    four_nodes(0);
    given_.erase("PACED_FABRIC_HELPER_MODE");
    set("ORDER", "ring");
    set("BIND", "none");
    EXPECT_EQ(answer(), told);
    four_nodes(1);
    EXPECT_EQ(answer(), silent);
    four_nodes(0);
    set("MODE", "off");
    EXPECT_EQ(answer(), silent);
    given_.erase("PACED_FABRIC_HELPER_MODE");
    given_["PACED_FABRIC"] = "off";
    EXPECT_EQ(answer(), silent);
    // What the site alone has set is no business of a job's.
    given_.erase("PACED_FABRIC");
    given_.erase("PACED_FABRIC_HELPER_ORDER");
    given_.erase("PACED_FABRIC_HELPER_BIND");
    folder_.write("policy.toml", "schema = 1\n[defaults]\nwindow = \"5ms\"\n[limits]\nwindow_max = \"2ms\"\n");
    EXPECT_EQ(answer(), silent);
}

TEST_F(Step, TheKillSwitchIsToldToWhoAsked) {
    folder_.write("disabled", "");
    EXPECT_EQ(answer(), "paced-fabric-step 1\nlog paced-fabric: switched off by DIR/disabled\nmode off\nend\n");
    given_.erase("PACED_FABRIC_HELPER_MODE");
    EXPECT_EQ(answer(), "paced-fabric-step 1\nmode off\nend\n");
}

TEST_F(Step, AMalformedPolicyIsOneLineAndOff) {
    folder_.write("policy.toml", "schema = 1\n[defaults]\nmod = \"observe\"\nwindow = 7\n");
    EXPECT_EQ(answer(), "paced-fabric-step 1\n"
                        "log paced-fabric: off: DIR/policy.toml:3:1: error: unknown key 'mod' in [defaults] (and 1 more mistake)\n"
                        "mode off\nend\n");
}

TEST_F(Step, AWrongVariableIsToldAndLeftOut) {
    given_["PACED_FABRIC_ORDER"] = "rign";
    const std::string text = answer();
    EXPECT_NE(text.find("log paced-fabric: PACED_FABRIC_ORDER is ignored: unknown order 'rign'; did you mean 'ring'?\n"), std::string::npos) << text;
    EXPECT_NE(text.find("\nmode observe\nend\n"), std::string::npos);
}

TEST_F(Step, AMissingLibraryIsOneLine) {
    std::filesystem::remove(library_);
    EXPECT_EQ(answer(), "paced-fabric-step 1\n"
                        "log paced-fabric: job JOB.0, 2 tasks on 1 node n1: observe (flag --paced-fabric)\n"
                        "log   node        n1: no GPUs, nothing to bind\n"
                        "log paced-fabric: nothing is recorded: DIR/libpaced_fabric.so is missing\n"
                        "mode off\nend\n");
    EXPECT_FALSE(std::filesystem::exists(run_dir_));
}

TEST_F(Step, WithoutSnapshotTheProbeIsAsked) {
    set("SNAPSHOT", "");
    set("NODE_TOPOLOGY", data("topology/fake-8gpu-4nic.xml"));
    EXPECT_NE(answer().find("log   node        n1: 8 GPUs (H100 SXM5 80GB), 2 tasks\n"), std::string::npos);
}

TEST_F(Step, ABrokenSnapshotIsReplacedByTheProbe) {
    set("SNAPSHOT", folder_.write("broken.json", "{"));
    set("NODE_TOPOLOGY", data("topology/fake-8gpu-4nic.xml"));
    EXPECT_NE(answer().find("n1: 8 GPUs"), std::string::npos);
}

TEST_F(Step, AProbeThatHangsIsGivenUp) {
    set("SNAPSHOT", "");
    const std::filesystem::path hanging = folder_.write("probe", "#!/bin/sh\nwhile :; do :; done\n");
    std::filesystem::permissions(hanging, std::filesystem::perms::owner_all);
    set("PROBE", hanging);
    EXPECT_NE(answer().find("log   node        n1: topology unknown: probe did not answer in time\n"), std::string::npos);
}

TEST_F(Step, AnUnreadableTopologyIsOneLine) {
    four_nodes(0);
    set("TOPOLOGY_CONF", folder_.path() / "nowhere.conf");
    EXPECT_NE(answer().find("log   fabric      switches are not known: there is no DIR/nowhere.conf\n"), std::string::npos);
    folder_.write("topology.conf", "SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2\n");
    set("TOPOLOGY_CONF", topology_);
    EXPECT_NE(answer().find("log   fabric      switches are not known: DIR/topology.conf:2:"), std::string::npos);
}

// A step from within a task inherits what the step around it was given.
TEST_F(Step, OurOwnLibraryIsNotTakenForTheUsers) {
    four_nodes(0);
    set("USER_LD_PRELOAD", library_ + ":/opt/tool.so");
    EXPECT_NE(answer().find("log   kept        your LD_PRELOAD stays, behind our library: /opt/tool.so\n"), std::string::npos);
    set("USER_LD_PRELOAD", library_);
    EXPECT_EQ(answer().find("your LD_PRELOAD"), std::string::npos);
}

TEST_F(Step, WithoutAKeyTheFirstNodeReportsAlone) {
    four_nodes(0);
    set("KEY", "");
    const std::string text = answer();
    EXPECT_NE(text.find("log paced-fabric: the report is of the first node alone: this step has no key (the job was submitted where the plugin "
                        "is absent, or srun was started from within a task)\n"),
              std::string::npos);
    EXPECT_NE(text.find("\nleader yes\n"), std::string::npos);
    EXPECT_NE(text.find("\nenv PACED_FABRIC_STEP_LEADER=\n"), std::string::npos);
}

TEST_F(Step, TheReportGoesWhereItWasAskedFor) {
    set("REPORT", "summary,out/%j-%s.json");
    answer();
    EXPECT_NE(read_file(run_dir_ + "/plan.json").find('"' + (folder_.path() / "out" / (job_ + "-0.json")).string() + '"'), std::string::npos);
}

TEST_F(Step, ReportNoneIsQuiet) {
    set("REPORT", "none");
    EXPECT_EQ(answer().find("log "), std::string::npos);
}

// Two launches of one step are not ours to sort out: the second runs without us.
TEST_F(Step, ASecondLaunchOfALivingStepStandsBack) {
    answer();
    const std::string text = answer();
    EXPECT_NE(text.find("log paced-fabric: nothing is recorded: another launch uses "), std::string::npos) << text;
    EXPECT_TRUE(text.ends_with("mode off\nend\n"));
}

TEST(CheckFlag, AcceptsAndRefuses) {
    const Folder folder;
    const std::map<std::string, std::string> given{{"PACED_FABRIC_HELPER_CONFIG", folder.write("policy.toml", "schema = 1\n")}};
    EXPECT_EQ(run({helper, "check-flag", "paced-fabric-order", "ring"}, given).code, 0);
    const Said refused = run({helper, "check-flag", "paced-fabric-order", "rign"}, given);
    EXPECT_EQ(refused.code, 1);
    EXPECT_EQ(refused.out, "");
    EXPECT_TRUE(refused.err.starts_with("--paced-fabric-order: error: ")) << refused.err;
    EXPECT_NE(refused.err.find("did you mean 'ring'?"), std::string::npos) << refused.err;
    folder.write("policy.toml", "nonsense");
    EXPECT_EQ(run({helper, "check-flag", "paced-fabric-order", "rign"}, given).code, 3);
    EXPECT_EQ(run({helper}, {}).code, 2);
    EXPECT_EQ(run({helper, "dance"}, {}).code, 2);
}

}  // namespace
}  // namespace paced::test
