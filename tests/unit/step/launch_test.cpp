// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/launch.h"

#include <gtest/gtest.h>

#include "plugin/step/leader.h"
#include "policy/io/run_folder.h"

namespace paced::launcher {
namespace {

using Variables = std::map<std::string, std::string, std::less<>>;

const Surroundings node{"host", {100, 5, 1}, {}, {}};

std::string text(const Launch& launch) {
    constexpr const char* names[] = {"torchrun", "open_mpi", "hydra", "slurm", "alone"};
    return std::string(names[static_cast<int>(launch.launcher)]) + " rank " + std::to_string(launch.rank) + " local " + std::to_string(launch.local_rank) + " nodes " +
           std::to_string(launch.node_count) + " node " + launch.node + " stamp " + launch.stamp + " leader " + launch.leader_host + " secret " + launch.secret;
}

Launch detect(Variables variables, const Surroundings& surroundings = node) { return detect_launch(Environment(std::move(variables)), surroundings); }

TEST(Launch, Alone) {
    const Launch launch = detect({});
    EXPECT_EQ(text(launch), "alone rank 0 local 0 nodes 1 node host stamp alone:100 leader  secret ");
    EXPECT_EQ(launch.session, "alone-100-5");
    // in the batch script, which has no step
    EXPECT_EQ(text(detect({{"SLURM_JOB_ID", "12"}, {"SLURM_PROCID", "0"}, {"SLURM_LOCALID", "0"}, {"SLURM_JOB_NODELIST", "n[2-4]"}, {"SLURMD_NODENAME", "n2"}})),
              "alone rank 0 local 0 nodes 1 node host stamp alone:100 leader n2 secret ");
}

TEST(Launch, OpenMpi) {
    Variables variables{{"OMPI_COMM_WORLD_RANK", "5"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "8"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}, {"OMPI_MCA_orte_num_nodes", "2"},
                        {"PMIX_NAMESPACE", "948305921"}, {"PMIX_HOSTNAME", "n2"}, {"OMPI_MCA_orte_precondition_transports", "a-b"}};
    const Launch launch = detect(variables);
    EXPECT_EQ(text(launch), "open_mpi rank 5 local 1 nodes 2 node n2 stamp pmix:948305921 leader  secret a-b");
    EXPECT_EQ(launch.session, "ompi-948305921");

    variables["SLURM_JOB_NODELIST"] = "rack3-[07-09,12],login";
    variables["SLURM_PACED_FABRIC_KEY"] = "k";
    EXPECT_EQ(text(detect(variables)), "open_mpi rank 5 local 1 nodes 2 node n2 stamp pmix:948305921 leader rack3-07 secret k");

    variables["OMPI_COMM_WORLD_SIZE"] = "4";  // all on this node, whatever was allocated
    EXPECT_EQ(detect(variables).node_count, 1);
    variables.erase("OMPI_MCA_orte_num_nodes");  // Open MPI 5
    variables["OMPI_COMM_WORLD_SIZE"] = "9";
    variables["PMIX_NAMESPACE"] = "prterun-n1-77@1";
    EXPECT_EQ(detect(variables).node_count, 3);
    EXPECT_EQ(detect(variables).stamp, "pmix:prterun-n1-77@1");
    EXPECT_TRUE(io::is_session_name(detect(variables).session));
}

TEST(Launch, Hydra) {
    const Variables one_node{{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"PMI_FD", "6"}, {"MPI_LOCALRANKID", "1"}, {"MPI_LOCALNRANKS", "2"}};
    const Surroundings proxy{"host", {100, 5, 1}, {90, 4, 1}, "n1:41935"};
    const Launch launch = detect(one_node, proxy);
    EXPECT_EQ(text(launch), "hydra rank 1 local 1 nodes 1 node host stamp pmi:90 leader  secret ");
    EXPECT_EQ(launch.session, "hydra-90-4");
    Variables two_nodes = one_node;
    two_nodes["PMI_SIZE"] = "4";
    EXPECT_EQ(detect(two_nodes, proxy).node_count, 2);
    EXPECT_EQ(detect(two_nodes, proxy).session, io::session_name("hydra-n1:41935"));
    Variables named = one_node;
    named["PMI_JOBID"] = "j7";
    EXPECT_EQ(detect(named, proxy).stamp, "pmi:j7");
    // no proxy to be seen: only this rank can be told from others
    EXPECT_EQ(detect(one_node).stamp, "alone:100");
    EXPECT_EQ(detect(one_node).session, "");
}

TEST(Launch, Torchrun) {
    Variables variables{{"TORCHELASTIC_RUN_ID", "none"}, {"RANK", "9"}, {"LOCAL_RANK", "1"}, {"WORLD_SIZE", "16"}, {"LOCAL_WORLD_SIZE", "8"}, {"GROUP_WORLD_SIZE", "2"}, {"MASTER_ADDR", "n1"}, {"MASTER_PORT", "29500"}};
    // srun or mpirun around it do not count
    variables.insert({{"SLURM_JOB_ID", "1"}, {"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "1"}, {"SLURM_LOCALID", "0"}, {"OMPI_COMM_WORLD_RANK", "1"}});
    const Launch launch = detect(variables);
    EXPECT_EQ(text(launch), "torchrun rank 9 local 1 nodes 2 node host stamp torch:none leader n1 secret ");
    variables["TORCHELASTIC_RESTART_COUNT"] = "1";
    EXPECT_NE(detect(variables).session, launch.session);
    variables["TORCHELASTIC_RESTART_COUNT"] = "0";
    EXPECT_EQ(detect(variables).session, launch.session);
}

TEST(Launch, Slurm) {
    const Launch launch = detect({{"SLURM_JOB_ID", "12"}, {"SLURM_STEP_ID", "3"}, {"SLURM_PROCID", "5"}, {"SLURM_LOCALID", "1"}, {"SLURM_STEP_NUM_NODES", "2"}, {"SLURM_NNODES", "4"},
                                  {"SLURMD_NODENAME", "n3"}, {"SLURM_STEP_NODELIST", "n[2-3]"}, {"SLURM_JOB_NODELIST", "n[1-4]"}});
    EXPECT_EQ(text(launch), "slurm rank 5 local 1 nodes 2 node n3 stamp slurm:12.3 leader n2 secret ");
    EXPECT_EQ(launch.session, "12.3");
}

TEST(Launch, NonsenseInVariablesIsNotFollowed) {
    EXPECT_EQ(text(detect({{"OMPI_COMM_WORLD_RANK", "x"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "-1"}, {"OMPI_COMM_WORLD_SIZE", "99999999999999"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "0"}})),
              "open_mpi rank 0 local 0 nodes 1 node host stamp alone:100 leader  secret ");
}

using step::find_leader;

TEST(Leader, IsSelfOrAnAddress) {
    EXPECT_EQ(*step::find_leader("n1", "n1"), "self");
    EXPECT_EQ(*step::find_leader("localhost", "n1"), "self");
    EXPECT_EQ(*step::find_leader("127.0.0.1", "n1"), "self");
    EXPECT_EQ(*step::find_leader("192.0.2.250", "n1"), "192.0.2.250");
    EXPECT_EQ(*step::find_leader("self", "n1"), "self");
    EXPECT_TRUE(step::find_leader("no-such-host.invalid", "n1").error().message.starts_with("the address of no-such-host.invalid "));
}

}  // namespace
}  // namespace paced::launcher
