// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/helper/step_layout.h"

#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace paced::helper {
namespace {

// "A=1 B=2", over what stands there; "A" alone takes A away.
Environment with(Environment environment, const std::string& changes) {
    std::istringstream in(changes);
    auto values = environment.values();
    for (std::string word; in >> word;) {
        const std::size_t equals = word.find('=');
        if (equals == std::string::npos) values.erase(word);
        else values[word.substr(0, equals)] = word.substr(equals + 1);
    }
    return Environment(std::move(values));
}

// As `sbatch -N8 -n8` leaves it for the script.
Environment job(const std::string& changes = {}) {
    return with(Environment({{"SLURM_JOB_ID", "42"},
                             {"SLURM_JOB_NODELIST", "n[1-8]"},
                             {"SLURM_NODELIST", "n[1-8]"},
                             {"SLURM_JOB_NUM_NODES", "8"},
                             {"SLURM_NNODES", "8"},
                             {"SLURM_NTASKS", "8"},
                             {"SLURM_NPROCS", "8"},
                             {"SLURM_TASKS_PER_NODE", "1(x8)"},
                             {"SLURM_JOB_CPUS_PER_NODE", "1(x8)"}}),
                changes);
}
constexpr const char* two_a_node = "SLURM_NTASKS=16 SLURM_NPROCS=16 SLURM_NTASKS_PER_NODE=2 SLURM_TASKS_PER_NODE=2(x8)";
constexpr const char* no_count = "SLURM_NTASKS SLURM_NPROCS";

// "8x1", or why not; in brackets where nobody needs to hear of it
std::string decide(const std::string& line, const Environment& environment, SlurmFacts slurm = {0x160508, "none"}) {
    std::istringstream in(line);
    std::vector<std::string> words{"srun"};
    for (std::string word; in >> word;) words.push_back(word);
    const StepLayout layout = step_layout(parse_srun_line(words), environment, slurm);
    EXPECT_EQ(layout.certain(), !layout.hosts.empty());
    if (!layout.ranks) return '(' + layout.kept_because + ')';
    if (!layout.certain()) return layout.kept_because;
    return std::to_string(layout.hosts.size()) + 'x' + std::to_string(layout.tasks_per_node);
}

struct Row {
    const char* line;
    const char* decision;
};

TEST(step_layout, one_task_on_each_node) {
    const Row rows[] = {
        {"prog", "8x1"},
        {"prog -w n3", "8x1"},
        {"-n8 prog", "8x1"},
        {"-N8 -n8 --ntasks-per-node=1 prog", "8x1"},
        {"-N 8-8 prog", "8x1"},
        {"-n4 -n8 prog", "8x1"},  // the last counts
        {"--jobid=42 prog", "8x1"},
        {"-c1 prog", "8x1"},
        {"--mpi=pmix prog", "8x1"},
        {"--mpi=pmix_v4 prog", "8x1"},
        {"--pty -Q -l -K1 -o x --export=NONE --cpu-bind=none --mem=1G -t 5 -J me prog", "8x1"},
        {"--container-image=x prog", "8x1"},
        {"--paced-fabric=observe --paced-fabric-order=ring prog", "8x1"},
        {"-n4 prog", "-n 4 is not the job's 8 tasks"},
        {"-n16 prog", "-n 16 is not the job's 8 tasks"},
        {"-nx prog", "-n x is not the job's 8 tasks"},
        {"-N4 prog", "-N 4 is not all nodes of the job"},
        {"-N4-8 prog", "-N 4-8 is not all nodes of the job"},
        {"--ntasks-per-node=2 prog", "the tasks for each node are not those of the job"},
        {"-w n1 prog", "-w chooses the nodes"},
        {"--nodelist=n1 prog", "--nodelist chooses the nodes"},
        {"--nodel=n1 prog", "--nodelist chooses the nodes"},
        {"-F f prog", "-F chooses the nodes"},
        {"-x n1 prog", "-x chooses the nodes"},
        {"-r2 prog", "-r chooses the nodes"},
        {"-C big prog", "-C chooses the nodes"},
        {"-m block prog", "-m is an order of your own"},
        {"-m arbitrary prog", "-m is an order of your own"},
        {"-c2 prog", "-c 2 is not as the job has it"},
        {"--prolog=./p prog", "--prolog may start steps of its own, which would fail in an order of hosts"},
        {"--epilog ./p prog", "--epilog may start steps of its own, which would fail in an order of hosts"},
        {"-O prog", "-O can change how many tasks a node gets"},
        {"--overcommit prog", "--overcommit can change how many tasks a node gets"},
        {"--exact prog", "--exact asks for a part of the job"},
        {"--exclusive prog", "--exclusive asks for a part of the job"},
        {"--exclusive=user prog", "--exclusive asks for a part of the job"},
        {"--overlap prog", "--overlap shares the job with other steps"},
        {"--het-group=0 prog", "--het-group makes a heterogeneous step"},
        {"--multi-prog f", "--multi-prog gives each rank a program, and so perhaps a place"},
        {"--hint=nomultithread prog", "--hint is not as the job has it"},
        {"--ntasks-per-gpu=1 prog", "--ntasks-per-gpu can change how many tasks a node gets"},
        {"--gpus-per-task=1 prog", "--gpus-per-task is not as the job has it"},
        {"--external-launcher prog", "--external-launcher starts the daemons of another launcher"},
        {"--new-option=1 prog", "--new-option is an option not known here"},
        {"prog : -n2 prog", "the step is heterogeneous"},
        {"--mpi=pmi2 prog", "pmi2 before Slurm 24.05 takes each rank of an ordered step for alone on its node"},
        {"--mpi=cray_shasta prog", "--mpi=cray_shasta is not known to follow an order"},
        {"-Z prog", "-Z starts no tasks of the job"},
        {"--jobid=43 prog", "(--jobid names another job)"},
        {"orted -mca x", "(mpirun's daemons are left alone)"},
        {"/usr/bin/prted", "(mpirun's daemons are left alone)"},
        {"-N8 -n8 hydra_bstrap_proxy", "(mpirun's daemons are left alone)"},
        {"hydra_pmi_proxy", "(mpirun's daemons are left alone)"},
        {"--help", "(there is no program)"},
        {"", "(there is no program)"},
    };
    for (const Row& row : rows) EXPECT_EQ(decide(row.line, job()), row.decision) << row.line;
}

TEST(step_layout, the_count_of_tasks_is_not_given_to_the_job) {
    EXPECT_EQ(decide("prog", job(no_count)), "8x1");
    EXPECT_EQ(decide("-n8 prog", job(no_count)), "8x1");
    EXPECT_EQ(decide("-n16 prog", job(no_count)), "-n 16 is not the job's 8 tasks");
    EXPECT_EQ(decide("--ntasks-per-node=1 prog", job(no_count)), "8x1");
    EXPECT_EQ(decide("--ntasks-per-node=2 prog", job(no_count)), "the tasks for each node are not those of the job");
    // `salloc -N8 --exclusive`: eight tasks would fit on each node, srun starts one
    EXPECT_EQ(decide("prog", with(job(no_count), "SLURM_TASKS_PER_NODE=8(x8)")), "8x1");
    EXPECT_EQ(decide("-c1 prog", job(no_count)), "-c without -n leaves the number of tasks to srun");
    EXPECT_EQ(decide("prog", with(job(no_count), "SLURM_CPUS_PER_TASK=2")), "8x1");
    EXPECT_EQ(decide("prog", with(job(no_count), "SLURM_CPUS_PER_TASK=2 SLURM_TASKS_PER_NODE=4(x8)")),
              "-c without -n leaves the number of tasks to srun");
}

TEST(step_layout, several_tasks_on_each_node) {
    const Row rows[] = {
        {"prog", "8x2"},
        {"-n16 prog", "8x2"},
        {"-N8 -n16 --ntasks-per-node=2 prog", "8x2"},
        {"--tasks-per-node=2 prog", "8x2"},
        {"-n8 prog", "-n 8 is not the job's 16 tasks"},
        {"--ntasks-per-node=1 prog", "--ntasks-per-node=1 is not as the job has it"},
        {"--ntasks-per-node=x prog", "--ntasks-per-node=x is not as the job has it"},
    };
    for (const Row& row : rows) EXPECT_EQ(decide(row.line, job(two_a_node)), row.decision) << row.line;

    const std::string uneven = "SLURM_NTASKS=16 SLURM_NPROCS=16 SLURM_TASKS_PER_NODE=";
    EXPECT_EQ(decide("prog", job(uneven + "8,1,2,1(x5)")), "nodes get different numbers of tasks (8,1,2,1(x5))");
    EXPECT_EQ(decide("prog", job(uneven + "2(x4)")), "nodes get different numbers of tasks (2(x4))");
    EXPECT_EQ(decide("prog", job(uneven + "2(x8")), "nodes get different numbers of tasks (2(x8)");
    EXPECT_EQ(decide("prog", job(uneven + "2(x8)")), "8x2");
    EXPECT_EQ(decide("prog", job("SLURM_NTASKS=12 SLURM_NPROCS=12")), "12 tasks do not spread evenly over 8 nodes");
    EXPECT_EQ(decide("prog", job("SLURM_NTASKS=16")), "SLURM_NTASKS and SLURM_NPROCS do not say how many tasks the job has");
    EXPECT_EQ(decide("prog", job("SLURM_NTASKS=x SLURM_NPROCS")), "SLURM_NTASKS and SLURM_NPROCS do not say how many tasks the job has");
}

TEST(step_layout, cpus_for_each_task_as_the_job_has_them) {
    const std::string two_cpus = "SLURM_CPUS_PER_TASK=2";
    EXPECT_EQ(decide("prog", job(two_cpus)), "8x1");
    EXPECT_EQ(decide("-c2 prog", job(two_cpus)), "8x1");
    EXPECT_EQ(decide("--cpus-per-task=2 prog", job(two_cpus)), "8x1");
    EXPECT_EQ(decide("-c1 prog", job(two_cpus)), "-c 1 is not as the job has it");
    EXPECT_EQ(decide("prog", job(two_cpus + " SRUN_CPUS_PER_TASK=2")), "8x1");
    EXPECT_EQ(decide("prog", job(two_cpus + " SRUN_CPUS_PER_TASK=4")), "-c 4 is not as the job has it");
    EXPECT_EQ(decide("-c2 prog", job(two_cpus + " SRUN_CPUS_PER_TASK=4")), "8x1");
}

TEST(step_layout, variables_are_options_too) {
    const Row rows[] = {
        {"SLURM_HOSTFILE=f", "SLURM_HOSTFILE is an order of your own"},
        {"SLURM_DISTRIBUTION=cyclic", "SLURM_DISTRIBUTION is an order of your own"},
        {"SLURM_EXACT=", "SLURM_EXACT asks for a part of the job"},
        {"SLURM_EXCLUSIVE=", "SLURM_EXCLUSIVE asks for a part of the job"},
        {"SLURM_OVERLAP=1", "SLURM_OVERLAP shares the job with other steps"},
        {"SLURM_PROLOG=./p", "SLURM_PROLOG may start steps of its own, which would fail in an order of hosts"},
        {"SLURM_EPILOG=./p", "SLURM_EPILOG may start steps of its own, which would fail in an order of hosts"},
        {"SLURM_OVERCOMMIT=1", "SLURM_OVERCOMMIT can change how many tasks a node gets"},
        {"SLURM_SPREAD_JOB=1", "SLURM_SPREAD_JOB can change how many tasks a node gets"},
        {"SLURM_CONSTRAINT=big", "SLURM_CONSTRAINT chooses the nodes"},
        {"SLURM_HET_SIZE=2", "the job is heterogeneous"},
        {"SLURM_NNODES=4", "SLURM_NNODES says 4, the job has 8 nodes"},
        {"SLURM_JOB_NUM_NODES=4", "SLURM_JOB_NUM_NODES says 4, the job has 8 nodes"},
        {"SLURM_NODELIST=n[1-4]", "SLURM_NODELIST is not the job's"},
        {"SLURM_NODELIST", "8x1"},
        {"SLURM_NTASKS_PER_NODE=2", "the tasks for each node are not those of the job"},
        {"SLURM_NTASKS_PER_NODE=x", "SLURM_NTASKS_PER_NODE is no number"},
        {"SLURM_MPI_TYPE=pmix", "8x1"},
        {"SLURM_MPI_TYPE=pmi2", "pmi2 before Slurm 24.05 takes each rank of an ordered step for alone on its node"},
        {"SLURM_JOB_NODELIST=n[1-", "the nodes of the job are not known"},
        {"SLURM_JOB_NODELIST", "the nodes of the job are not known"},
        {"SLURM_JOB_NODELIST=n[1-7],n1", "a node stands twice in the job's list"},
        {"SLURM_JOB_ID", "(srun runs outside a job)"},
        {"SLURM_STEP_ID=0", "(srun runs inside a task)"},
        {"SLURM_STEP_ID=4294967290", "8x1"},  // an interactive shell of salloc's
        {"SLURM_JOB_NODELIST=n[1-2] SLURM_NODELIST SLURM_JOB_NUM_NODES=2 SLURM_NNODES=2 SLURM_NTASKS=2 SLURM_NPROCS=2",
         "fewer than 3 nodes have one order only"},
        {"SLURM_JOB_NODELIST=n[1-3] SLURM_NODELIST SLURM_JOB_NUM_NODES=3 SLURM_NNODES=3 SLURM_NTASKS=3 SLURM_NPROCS=3", "3x1"},
    };
    for (const Row& row : rows) EXPECT_EQ(decide("prog", job(row.line)), row.decision) << row.line;
    EXPECT_EQ(decide("--hint=nomultithread prog", job("SLURM_HINT=nomultithread")), "8x1");
    EXPECT_EQ(decide("--hint=multithread prog", job("SLURM_HINT=nomultithread")), "--hint is not as the job has it");
    EXPECT_EQ(decide("--mpi=pmix prog", job("SLURM_MPI_TYPE=pmi2")), "8x1");
}

TEST(step_layout, not_every_pmi_follows_an_order) {
    EXPECT_EQ(decide("--mpi=pmi2 prog", job(), {0x180500, "none"}), "8x1");
    EXPECT_EQ(decide("--mpi=pmi2 prog", job(), {0x170b0a, "none"}),
              "pmi2 before Slurm 24.05 takes each rank of an ordered step for alone on its node");
    EXPECT_EQ(decide("prog", job(), {0x160508, "pmix"}), "8x1");
    EXPECT_EQ(decide("prog", job(), {0x160508, "pmi2"}), "pmi2 before Slurm 24.05 takes each rank of an ordered step for alone on its node");
    EXPECT_EQ(decide("prog", job(), {0x160508, std::nullopt}),
              "the kind of PMI is not known (no --mpi, and no slurm.conf to read MpiDefault from)");
    EXPECT_EQ(decide("--mpi=pmix prog", job(), {0, std::nullopt}), "8x1");
    EXPECT_EQ(decide("--mpi=pmi2 prog", job(), {0, "none"}), "pmi2 before Slurm 24.05 takes each rank of an ordered step for alone on its node");
}

}  // namespace
}  // namespace paced::helper
