// SPDX-License-Identifier: BSD-3-Clause
// What a task is bound to: by its local id, or by the devices that Slurm gave it. The helper is played by
// tests/doubles/helper, which answers with the lines that it is told.
#include <sched.h>

#include "tests/abi/spank/step_fixture.h"

namespace paced::test {
namespace {

class Binding : public Step {
protected:
    void answer(const std::string& lines) { fake_setenv("PACED_FABRIC_FAKE_LINES", lines.c_str()); }
    // What the variable of a task has become; "(none)".
    std::string set_in_task(int id, const std::string& name = "UCX_NET_DEVICES") {
        const Variables all = task(id);
        const auto found = all.find(name);
        return found == all.end() ? "(none)" : found->second;
    }
    // The CPUs of a task, as a list of at most three.
    std::string cpus_in_task(int id) {
        int ends[2];
        EXPECT_EQ(pipe(ends), 0);
        const pid_t pid = fork();
        if (pid == 0) {
            fake.task = id;
            call(plugin.task_init);
            cpu_set_t now;
            CPU_ZERO(&now);
            sched_getaffinity(0, sizeof now, &now);
            for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
                if (CPU_ISSET(cpu, &now)) dprintf(ends[1], "%d ", cpu);
            _exit(0);
        }
        close(ends[1]);
        std::string text;
        char buffer[512];
        for (ssize_t got; (got = read(ends[0], buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<std::size_t>(got));
        close(ends[0]);
        waitpid(pid, nullptr, 0);
        return text;
    }
    static std::vector<int> own_cpus() {
        cpu_set_t mine;
        CPU_ZERO(&mine);
        sched_getaffinity(0, sizeof mine, &mine);
        std::vector<int> cpus;
        for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
            if (CPU_ISSET(cpu, &mine)) cpus.push_back(cpu);
        return cpus;
    }
    static std::string text_of(const std::vector<int>& cpus) {
        std::string text;
        for (int cpu : cpus) text += std::to_string(cpu) + ' ';
        return text;
    }
};

constexpr char lines_of_four[] =
    "sees SLURM_STEP_GPUS=2,3,4,5;sees CUDA_VISIBLE_DEVICES=0,1,2,3;"
    "task 0,2 UCX_NET_DEVICES=even;task 1,3 UCX_NET_DEVICES=odd;"
    "gpu SLURM_STEP_GPUS=2 UCX_NET_DEVICES=of2;gpu SLURM_STEP_GPUS=3 UCX_NET_DEVICES=of3;gpu SLURM_STEP_GPUS=4;"
    "gpu SLURM_STEP_GPUS=5 UCX_NET_DEVICES=of5;gpu SLURM_STEP_GPUS=5 NVSHMEM_HCA_LIST=hca5";

TEST_F(Binding, by_local_id_where_the_task_sees_what_the_step_sees) {
    answer(lines_of_four);
    fake_setenv("SLURM_STEP_GPUS", "2,3,4,5");
    fake_setenv("CUDA_VISIBLE_DEVICES", "0,1,2,3");
    launch();
    EXPECT_EQ(set_in_task(0), "even");
    EXPECT_EQ(set_in_task(1), "odd");
    EXPECT_EQ(set_in_task(3), "odd");
    EXPECT_EQ(set_in_task(4), "(none)");
    fake_setenv("UCX_NET_DEVICES", "users");
    EXPECT_EQ(set_in_task(0), "users");
}

TEST_F(Binding, by_device_where_slurm_gave_the_task_its_own) {
    answer(lines_of_four);
    launch();
    const auto of = [&](const char* slurm, const char* cuda, const char* name = "UCX_NET_DEVICES") {
        fake_setenv("SLURM_STEP_GPUS", slurm);
        fake_setenv("CUDA_VISIBLE_DEVICES", cuda);
        return set_in_task(0, name);
    };
    EXPECT_EQ(of("3", "1"), "of3");
    EXPECT_EQ(of("3", "0"), "of3");        // within what the task was given; Slurm's number counts
    EXPECT_EQ(of("5,3", "3,1"), "of5");    // the first of several
    EXPECT_EQ(of("5,3", "3,1", "NVSHMEM_HCA_LIST"), "hca5");
    EXPECT_EQ(of("4", "2"), "(none)");     // known, and nothing goes with it
    EXPECT_EQ(of("3,9", "1,7"), "(none)"); // what is not understood as a whole binds nothing
    EXPECT_EQ(of("9", "7"), "(none)");
    EXPECT_EQ(of("", ""), "(none)");
    EXPECT_EQ(of("2,3,4,5", "1"), "(none)");  // somebody changed CUDA's alone, and no line tells of it
    EXPECT_EQ(of(std::string(5000, '3').c_str(), "1"), "(none)");
    fake_setenv("UCX_NET_DEVICES", "users");
    EXPECT_EQ(of("3", "1"), "users");
}

TEST_F(Binding, a_variable_that_comes_or_goes_is_a_difference) {
    answer("sees CUDA_VISIBLE_DEVICES;task 0 UCX_NET_DEVICES=all");
    launch();
    EXPECT_EQ(set_in_task(0), "all");
    fake_setenv("CUDA_VISIBLE_DEVICES", "");
    EXPECT_EQ(set_in_task(0), "(none)");
    begin();
    answer("sees CUDA_VISIBLE_DEVICES=0;task 0 UCX_NET_DEVICES=all;gpu CUDA_VISIBLE_DEVICES=0 UCX_NET_DEVICES=one");
    launch();
    EXPECT_EQ(set_in_task(0), "(none)");
}

TEST_F(Binding, uuids_are_entries_too) {
    answer("sees CUDA_VISIBLE_DEVICES=MIG-1,MIG-2;gpu CUDA_VISIBLE_DEVICES=MIG-1 UCX_NET_DEVICES=one;gpu CUDA_VISIBLE_DEVICES=MIG-2 UCX_NET_DEVICES=two");
    fake_setenv("CUDA_VISIBLE_DEVICES", "MIG-1,MIG-2");
    launch();
    EXPECT_EQ(set_in_task(0), "(none)");
    fake_setenv("CUDA_VISIBLE_DEVICES", "MIG-2");
    EXPECT_EQ(set_in_task(0), "two");
    fake_setenv("CUDA_VISIBLE_DEVICES", " MIG-2 , MIG-1 ");
    EXPECT_EQ(set_in_task(0), "two");
}

TEST_F(Binding, the_dynamic_linker_and_our_own_are_not_to_be_had_here) {
    for (const char* lines : {"gpu A=1 LD_PRELOAD=/x", "task 0 LD_AUDIT=/x"}) {
        begin();
        answer(lines);
        launch();
        EXPECT_NE(log().find("not understood"), std::string::npos) << lines;
    }
}

TEST_F(Binding, cores_are_narrowed_never_widened) {
    cpu_set_t mine;
    CPU_ZERO(&mine);
    sched_getaffinity(0, sizeof mine, &mine);
    std::vector<int> cpus;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(cpu, &mine)) cpus.push_back(cpu);
    }
    const std::string lines = "cpus 0 " + std::to_string(cpus.back()) + ",8191;cpus 1 8190-8191";
    fake_setenv("PACED_FABRIC_FAKE_LINES", lines.c_str());
    launch();
    const auto in_task = [&](int id) {
        int status = -1;
        const pid_t pid = fork();
        if (pid == 0) {
            fake.task = id;
            call(plugin.task_init);
            cpu_set_t now;
            CPU_ZERO(&now);
            sched_getaffinity(0, sizeof now, &now);
            _exit(CPU_COUNT(&now) == 1 && CPU_ISSET(cpus.back(), &now) ? 1 : CPU_EQUAL(&now, &mine) ? 2 : 3);
        }
        waitpid(pid, &status, 0);
        return WEXITSTATUS(status);
    };
    EXPECT_EQ(in_task(0), 1);
    EXPECT_EQ(in_task(1), cpus.size() == 1 ? 1 : 2);
    EXPECT_EQ(in_task(2), cpus.size() == 1 ? 1 : 2);
    EXPECT_EQ(task(1)["LOG"], "log paced-fabric: n3: task 1 keeps the cores that Slurm gave it; 8190-8191 are not among them\n");
}

// Fewer CPUs than the step has here: Slurm or the user has chosen them.
TEST_F(Binding, cores_that_are_bound_already_stay) {
    const std::vector<int> cpus = own_cpus();
    if (cpus.size() < 2) GTEST_SKIP() << "one CPU cannot be narrowed";
    answer("cpus 0-1 " + std::to_string(cpus.back()));
    launch();
    fake_setenv("SLURM_CPUS_ON_NODE", std::to_string(cpus.size()).c_str());
    EXPECT_EQ(cpus_in_task(0), std::to_string(cpus.back()) + ' ');
    fake_setenv("SLURM_CPUS_ON_NODE", std::to_string(cpus.size() + 1).c_str());
    EXPECT_EQ(cpus_in_task(0), text_of(cpus));
    EXPECT_EQ(task(0)["LOG"], "log paced-fabric: n3: the tasks' cores stay as they are: they are bound already (" + std::to_string(cpus.size()) +
                                  " of the step's " + std::to_string(cpus.size() + 1) + " CPUs)\n");
    EXPECT_EQ(task(1)["LOG"], "");  // once is enough
}

TEST_F(Binding, the_cores_of_all_devices_of_a_task) {
    const std::vector<int> cpus = own_cpus();
    if (cpus.size() < 2) GTEST_SKIP() << "one CPU cannot be narrowed";
    const std::string first = std::to_string(cpus[0]), second = std::to_string(cpus[1]);
    answer("sees SLURM_STEP_GPUS=0,1,2;gpu-cpus SLURM_STEP_GPUS=0 " + first + ";gpu-cpus SLURM_STEP_GPUS=1 " + second + ";gpu SLURM_STEP_GPUS=2;cpus 0 " + first);
    launch();
    fake_setenv("SLURM_STEP_GPUS", "1");
    EXPECT_EQ(cpus_in_task(0), second + ' ');
    fake_setenv("SLURM_STEP_GPUS", "1,0");
    EXPECT_EQ(cpus_in_task(0), first + ' ' + second + ' ');
    fake_setenv("SLURM_STEP_GPUS", "2");
    EXPECT_EQ(cpus_in_task(0), text_of(cpus));
    fake_setenv("SLURM_STEP_GPUS", "0,1,2");
    EXPECT_EQ(cpus_in_task(0), first + ' ');
}

// As many tasks as nodes have threads, each with its values: the whole answer fits, and each task finds its own.
TEST_F(Binding, many_tasks) {
    std::string lines;
    for (int task = 0; task < 256; ++task) {
        lines += (task == 0 ? "" : ";") + std::string("task ") + std::to_string(task) + " UCX_NET_DEVICES=mlx5_" + std::to_string(task) + ":1,ib0,ib1,eth0";
        lines += ";task " + std::to_string(task) + " NVSHMEM_HCA_LIST=mlx5_" + std::to_string(task) + ":1";
        lines += ";task " + std::to_string(task) + " MPIR_CVAR_CH4_OFI_PREF_NIC=" + std::to_string(task);
    }
    answer(lines);
    fake.local_tasks = 256;
    launch();
    EXPECT_EQ(set_in_task(255), "mlx5_255:1,ib0,ib1,eth0");
    EXPECT_EQ(set_in_task(0, "MPIR_CVAR_CH4_OFI_PREF_NIC"), "0");
}

}  // namespace
}  // namespace paced::test
