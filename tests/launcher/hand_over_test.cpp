// SPDX-License-Identifier: BSD-3-Clause
// `paced run` in front of a launcher: orders of nodes handed to torchrun and to Open MPI's mpirun. Both are stand-ins here that
// print their words and their environment; the real mpirun is started in tests/cluster.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "policy/base/text.h"
#include "tests/doubles/paths.h"
#include "tests/doubles/run_program.h"
#include "tests/doubles/temporary_folder.h"

namespace paced {
namespace {

namespace fs = std::filesystem;
using Variables = std::map<std::string, std::string>;
using Words = std::vector<std::string>;

// What the stand-in was given.
struct Seen {
    Words words;
    Variables environment;
    std::string err;
    std::string value(const std::string& name) const {
        const auto found = environment.find(name);
        return found == environment.end() ? "(unset)" : found->second;
    }
};

class HandOver : public testing::Test {
protected:
    HandOver() {
        folder_.write("policy.toml", "schema = 1\n");
        folder_.write("slurm.conf", "ClusterName=c\n");
        folder_.write("topology.conf", test::read_file(test::data("plan/interleaved.conf")));
        fs::create_directory(folder_ / "shm");
        for (const char* name : {"torchrun", "orterun", "python3"}) stand_in(name);
        fs::create_symlink(folder_ / "orterun", folder_ / "mpirun");
    }

    void stand_in(const std::string& name) {
        const std::string file = folder_.write(name, "#!/bin/sh\nfor word in \"$@\"; do echo \"word:$word\"; done\nenv\n");
        fs::permissions(file, fs::perms::owner_all);
    }

    Seen run(Words command, const std::string& node = "n2", Words flags = {"--paced-fabric=pace", "--paced-fabric-order=ring"}) {
        Variables environment{{"PATH", folder_.path().string() + ":/usr/bin:/bin"},
                              {"SLURM_CONF", folder_ / "slurm.conf"},
                              {"SLURM_JOB_ID", "42"},
                              {"SLURM_JOB_NODELIST", "n[1-8]"},
                              {"SLURM_TASKS_PER_NODE", "2(x8)"},
                              {"SLURMD_NODENAME", node}};
        for (const auto& [name, value] : more_) environment[name] = value;
        flags.insert(flags.begin(), {(test::bin_dir() / "paced").string(), "run", "--config=" + (folder_ / "policy.toml"), "--run-base=" + (folder_ / "shm")});
        flags.emplace_back("--");
        flags.insert(flags.end(), command.begin(), command.end());
        const auto outcome = test::run_program(flags, {.environment = environment});
        EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
        Seen seen;
        seen.err = outcome.err;
        for (std::string_view line : split(outcome.out, '\n')) {
            if (line.starts_with("word:")) seen.words.emplace_back(line.substr(5));
            else if (const auto equals = line.find('='); equals != std::string_view::npos) seen.environment.emplace(line.substr(0, equals), line.substr(equals + 1));
        }
        return seen;
    }

    // The job's own mpirun, unchanged and with nothing said to it.
    void expect_kept(const Words& command, const std::string& why) {
        const Seen seen = run(command);
        EXPECT_NE(seen.err.find("paced-fabric: the submitted order is kept: " + why + '\n'), std::string::npos) << seen.err;
        EXPECT_EQ(seen.value("PET_NODE_RANK"), more_.contains("PET_NODE_RANK") ? more_["PET_NODE_RANK"] : "(unset)");
        EXPECT_EQ(seen.value("OMPI_MCA_rmaps"), more_.contains("OMPI_MCA_rmaps") ? more_["OMPI_MCA_rmaps"] : "(unset)");
        EXPECT_EQ(seen.value("OMPI_MCA_orte_default_hostfile"), "(unset)");
        if (command[0] == "torchrun") {
            EXPECT_EQ(seen.words, Words(command.begin() + 1, command.end()));
        }
    }

    test::TemporaryFolder folder_;
    Variables more_;
};

// ---- torchrun. Submitted n1 ... n8; chosen n1 n3 n5 n7 n2 n4 n6 n8.

TEST_F(HandOver, TorchrunsNodeRankBecomesThePlaceInTheOrder) {
    EXPECT_EQ(run({"torchrun", "--nnodes", "8", "--node-rank", "1", "--nproc-per-node", "8", "train.py", "--node-rank", "1"}).words,
              (Words{"--nnodes", "8", "--node-rank", "4", "--nproc-per-node", "8", "train.py", "--node-rank", "1"}));
    EXPECT_EQ(run({"torchrun", "--nnodes=8", "--node_rank=2", "--standalone-not", "x", "train.py"}, "n3").words,
              (Words{"--nnodes=8", "--node_rank=1", "--standalone-not", "x", "train.py"}));
    EXPECT_EQ(run({"python3", "-u", "-m", "torch.distributed.run", "--nnodes=8", "--node-rank=7", "t.py"}, "n8").words,
              (Words{"-u", "-m", "torch.distributed.run", "--nnodes=8", "--node-rank=7", "t.py"}));
    EXPECT_EQ(run({"python3", "-m", "torch.distributed.launch", "--use-env", "--nnodes=8", "--node-rank=3", "t.py"}, "n4").words[4], "--node-rank=5");
}

// The nodes' fabric files may differ; what srun did is the same seen from all of them.
TEST_F(HandOver, WhereThePluginIsTorchrunFollowsWhatSrunDid) {
    more_ = {{"PACED_FABRIC_STEP_STAMP", "slurm:42.0"}, {"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NODELIST", "n[1-8]"}, {"SLURM_STEP_NUM_TASKS", "8"}, {"SLURM_PROCID", "6"}};
    EXPECT_EQ(run({"torchrun", "--nnodes=8", "--node-rank=1", "t.py"}).words, (Words{"--nnodes=8", "--node-rank=6", "t.py"}));
    more_["SLURM_PROCID"] = "1";  // not re-ordered
    EXPECT_EQ(run({"torchrun", "--nnodes=8", "--node-rank=1", "t.py"}).words, (Words{"--nnodes=8", "--node-rank=1", "t.py"}));
    more_["SLURM_STEP_NUM_TASKS"] = "16";  // no node's rank
    more_["SLURM_PROCID"] = "6";
    EXPECT_EQ(run({"torchrun", "--nnodes=8", "--node-rank=1", "t.py"}).words, (Words{"--nnodes=8", "--node-rank=4", "t.py"}));
    more_["SLURM_STEP_NUM_TASKS"] = "8";
    more_["PACED_FABRIC_STEP_STAMP"] = "slurm:41.0";  // another job's
    EXPECT_EQ(run({"torchrun", "--nnodes=8", "--node-rank=1", "t.py"}).words, (Words{"--nnodes=8", "--node-rank=4", "t.py"}));
}

TEST_F(HandOver, ANodeRankThatIsNotGivenIsSet) {
    const Seen seen = run({"torchrun", "--nnodes=8", "--master-addr", "n1", "train.py"});
    EXPECT_EQ(seen.value("PET_NODE_RANK"), "4");
    EXPECT_NE(seen.err.find("order for ring: this node is number 4, was 1"), std::string::npos) << seen.err;
    EXPECT_EQ(run({"torchrun", "--nnodes=8", "train.py"}, "n1").value("PET_NODE_RANK"), "0");  // the first node stays the first
}

TEST_F(HandOver, TorchrunIsLeftAloneWhereItCannotBe) {
    expect_kept({"torchrun", "--nnodes=8", "--rdzv-backend=c10d", "--rdzv-endpoint=n1:29500", "train.py"}, "torchrun's rendezvous c10d numbers the nodes by itself");
    expect_kept({"torchrun", "--nnodes=1:8", "train.py"}, "torchrun's --nnodes is 1:8, the job has 8 nodes");
    expect_kept({"torchrun", "--nnodes=4", "train.py"}, "torchrun's --nnodes is 4, the job has 8 nodes");
    expect_kept({"torchrun", "--nnodes=8", "--node-rank=5", "train.py"}, "node rank 5 is not this node's place in the list of nodes, 1");
    more_["PET_NODE_RANK"] = "6";
    expect_kept({"torchrun", "--nnodes=8", "train.py"}, "node rank 6 is not this node's place in the list of nodes, 1");
    more_ = {{"PET_RDZV_BACKEND", "etcd"}};
    expect_kept({"torchrun", "--nnodes=8", "train.py"}, "torchrun's rendezvous etcd numbers the nodes by itself");
    more_ = {{"SLURM_JOB_NODELIST", "n[1,3,5,7,2,4,6,8]"}};
    EXPECT_NE(run({"torchrun", "--nnodes=8", "train.py"}).err.find("the submitted order is kept: "), std::string::npos);
}

TEST_F(HandOver, OneNodeHasOneOrderAndAPlainProgramNone) {
    for (const Words& command : {Words{"torchrun", "--standalone", "train.py"}, Words{"torchrun", "--nproc-per-node=8", "train.py"}, Words{"python3", "train.py", "-m", "torch.distributed.run"}}) {
        const Seen seen = run(command);
        EXPECT_EQ(seen.err.find("order"), std::string::npos) << seen.err;
        EXPECT_EQ(seen.words, Words(command.begin() + 1, command.end()));
    }
}

// ---- mpirun

TEST_F(HandOver, MpirunGetsAHostFileAndItsRanksArePrepared) {
    const Seen seen = run({"mpirun", "--tag-output", "-np", "16", "-x", "A=b", "./app", "-np", "3"});
    EXPECT_EQ(seen.value("OMPI_MCA_rmaps"), "seq");
    const std::string file = seen.value("OMPI_MCA_orte_default_hostfile");
    EXPECT_EQ(test::read_file(file), "n1\nn1\nn3\nn3\nn5\nn5\nn7\nn7\nn2\nn2\nn4\nn4\nn6\nn6\nn8\nn8\n");
    struct stat found {};
    ASSERT_EQ(stat(file.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 07777, 0600u);
    EXPECT_NE(seen.err.find("order for ring handed to mpirun: n[1,3,5,7,2,4,6,8]"), std::string::npos) << seen.err;
    EXPECT_EQ(seen.words, (Words{"--tag-output", "-np", "16", "-x", "A=b", (test::bin_dir() / "paced").string(), "run", "--paced-fabric=pace",
                                 "--paced-fabric-order=ring", "--config=" + (folder_ / "policy.toml"), "--run-base=" + (folder_ / "shm"), "--", "./app", "-np", "3"}));
    // mpirun binds nothing in a sequence of hosts, and refuses to start if it shall; the ranks do it
    EXPECT_EQ(seen.value("OMPI_MCA_hwloc_base_binding_policy"), "none");
    EXPECT_EQ(seen.value("PACED_FABRIC_STEP_RANK_BINDING"), "numa");
    EXPECT_EQ(run({"mpirun", "./app"}).value("PACED_FABRIC_STEP_RANK_BINDING"), "core");
    EXPECT_EQ(run({"mpirun", "--bind-to", "none", "./app"}).value("PACED_FABRIC_STEP_RANK_BINDING"), "(unset)");
    EXPECT_EQ(run({"mpirun", "--bind-to", "none", "./app"}).value("OMPI_MCA_rmaps"), "seq");
    EXPECT_EQ(seen.value("PACED_FABRIC_STEP_STAMP"), "(unset)");  // the ranks are prepared, not mpirun
}

TEST_F(HandOver, WhoPlacesRanksHimselfIsLeftAlone) {
    for (const char* option : {"--map-by", "-map-by", "--rank-by", "--rankfile", "-rf", "--host", "-host", "-H", "--hostfile", "-hostfile", "--machinefile",
                               "-npernode", "--npernode", "-N", "--ppr", "--oversubscribe", "--an-option-of-next-year"})
        expect_kept({"mpirun", option, "x", "-np", "16", "./app"}, "mpirun's option " + std::string(option) + " may place ranks");
    expect_kept({"mpirun", "--mca", "rmaps_base_mapping_policy", "node", "./app"}, "you place ranks yourself with --mca rmaps_base_mapping_policy");
    expect_kept({"mpirun", "--bind-to", "core", "./app"}, "mpirun cannot bind ranks (--bind-to) in an order of hosts");
    expect_kept({"mpirun", "-np", "8", "./a", ":", "-np", "8", "./b"}, "mpirun starts several programs");
    expect_kept({"mpirun", "-np", "8", "./app"}, "mpirun starts 8 ranks, the job has 16");
    more_ = {{"SLURM_TASKS_PER_NODE", "2(x7),1"}};
    expect_kept({"mpirun", "./app"}, "the job has not the same number of tasks on each node (SLURM_TASKS_PER_NODE)");
    more_ = {{"OMPI_MCA_rmaps", "ppr"}};
    expect_kept({"mpirun", "./app"}, "you place ranks yourself with OMPI_MCA_rmaps");
    folder_.write(".openmpi/mca-params.conf", "# mine\nhwloc_base_binding_policy = core\n");
    more_ = {{"HOME", folder_.path().string()}};
    expect_kept({"mpirun", "./app"}, "ranks are placed by " + (folder_ / ".openmpi/mca-params.conf") + " (hwloc_base_binding_policy)");
    more_ = {{"SLURM_CONF", "/no/such/slurm.conf"}};
    EXPECT_NE(run({"mpirun", "./app"}).err.find("the submitted order is kept: switches are not known: "), std::string::npos);
}

// Prepared as if it were a rank, a launcher would hand the library to all its ranks, on nodes where it is not.
TEST_F(HandOver, ALauncherIsNeverTakenForARank) {
    for (const char* name : {"mpiexec.hydra", "prterun"}) stand_in(name);
    for (const Words& command : {Words{"mpirun", "--map-by", "node", "./app"}, Words{"mpirun", "-np", "8", "./a", ":", "-np", "8", "./b"},
                                 Words{"mpiexec.hydra", "-n", "8", "./app"}, Words{"prterun", "-n", "8", "./app"}}) {
        const Seen seen = run(command, "n2", {"--paced-fabric=observe"});
        EXPECT_EQ(seen.words, Words(command.begin() + 1, command.end()));
        EXPECT_EQ(seen.value("LD_PRELOAD"), "(unset)") << command[0];
        EXPECT_EQ(seen.value("PACED_FABRIC_STEP_STAMP"), "(unset)") << command[0];
        EXPECT_NE(seen.err.find("start the ranks as '" + command[0] + " … paced run -- PROGRAM'"), std::string::npos) << seen.err;
    }
    const Seen prepared = run({"mpirun", "--map-by", "node", "/opt/bin/paced", "run", "--", "./app"}, "n2", {"--paced-fabric=observe"});
    EXPECT_EQ(prepared.value("LD_PRELOAD"), "(unset)");
    EXPECT_EQ(prepared.err.find("start the ranks"), std::string::npos) << prepared.err;
}

TEST_F(HandOver, NothingIsDoneThatWasNotAskedFor) {
    folder_.write("policy.toml", "schema = 1\n[defaults]\nmode = \"observe\"\norder = \"ring\"\n");
    for (const Words& flags : {Words{}, Words{"--paced-fabric=explain", "--paced-fabric-order=ring"}, Words{"--paced-fabric=off", "--paced-fabric-order=ring"},
                               Words{"--paced-fabric=pace", "--paced-fabric-order=none"}}) {
        EXPECT_EQ(run({"mpirun", "./app"}, "n2", flags).value("OMPI_MCA_rmaps"), "(unset)") << join(flags, " ");
        EXPECT_EQ(run({"torchrun", "--nnodes=8", "t.py"}, "n2", flags).value("PET_NODE_RANK"), "(unset)") << join(flags, " ");
    }
    EXPECT_EQ(run({"torchrun", "--nnodes=8", "t.py"}, "n2", {"--paced-fabric=observe", "--paced-fabric-order=ring"}).value("PET_NODE_RANK"), "4");
}

}  // namespace
}  // namespace paced
