// SPDX-License-Identifier: BSD-3-Clause
// `paced-fabric-helper step`: the lines of its answer that bind tasks, and what it says about them.
#include <sstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "policy/base/text.h"
#include "tests/doubles/paths.h"
#include "tests/helper/helper_run.h"

namespace paced::test {
namespace {

class StepBinding : public ::testing::Test {
protected:
    StepBinding() : job_("88" + std::to_string(getpid())), run_dir_("/dev/shm/paced-fabric-" + std::to_string(geteuid()) + "/" + job_ + ".0") {
        const auto given = [&](const std::string& name, const std::string& value) { given_["PACED_FABRIC_HELPER_" + name] = value; };
        given("CONFIG", folder_.write("policy.toml", "schema = 1\n"));
        node("fake-8gpu-4nic.xml");
        given("LIBRARY", folder_.write("libpaced_fabric.so", ""));
        given("MODE", "pace");
        given("JOB", job_);
        given("STEP", "0");
        given("NODE_NAME", "n1");
        given("NODE_INDEX", "0");
        given("NODE_COUNT", "1");
        given("LOCAL_TASKS", "8");
        given("TASKS", "8");
    }
    ~StepBinding() override { clear(); }
    void clear() const {
        std::error_code ignored;
        std::filesystem::remove_all(run_dir_, ignored);
    }
    void node(const std::string& name) {
        const Said said = run({bin_dir() / "paced-fabric-probe", test::data("topology/" + name)}, {});
        EXPECT_EQ(said.code, 0) << said.err;
        given_["PACED_FABRIC_HELPER_SNAPSHOT"] = folder_.write("snapshot.json", said.out);
    }
    void gpus(const std::string& list) { given_["SLURM_STEP_GPUS"] = given_["CUDA_VISIBLE_DEVICES"] = list; }
    void tasks(int count) { given_["PACED_FABRIC_HELPER_LOCAL_TASKS"] = given_["PACED_FABRIC_HELPER_TASKS"] = std::to_string(count); }

    // The whole answer.
    std::string answer() {
        clear();
        const Said said = run({bin_dir() / "paced-fabric-helper", "step"}, given_, folder_.path());
        EXPECT_EQ(said.code, 0) << said.err;
        return said.out;
    }
    // Its lines that bind, with the interfaces of this machine cut off the UCX lists: they are last, and each machine has others.
    std::string lines() {
        std::istringstream text(answer());
        std::string found;
        for (std::string line; std::getline(text, line);) {
            for (const char* kind : {"task ", "cpus ", "sees ", "gpu ", "gpu-cpus "}) {
                if (!line.starts_with(kind)) continue;
                if (const auto ucx = line.find("UCX_NET_DEVICES"); ucx != std::string::npos) line = line.substr(0, line.find(',', ucx));
                found += line + '\n';
            }
        }
        return found;
    }
    // What it tells, as one text without the frame.
    std::string told() {
        std::istringstream text(answer());
        std::string all;
        for (std::string line; std::getline(text, line);) {
            if (!line.starts_with("log ")) continue;
            all += std::string(trim(std::string_view(line).substr(4))) + ' ';
        }
        return all;
    }

    Folder folder_;
    std::string job_, run_dir_;
    std::map<std::string, std::string> given_;
};

constexpr char of_two_gpus[] =
    "gpu SLURM_STEP_GPUS=2\ngpu SLURM_STEP_GPUS=2 UCX_NET_DEVICES=mlx5_1:1\ngpu SLURM_STEP_GPUS=2 NVSHMEM_HCA_LIST=mlx5_1:1\n"
    "gpu SLURM_STEP_GPUS=2 MPIR_CVAR_CH4_OFI_PREF_NIC=1\n"
    "gpu SLURM_STEP_GPUS=4\ngpu SLURM_STEP_GPUS=4 UCX_NET_DEVICES=mlx5_2:1\ngpu SLURM_STEP_GPUS=4 NVSHMEM_HCA_LIST=mlx5_2:1\n"
    "gpu SLURM_STEP_GPUS=4 MPIR_CVAR_CH4_OFI_PREF_NIC=2\n";

TEST_F(StepBinding, ByTaskAndByGpu) {
    gpus("2,4");
    tasks(3);
    EXPECT_EQ(lines(), std::string(of_two_gpus) +
                           "task 0,2 MPIR_CVAR_CH4_OFI_PREF_NIC=1\ntask 1 MPIR_CVAR_CH4_OFI_PREF_NIC=2\ntask 0,2 NVSHMEM_HCA_LIST=mlx5_1:1\n"
                           "task 1 NVSHMEM_HCA_LIST=mlx5_2:1\ntask 0,2 UCX_NET_DEVICES=mlx5_1:1\ntask 1 UCX_NET_DEVICES=mlx5_2:1\n"
                           "sees SLURM_STEP_GPUS=2,4\nsees CUDA_VISIBLE_DEVICES=2,4\n");
    // Devices constrained: CUDA counts from 0.
    const std::string before = lines();
    given_["CUDA_VISIBLE_DEVICES"] = "0,1";
    EXPECT_EQ(lines(), replaced(before, "CUDA_VISIBLE_DEVICES=2,4", "CUDA_VISIBLE_DEVICES=0,1"));
}

TEST_F(StepBinding, FewerTasksThanGpus) {
    gpus("2,4");
    tasks(1);
    EXPECT_EQ(lines(), std::string(of_two_gpus) + "sees SLURM_STEP_GPUS=2,4\nsees CUDA_VISIBLE_DEVICES=2,4\n");
    EXPECT_NE(told().find("1 task for 2 GPUs: which one a task uses is not known, so one that sees them all is not bound; one that Slurm gave its own is"),
              std::string::npos)
        << told();
    EXPECT_EQ(read_file(run_dir_ + "/plan.json").find("\"task\": 0"), std::string::npos);
}

// The job log claims no binding where none was made, and names what was set where one was.
TEST_F(StepBinding, WhatIsAppliedIsNamed) {
    const auto applied = [&] {
        const std::string all = told();
        const auto start = all.find("applied: ");
        return start == std::string::npos ? "" : all.substr(start, all.find(" pacing ", start) - start);
    };
    gpus("2,4");
    tasks(2);
    EXPECT_EQ(applied(), "applied: binding (UCX_NET_DEVICES, NVSHMEM_HCA_LIST, MPIR_CVAR_CH4_OFI_PREF_NIC)");
    EXPECT_NE(read_file(run_dir_ + "/plan.json").find("\"applied\": [\n   \"UCX_NET_DEVICES\",\n"), std::string::npos) << read_file(run_dir_ + "/plan.json");
    given_["UCX_NET_DEVICES"] = "mlx5_9:1";
    given_["PACED_FABRIC_HELPER_BIND"] = "gpu-nic-cpu";
    EXPECT_EQ(applied(), "applied: binding (NVSHMEM_HCA_LIST, MPIR_CVAR_CH4_OFI_PREF_NIC, cores)");
    given_["NVSHMEM_HCA_LIST"] = "";
    given_["FI_PROVIDER"] = "tcp";
    given_["OMP_PLACES"] = "cores";  // the cores step aside
    EXPECT_EQ(applied(), "");
    given_.erase("OMP_PLACES");
    tasks(1);
    EXPECT_EQ(applied(), "applied: binding (cores, where a task has a GPU of its own)");
    node("fake-no-gpu.xml");
    EXPECT_EQ(applied(), "");
}

TEST_F(StepBinding, ThePlanNamesTheTasks) {
    answer();
    const std::string plan = read_file(run_dir_ + "/plan.json");
    for (int i = 0; i < 8; ++i) EXPECT_NE(plan.find("\"task\": " + std::to_string(i)), std::string::npos) << i;
}

TEST_F(StepBinding, CoresOnlyWhereTheyAreAskedFor) {
    gpus("2,4");
    tasks(2);
    EXPECT_EQ(lines().find("cpus"), std::string::npos);
    given_["PACED_FABRIC_HELPER_BIND"] = "gpu-nic-cpu";
    for (const char* line : {"\ngpu-cpus SLURM_STEP_GPUS=2 0-7,16-23\n", "\ngpu-cpus SLURM_STEP_GPUS=4 8-15,24-31\n", "\ncpus 0 0-7,16-23\n", "\ncpus 1 8-15,24-31\n"})
        EXPECT_NE(lines().find(line), std::string::npos) << line;
    for (const char* name : {"OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"}) {
        given_[name] = "cores";
        EXPECT_EQ(lines().find("cpus"), std::string::npos) << name;
        EXPECT_NE(told().find("the tasks' cores stay as they are: bound by " + std::string(name)), std::string::npos) << told();
        given_.erase(name);
    }
    for (const char* bound : {"quiet,none", "verbose,mask_cpu:0x1", "quiet,corescores"}) {
        given_["SLURM_CPU_BIND"] = bound;
        EXPECT_EQ(lines().find("cpus"), std::string::npos) << bound;
    }
    given_["SLURM_CPU_BIND"] = "verbose";  // he wants to see it, and no more
    EXPECT_NE(lines().find("cpus"), std::string::npos);
}

TEST_F(StepBinding, WhatIsSettledIsLeftOut) {
    given_["UCX_NET_DEVICES"] = "mlx5_9:1";
    given_["NVSHMEM_HCA_LIST"] = "";
    EXPECT_EQ(lines().find("UCX_NET_DEVICES"), std::string::npos);
    EXPECT_EQ(lines().find("NVSHMEM_HCA_LIST"), std::string::npos);
    EXPECT_NE(lines().find("PREF_NIC"), std::string::npos);
    given_["FI_PROVIDER"] = "tcp";  // then MPICH counts other devices
    EXPECT_EQ(lines(), "");
    EXPECT_NE(told().find("your UCX_NET_DEVICES, NVSHMEM_HCA_LIST stay"), std::string::npos) << told();
}

TEST_F(StepBinding, AnyDoubtBindsNothing) {
    const auto doubt = [&](const std::string& words) {
        EXPECT_EQ(lines(), "") << words;
        EXPECT_NE(told().find(words), std::string::npos) << told();
    };
    given_["CUDA_VISIBLE_DEVICES"] = "MIG-1";
    doubt("no task is bound: CUDA_VISIBLE_DEVICES=MIG-1: which GPU MIG-1 is part of is not known");
    given_["CUDA_VISIBLE_DEVICES"] = "NoDevFiles";
    doubt("no task is bound: CUDA_VISIBLE_DEVICES=NoDevFiles shows it no GPU");
    given_.erase("CUDA_VISIBLE_DEVICES");
    given_["SLURM_CONF"] = folder_.write("slurm.conf", "ClusterName=x\n gresTypes = nic, gpu # both\nNodeName=n1\n");
    doubt("no task is bound: Slurm gave this step no GPU");
    folder_.write("slurm.conf", "ClusterName=x\n#GresTypes=gpu\n");
    EXPECT_NE(lines(), "");  // Slurm knows of no GPUs, so all are anybody's
}

TEST_F(StepBinding, OnlyWhereItApplies) {
    given_["PACED_FABRIC_HELPER_MODE"] = "observe";
    EXPECT_EQ(lines(), "");
    given_["PACED_FABRIC_BIND"] = "gpu-nic";
    EXPECT_NE(lines(), "");
    for (const char* mode : {"explain", "off"}) {
        given_["PACED_FABRIC_HELPER_MODE"] = mode;
        EXPECT_EQ(lines(), "") << mode;
    }
    given_["PACED_FABRIC_HELPER_MODE"] = "pace";
    given_["PACED_FABRIC_HELPER_BIND"] = "none";
    EXPECT_EQ(lines(), "");
}

// Each value stands once, with the tasks that get it.
TEST_F(StepBinding, ManyTasksFitIntoTheAnswer) {
    tasks(256);
    given_["PACED_FABRIC_HELPER_BIND"] = "gpu-nic-cpu";
    const std::string text = answer();
    EXPECT_LT(text.size(), 16U * 1024);
    EXPECT_TRUE(text.ends_with("end\n"));
    EXPECT_NE(text.find("task 0,1,8,9,16,17,"), std::string::npos) << text;
}

}  // namespace
}  // namespace paced::test
