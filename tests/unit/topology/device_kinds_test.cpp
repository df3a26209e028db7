// SPDX-License-Identifier: BSD-3-Clause
#include "policy/topology/device_kinds.h"

#include <gtest/gtest.h>

namespace paced::topology {
namespace {

TEST(DeviceKinds, GpusByVendorAndClass) {
    const struct {
        const char* what;
        PciNumbers numbers;
        bool behind_bridge;
        std::optional<std::string_view> vendor;
    } cases[] = {
        {"H100", {0x10de, 0x2330, 0x0302}, true, "NVIDIA"},
        {"GeForce as VGA", {0x10de, 0x2204, 0x0300}, true, "NVIDIA"},
        {"NVSwitch", {0x10de, 0x22a3, 0x0680}, true, std::nullopt},
        {"NVIDIA audio", {0x10de, 0x1aef, 0x0403}, true, std::nullopt},
        {"MI50", {0x1002, 0x66a1, 0x0380}, true, "AMD"},
        {"MI50 as VGA", {0x1002, 0x66a1, 0x0300}, true, "AMD"},
        {"MI300A", {0x1002, 0x74a0, 0x1200}, true, "AMD"},
        {"ATI ES1000", {0x1002, 0x515e, 0x0300}, true, std::nullopt},
        {"ATI Rage XL", {0x1002, 0x4752, 0x0300}, true, std::nullopt},
        {"Data Center GPU Max", {0x8086, 0x0bd5, 0x0380}, true, "Intel"},
        {"graphics in an Intel CPU", {0x8086, 0x3e92, 0x0300}, false, std::nullopt},
        {"Arc card", {0x8086, 0x56a0, 0x0300}, true, "Intel"},
        {"Xeon Phi", {0x8086, 0x225c, 0x0b40}, true, std::nullopt},
        {"ASPEED", {0x1a03, 0x2000, 0x0300}, true, std::nullopt},
        {"Matrox G200", {0x102b, 0x0522, 0x0300}, true, std::nullopt},
        {"virtio GPU", {0x1af4, 0x1050, 0x0380}, false, std::nullopt},
    };
    for (const auto& each : cases) EXPECT_EQ(gpu_vendor(each.numbers, each.behind_bridge), each.vendor) << each.what;
}

TEST(DeviceKinds, NicsByVendorClassAndWhatTheKernelSaw) {
    const NicHints nothing, netdev{.has_netdev = true};
    const NicHints rdma{.rdma_names = {"mlx5_0"}, .has_netdev = true};
    const NicHints ipoib{.rdma_names = {"mlx4_0"}, .has_netdev = true, .has_infiniband_address = true};
    const NicHints link_ib{.rdma_names = {"mlx5_0"}, .infiniband_link = true}, link_eth{.rdma_names = {"mlx5_0"}, .infiniband_link = false};
    const struct {
        const char* what;
        PciNumbers numbers;
        NicHints hints;
        std::optional<NicKind> kind;
    } cases[] = {
        {"ConnectX-7, InfiniBand", {0x15b3, 0x1021, 0x0207}, rdma, NicKind::infiniband},
        {"ConnectX-7 without driver", {0x15b3, 0x1021, 0x0207}, nothing, NicKind::infiniband},
        {"the same, set to Ethernet", {0x15b3, 0x1021, 0x0207}, link_eth, NicKind::roce},
        {"ConnectX-6 Lx", {0x15b3, 0x101f, 0x0200}, rdma, NicKind::roce},
        {"its link is InfiniBand", {0x15b3, 0x101b, 0x0200}, link_ib, NicKind::infiniband},
        {"ConnectX-3, class other", {0x15b3, 0x1003, 0x0280}, ipoib, NicKind::infiniband},
        {"ConnectX-3, Ethernet", {0x15b3, 0x1003, 0x0280}, rdma, NicKind::roce},
        {"ConnectX-2, old class", {0x15b3, 0x6746, 0x0c06}, ipoib, NicKind::infiniband},
        {"qib", {0x1077, 0x7322, 0x0c06}, nothing, NicKind::infiniband},
        {"Omni-Path without driver", {0x8086, 0x24f0, 0x0208}, nothing, NicKind::omni_path},
        {"Omni-Path by name", {0x8086, 0x24f1, 0x0280}, {.rdma_names = {"hfi1_0"}, .has_netdev = true}, NicKind::omni_path},
        {"Slingshot 11", {0x17db, 0x0501, 0x0200}, netdev, NicKind::slingshot},
        {"EFA", {0x1d0f, 0xefa2, 0x0200}, {.rdma_names = {"rdmap0s6"}}, NicKind::efa},
        {"ENA", {0x1d0f, 0xec20, 0x0200}, netdev, NicKind::ethernet},
        {"I350", {0x8086, 0x1521, 0x0200}, netdev, NicKind::ethernet},
        {"virtio", {0x1af4, 0x1000, 0x0200}, nothing, NicKind::ethernet},
        {"a radio", {0x8086, 0x2725, 0x0280}, nothing, std::nullopt},
        {"NVMe", {0x144d, 0xa80a, 0x0108}, nothing, std::nullopt},
        {"Xeon Phi with an interface", {0x8086, 0x225c, 0x0b40}, netdev, std::nullopt},
    };
    for (const auto& each : cases) EXPECT_EQ(nic_kind(each.numbers, each.hints), each.kind) << each.what;
}

TEST(NicKind, ByName) {
    const struct {
        const char* name;
        std::optional<NicKind> kind;
    } cases[] = {
        {"mlx5_0", NicKind::rdma},        {"mlx5_bond_0", NicKind::roce},     {"mlx4_1", NicKind::rdma},   {"ibp12s0", NicKind::infiniband},
        {"ib0", NicKind::infiniband},     {"qib0", NicKind::infiniband},      {"hfi1_0", NicKind::omni_path}, {"cxi2", NicKind::slingshot},
        {"hsn0", NicKind::slingshot},     {"rdmap79s0", NicKind::efa},        {"rocep12s0f1", NicKind::roce}, {"bnxt_re0", NicKind::roce},
        {"irdma1", NicKind::roce},        {"eth0", std::nullopt},             {"enp96s0f0", std::nullopt}, {"NIC3", std::nullopt},
        {"bond0", std::nullopt},          {"", std::nullopt},
    };
    for (const auto& each : cases) EXPECT_EQ(kind_of_name(each.name), each.kind) << each.name;
}

}  // namespace
}  // namespace paced::topology
