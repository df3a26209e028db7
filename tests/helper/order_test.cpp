// SPDX-License-Identifier: BSD-3-Clause
// `paced-fabric-helper order`: whole answers, and what `step` makes of them.
#include <chrono>

#include <gtest/gtest.h>
#include <unistd.h>

#include "plugin/helper/placed.h"
#include "tests/doubles/paths.h"
#include "tests/helper/helper_run.h"

namespace paced::test {
namespace {

const std::string helper = bin_dir() / "paced-fabric-helper";
const std::string applied = "paced-fabric-order 1\nplaced ordered ring n[1,3,2,4]\norder 1 0,2,1,3\nend\n";
const std::string nothing = "paced-fabric-order 1\nend\n";

std::string kept(const std::string& why) { return "paced-fabric-order 1\nplaced kept " + why + "\nend\n"; }

class Order : public ::testing::Test {
protected:
    Order() {
        policy_ = folder_.write("policy.toml", "schema = 1\n");
        topology_ = folder_.write("topology.conf", "SwitchName=leaf1 Nodes=n[1,3]\nSwitchName=leaf2 Nodes=n[2,4]\nSwitchName=spine Switches=leaf[1-2]\n");
        given_ = {{"PACED_FABRIC_HELPER_CONFIG", policy_},      {"PACED_FABRIC_HELPER_TOPOLOGY_CONF", topology_},
                  {"PACED_FABRIC_HELPER_ORDER", "ring"},        {"PACED_FABRIC_HELPER_MODE", "observe"},
                  {"PACED_FABRIC_HELPER_SLURM_VERSION", std::to_string(0x160508)},
                  {"SLURM_CONF", folder_.write("slurm.conf", "ClusterName=x\n")},
                  {"SLURM_JOB_ID", "42"},                       {"SLURM_JOB_NODELIST", "n[1-4]"},
                  {"SLURM_JOB_NUM_NODES", "4"},                 {"SLURM_NTASKS", "4"},
                  {"SLURM_TASKS_PER_NODE", "1(x4)"}};
    }
    std::string answer(std::vector<std::string> line = {"prog"}) {
        std::vector<std::string> command{helper, "order", "srun"};
        command.insert(command.end(), line.begin(), line.end());
        const Said said = run(command, given_, folder_.path());
        EXPECT_EQ(said.code, 0) << said.err;
        EXPECT_EQ(said.err, "");
        return replaced(said.out, folder_.path(), "DIR");
    }
    Folder folder_;
    std::string policy_, topology_;
    std::map<std::string, std::string> given_;
};

TEST_F(Order, applied_where_the_layout_is_certain) {
    EXPECT_EQ(answer(), applied);
    EXPECT_EQ(answer({"-n4", "--mpi=pmix", "prog", "-w", "n1"}), applied);
    given_["SLURM_NTASKS"] = "8";
    given_["SLURM_TASKS_PER_NODE"] = "2(x4)";
    EXPECT_EQ(answer(), replaced(applied, "order 1 ", "order 2 "));
    EXPECT_EQ(answer({"-w", "n1", "prog"}), kept("-w chooses the nodes"));
}

TEST_F(Order, what_srun_is_told_counts_more) {
    EXPECT_EQ(answer({"--paced-fabric-order=none", "prog"}), nothing);
    EXPECT_EQ(answer({"--paced-fabric=off", "prog"}), nothing);
    EXPECT_EQ(answer({"--paced-fabric=explain", "prog"}), nothing);
    given_.erase("PACED_FABRIC_HELPER_ORDER");
    given_.erase("PACED_FABRIC_HELPER_MODE");
    EXPECT_EQ(answer(), nothing);
    EXPECT_EQ(answer({"--paced-fabric=observe", "--paced-fabric-order", "ring", "prog"}), applied);
    EXPECT_EQ(answer({"--paced-fabric=observe", "prog", "--paced-fabric-order=ring"}), nothing);
    given_["PACED_FABRIC"] = "observe";
    given_["PACED_FABRIC_ORDER"] = "ring";
    EXPECT_EQ(answer(), applied);
}

TEST_F(Order, observe_does_what_the_user_asks_for_and_pace_what_the_site_sets) {
    folder_.write("policy.toml", "schema = 1\n[defaults]\norder = \"ring\"\n");
    given_.erase("PACED_FABRIC_HELPER_ORDER");
    EXPECT_EQ(answer(), nothing);
    given_["PACED_FABRIC_HELPER_MODE"] = "pace";
    EXPECT_EQ(answer(), applied);
    folder_.write("policy.toml", "schema = 1\n[defaults]\nmode = \"pace\"\norder = \"ring\"\n");
    given_.erase("PACED_FABRIC_HELPER_MODE");
    EXPECT_EQ(answer(), applied);
    given_["USER"] = "somebody";
    folder_.write("policy.toml", "schema = 1\n[[rule]]\nmatch = {user = \"somebody\"}\nset = {mode = \"pace\", order = \"ring\"}\n");
    EXPECT_EQ(answer(), applied);
    folder_.write("disabled", "");
    EXPECT_EQ(answer(), nothing);
}

TEST_F(Order, kept_where_something_is_not_known) {
    given_["SLURM_JOB_NODELIST"] = "n[1-3,9]";
    EXPECT_EQ(answer(), nothing);  // the step says which node is unknown
    given_["SLURM_JOB_NODELIST"] = "n[1-4]";
    given_["PACED_FABRIC_HELPER_TOPOLOGY_CONF"] = folder_.path() / "no.conf";
    EXPECT_EQ(answer(), kept("switches are not known: there is no DIR/no.conf"));
    given_["PACED_FABRIC_HELPER_TOPOLOGY_CONF"] = topology_;
    given_["SLURM_CONF"] = folder_.path() / "no.conf";
    EXPECT_EQ(answer(), kept("the kind of PMI is not known (no --mpi, and no slurm.conf to read MpiDefault from)"));
    EXPECT_EQ(answer({"--mpi=pmix", "prog"}), applied);
}

TEST_F(Order, mpi_default_of_slurm_conf) {
    const std::string pmi2 = kept("pmi2 before Slurm 24.05 takes each rank of an ordered step for alone on its node");
    folder_.write("slurm.conf", "ClusterName=x\nmpidefault=pmi2\n");
    EXPECT_EQ(answer(), pmi2);
    folder_.write("slurm.conf", "ClusterName=x MpiDefault=pmix\nInclude more.conf\n");
    EXPECT_EQ(answer(), applied);
    folder_.write("slurm.conf", "ClusterName=x\nInclude more.conf\n");
    EXPECT_EQ(answer(), kept("the kind of PMI is not known (no --mpi, and no slurm.conf to read MpiDefault from)"));
    given_["PACED_FABRIC_HELPER_SLURM_VERSION"] = std::to_string(0x180500);
    folder_.write("slurm.conf", "MpiDefault=pmi2\n");
    EXPECT_EQ(answer(), applied);
}

TEST_F(Order, nothing_is_said_where_the_order_is_right_already) {
    given_["SLURM_JOB_NODELIST"] = "n[1,3,2,4]";
    EXPECT_EQ(answer(), nothing);
}

// What the shim takes in one piece, and a variable that a task can still be started with.
TEST_F(Order, ten_thousand_nodes) {
    std::string conf = "SwitchName=spine Switches=leaf[0-249]\n";
    for (int leaf = 0; leaf < 250; ++leaf) {
        conf += "SwitchName=leaf" + std::to_string(leaf) + " Nodes=node[";
        for (int i = 0; i < 40; ++i) conf += (i > 0 ? "," : "") + std::to_string(leaf + 250 * i);
        conf += "]\n";
    }
    folder_.write("topology.conf", conf);
    given_["SLURM_JOB_NODELIST"] = "node[0-9999]";
    given_["SLURM_JOB_NUM_NODES"] = "10000";
    given_["SLURM_NTASKS"] = "80000";
    given_["SLURM_TASKS_PER_NODE"] = "8(x10000)";
    const auto begin = std::chrono::steady_clock::now();
    const std::string said = answer();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    EXPECT_EQ(said.substr(0, 42), "paced-fabric-order 1\nplaced ordered ring #");
    EXPECT_NE(said.find("\norder 8 0,250,500,"), std::string::npos);
    EXPECT_LT(said.size(), 100'000U);
    EXPECT_LT(taken.count(), 2.0);  // the deadline; a machine that does other things has needed a quarter
}

// --- step ---

class OrderedStep : public Order {
protected:
    OrderedStep() : job_("76" + std::to_string(getpid())) {
        for (const auto& [name, value] : std::map<std::string, std::string>{
                 {"LIBRARY", folder_.write("lib.so", "")}, {"JOB", job_}, {"STEP", "0"}, {"NODE_NAME", "n1"}, {"NODE_INDEX", "0"},
                 {"NODE_COUNT", "4"}, {"LOCAL_TASKS", "1"}, {"TASKS", "4"}, {"KEY", std::string(64, 'a')}, {"NODE_TOPOLOGY", data("topology/fake-no-gpu.xml")},
                 {"PROBE", bin_dir() / "paced-fabric-probe"}, {"SNAPSHOT", ""}})
            given_["PACED_FABRIC_HELPER_" + name] = value;
        given_["SLURM_STEP_NODELIST"] = "n[1-4]";
    }
    ~OrderedStep() override {
        std::error_code ignored;
        std::filesystem::remove_all(run_dir(), ignored);
    }
    std::filesystem::path run_dir() const { return "/dev/shm/paced-fabric-" + std::to_string(geteuid()) + "/" + job_ + ".0"; }
    // The plan as it goes into the report, blanks aside.
    std::string plan(const std::string& placed) {
        std::filesystem::remove_all(run_dir());  // a step's folder and plan are made once
        given_.erase("PACED_FABRIC_HELPER_PLACED");
        if (!placed.empty()) given_["PACED_FABRIC_HELPER_PLACED"] = job_ + ' ' + placed;
        const Said said = run({helper, "step"}, given_, folder_.path());
        EXPECT_EQ(said.code, 0) << said.err << said.out;
        std::string text = read_file(run_dir() / "plan.json"), dense;
        for (const char c : text)
            if (c != ' ' && c != '\n') dense += c;
        return dense;
    }
    std::string job_;
};

TEST_F(OrderedStep, the_plan_has_the_order_that_srun_made) {
    for (const std::string& hosts : {std::string("n[1,3,2,4]"), '#' + paced::helper::hash_of(std::vector<std::string>{"n1", "n3", "n2", "n4"})}) {
        const std::string text = plan("ordered ring " + hosts);
        EXPECT_NE(text.find("\"applied\":true"), std::string::npos) << text;
        EXPECT_NE(text.find("\"kept_because\":null"), std::string::npos);
        EXPECT_NE(text.find("\"hosts\":[\"n1\",\"n3\",\"n2\",\"n4\"]},\"policy\""), std::string::npos) << text;  // of the job
        EXPECT_NE(text.find("\"ring_crossings\":2"), std::string::npos) << text;
    }
}

TEST_F(OrderedStep, the_plan_says_why_slurms_order_stays) {
    EXPECT_NE(plan("kept -w chooses the nodes").find("\"kept_because\":\"-wchoosesthenodes\""), std::string::npos);
    EXPECT_NE(plan("").find("\"kept_because\":\"srunmakestheorderinthejob'sscript"), std::string::npos);
    EXPECT_NE(plan("ordered ring #0000000000000000").find("knowsanotherfabric"), std::string::npos);
    EXPECT_NE(plan("ordered ring n[1,4,2,3]").find("knowsanotherfabric"), std::string::npos);
    given_["SLURM_STEP_NODELIST"] = "n[1-2]";
    given_["PACED_FABRIC_HELPER_NODE_COUNT"] = "2";
    EXPECT_NE(plan("kept fewer than 3 nodes have one order only").find("\"applied\":false"), std::string::npos);
    folder_.write("policy.toml", "schema = 1\n[defaults]\norder = \"ring\"\n");
    given_.erase("PACED_FABRIC_HELPER_ORDER");
    given_["SLURM_STEP_NODELIST"] = "n[1-4]";
    given_["PACED_FABRIC_HELPER_NODE_COUNT"] = "4";
    EXPECT_NE(plan("").find("\"kept_because\":\"observechangesonlywhatyouaskfor"), std::string::npos);
}

}  // namespace
}  // namespace paced::test
