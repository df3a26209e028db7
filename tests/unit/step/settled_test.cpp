// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/step/settled.h"

#include <gtest/gtest.h>

#include "plugin/step/slurm_gpus.h"
#include "tests/doubles/temporary_folder.h"

namespace paced::step {
namespace {

Environment with(std::string name, std::string value) {
    Environment environment;
    environment.set(std::move(name), std::move(value));
    return environment;
}

TEST(Settled, UcxsOwnFile) {
    test::TemporaryFolder folder;
    const std::string file = (folder.path() / "ucx.conf").string();
    EXPECT_FALSE(site_has_ucx_list(file));
    folder.write("ucx.conf", "# UCX_NET_DEVICES=mlx5_0:1\nUCX_NET_DEVICES_X=1\nUCX_TLS=rc\n");
    EXPECT_FALSE(site_has_ucx_list(file));
    folder.write("ucx.conf", "UCX_TLS=rc\n  UCX_NET_DEVICES = fab0\n");
    EXPECT_TRUE(site_has_ucx_list(file));
}

TEST(Settled, WhatIsSetOrMeansSomethingElse) {
    EXPECT_FALSE(is_settled("NVSHMEM_HCA_LIST", {}));
    EXPECT_TRUE(is_settled("NVSHMEM_HCA_LIST", with("NVSHMEM_HCA_LIST", "")));
    EXPECT_FALSE(is_settled("MPIR_CVAR_CH4_OFI_PREF_NIC", {}));
    EXPECT_TRUE(is_settled("MPIR_CVAR_CH4_OFI_PREF_NIC", with("FI_PROVIDER", "tcp")));
    EXPECT_FALSE(is_settled("NVSHMEM_HCA_LIST", with("FI_PROVIDER", "tcp")));
}

TEST(Settled, Cores) {
    EXPECT_EQ(cores_bound_by({}), "");
    for (const char* nothing : {"", "quiet", "verbose,"}) EXPECT_EQ(cores_bound_by(with("SLURM_CPU_BIND", nothing)), "") << nothing;
    for (const char* bound : {"none", "quiet,none", "quiet,mask_cpu:0x3,0xc"})
        EXPECT_EQ(cores_bound_by(with("SLURM_CPU_BIND", bound)), "--cpu-bind or SLURM_CPU_BIND") << bound;
    EXPECT_EQ(cores_bound_by(with("KMP_AFFINITY", "disabled")), "KMP_AFFINITY");
}

TEST(SlurmGpus, AsGresTypesSays) {
    test::TemporaryFolder folder;
    const Environment environment = with("SLURM_CONF", (folder.path() / "slurm.conf").string());
    EXPECT_FALSE(slurm_gives_gpus(environment));
    folder.write("slurm.conf", "ClusterName=x\n#GresTypes=gpu\nNodeName=n1 Gres=gpu:8\n");
    EXPECT_FALSE(slurm_gives_gpus(environment));
    folder.write("slurm.conf", "ClusterName=x\n grestypes = nic, gpu # both\n");
    EXPECT_TRUE(slurm_gives_gpus(environment));
    EXPECT_FALSE(slurm_gives_gpus({}));
}

}  // namespace
}  // namespace paced::step
