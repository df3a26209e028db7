// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plugin/spank/environment.h"

namespace paced::spank {
namespace {

TEST(step_kind, numbered_steps_only) {
    for (const std::uint32_t step : {0U, 1U, 4711U, 0xffffffefU}) EXPECT_TRUE(is_numbered_step(step));
    // the last special number, interactive, batch, extern, pending, and "none"
    for (const std::uint32_t step : {0xfffffff0U, 0xfffffffaU, 0xfffffffbU, 0xfffffffcU, 0xfffffffdU, 0xffffffffU}) EXPECT_FALSE(is_numbered_step(step));
}

TEST(step_kind, launcher_daemons) {
    for (const char* program : {"orted", "/usr/bin/orted", "prted", "hydra_pmi_proxy", "/opt/mpich/bin/hydra_pmi_proxy", "hydra_bstrap_proxy", "pmi_proxy", "./slurmstepd"})
        EXPECT_TRUE(is_launcher_daemon(program)) << program;
    for (const char* program : {"", "/", "orted/", "my_orted", "orted.sh", "mpirun", "/opt/orted/train"}) EXPECT_FALSE(is_launcher_daemon(program)) << program;
    EXPECT_FALSE(is_launcher_daemon(nullptr));
}

TEST(helper_environment, what_is_let_through) {
    for (const char* variable : {"PACED_FABRIC=observe", "PACED_FABRIC_ORDER=ring", "SLURM_JOB_ID=7", "NCCL_DEBUG=INFO", "UCX_TLS=tcp", "OMPI_MCA_x=y",
                                 "CUDA_VISIBLE_DEVICES=0,1", "ZE_AFFINITY_MASK=0", "HOME=/root", "TZ=UTC"})
        EXPECT_TRUE(helper_may_see(variable)) << variable;
    for (const char* variable : {"LD_PRELOAD=/x", "LD_LIBRARY_PATH=/x", "HWLOC_XMLFILE=/x", "PATH=/x", "BASH_ENV=/x", "GLIBC_TUNABLES=x", "GCONV_PATH=/x", "HOMEX=1",
                                 "PACED_FABRIC_HELPER_CONFIG=/x", "PACED_FABRIC_STEP_MODE=pace", "SLURM_PACED_FABRIC_KEY=1", "SLURM_SPANK__SLURM_SPANK_OPTION_a_b=c",
                                 "SLURM_NO_VALUE", "", "=x"})
        EXPECT_FALSE(helper_may_see(variable)) << variable;
}

std::vector<std::string> contents(HelperEnvironment& environment) {
    std::vector<std::string> all;
    for (char* const* variable = environment.get(); *variable != nullptr; ++variable) all.emplace_back(*variable);
    return all;
}

TEST(helper_environment, the_jobs_variables_and_ours) {
    std::string job[] = {"PATH=/evil", "SLURM_JOB_ID=7", "LD_PRELOAD=/mine.so"};
    char* const pointers[] = {job[0].data(), job[1].data(), job[2].data(), nullptr};
    HelperEnvironment& environment = HelperEnvironment::fresh();
    environment.take_from(pointers);
    environment.set("KEY", "");
    environment.set_number("TASKS", 4'294'967'295U);
    environment.set_plain("PACED_FABRIC_STEP_RUN_DIR", "/dev/shm/x");
    EXPECT_TRUE(environment.complete());
    EXPECT_EQ(contents(environment), (std::vector<std::string>{"SLURM_JOB_ID=7", "PACED_FABRIC_HELPER_USER_LD_PRELOAD=/mine.so", "PACED_FABRIC_HELPER_KEY=",
                                                               "PACED_FABRIC_HELPER_TASKS=4294967295", "PACED_FABRIC_STEP_RUN_DIR=/dev/shm/x"}));
    EXPECT_TRUE(contents(HelperEnvironment::fresh()).empty());
    HelperEnvironment::fresh().take_from(nullptr);
}

TEST(helper_environment, too_much_is_noticed) {
    HelperEnvironment& environment = HelperEnvironment::fresh();
    std::string variable = "NCCL_X=1";
    std::vector<char*> many(5000, variable.data());
    many.push_back(nullptr);
    environment.take_from(many.data());
    EXPECT_FALSE(environment.complete());
    EXPECT_EQ(contents(environment).size(), 4096U);
    HelperEnvironment::fresh().set("X", std::string(70'000, 'x'));
    EXPECT_FALSE(environment.complete());
    EXPECT_TRUE(contents(environment).empty());
}

TEST(preload, ours_in_front_theirs_kept) {
    const struct {
        const char *theirs, *merged;
    } table[] = {
        {"", "/p/ours.so"},
        {"/their.so", "/p/ours.so:/their.so"},
        {"/a.so /b.so", "/p/ours.so:/a.so /b.so"},
        {"/a.so:/p/ours.so", "/a.so:/p/ours.so"},
        {"/a.so /p/ours.so:/b.so", "/a.so /p/ours.so:/b.so"},
        {"/p/ours.so", "/p/ours.so"},
        {"/p/ours.so.old", "/p/ours.so:/p/ours.so.old"},
        {":", "/p/ours.so::"},
    };
    for (const auto& [theirs, expected] : table) {
        PreloadList merged;
        EXPECT_TRUE(merge_preload("/p/ours.so", theirs, merged));
        EXPECT_EQ(merged.view(), expected);
    }
    PreloadList merged;
    EXPECT_FALSE(merge_preload("/p/ours.so", std::string(PreloadList::room() - 5, 'x'), merged));
}

TEST(cpus, lists) {
    CpuMask mask;
    ASSERT_TRUE(parse_cpus("0-2,64,8191", mask));
    for (const std::uint32_t cpu : {0U, 1U, 2U, 64U, 8191U}) EXPECT_TRUE(mask.has(cpu));
    for (const std::uint32_t cpu : {3U, 63U, 65U, 8190U}) EXPECT_FALSE(mask.has(cpu));
    for (const char* wrong : {"", ",", "1,", ",1", "a", "1-", "-1", "3-1", "8192", "0-8192", "1 2", "0x1", "99999999999"}) {
        CpuMask other;
        EXPECT_FALSE(parse_cpus(wrong, other)) << wrong;
    }
}

}  // namespace
}  // namespace paced::spank
