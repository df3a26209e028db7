// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/sysfs_devices.h"

#include <gtest/gtest.h>

#include "tests/doubles/temporary_folder.h"

namespace paced::io {
namespace {

using namespace paced::topology;

class Sysfs : public testing::Test {
protected:
    // A file of a PCI device
    void device(const std::string& pci, const std::string& name, const std::string& text) {
        root_.write("sys/bus/pci/devices/" + pci + '/' + name, text);
    }
    void port(const std::string& pci, const std::string& rdma, int number, const std::string& state, const std::string& rate,
              const std::string& layer) {
        const std::string folder = "infiniband/" + rdma + "/ports/" + std::to_string(number) + '/';
        device(pci, folder + "state", state + '\n');
        device(pci, folder + "rate", rate + '\n');
        device(pci, folder + "link_layer", layer + '\n');
    }
    void interface(const std::string& pci, const std::string& name, const std::string& operstate, const std::string& speed) {
        device(pci, "net/" + name + "/type", "1\n");
        root_.write("sys/class/net/" + name + "/operstate", operstate + '\n');
        root_.write("sys/class/net/" + name + "/speed", speed + '\n');
    }
    Nic read(const std::string& pci, NicKind kind, std::vector<std::string> netdevs = {}) {
        NodeTopology node;
        node.nics.emplace_back().place.pci = parse_pci_address(pci);
        node.nics[0].kind = kind;
        node.nics[0].netdevs = std::move(netdevs);
        add_sysfs_facts(node, root_.path().string());
        return node.nics[0];
    }

    test::TemporaryFolder root_;
};

TEST_F(Sysfs, InfinibandPorts) {
    port("0000:15:00.0", "mlx5_0", 1, "4: ACTIVE", "400 Gb/sec (4X NDR)", "InfiniBand");
    interface("0000:15:00.0", "ib0", "down", "-1");  // IP is not configured; RDMA does not mind
    const Nic nic = read("0000:15:00.0", NicKind::infiniband);
    EXPECT_EQ(nic.name, "mlx5_0");
    EXPECT_EQ(nic.netdevs, std::vector<std::string>{"ib0"});
    EXPECT_EQ(nic.state, LinkState::up);
    EXPECT_EQ(nic.rate_mbps, 400'000u);
    EXPECT_EQ(nic.kind, NicKind::infiniband);
    ASSERT_EQ(nic.ports.size(), 1u);
    EXPECT_EQ(nic.ports[0].number, 1);
}

TEST_F(Sysfs, TwoPortsOneDown) {
    port("0000:15:00.0", "mlx4_0", 1, "1: DOWN", "2.5 Gb/sec (1X SDR)", "InfiniBand");
    port("0000:15:00.0", "mlx4_0", 2, "4: ACTIVE", "40 Gb/sec (4X FDR10)", "InfiniBand");
    const Nic nic = read("0000:15:00.0", NicKind::infiniband);
    EXPECT_EQ(nic.state, LinkState::up);
    EXPECT_EQ(nic.rate_mbps, 40'000u);
    EXPECT_EQ(nic.ports.at(0).rate_mbps, 2'500u);
    EXPECT_EQ(nic.ports.at(0).state, LinkState::down);
}

TEST_F(Sysfs, ALinkThatIsOnlyBeingSetUpIsDown) {
    port("0000:15:00.0", "mlx5_0", 1, "2: INIT", "100 Gb/sec (4X EDR)", "InfiniBand");
    EXPECT_EQ(read("0000:15:00.0", NicKind::infiniband).state, LinkState::down);
}

TEST_F(Sysfs, TheLinkLayerDecidesBetweenInfinibandAndRoce) {
    port("0000:15:00.0", "mlx5_0", 1, "4: ACTIVE", "100 Gb/sec (4X EDR)", "Ethernet");
    EXPECT_EQ(read("0000:15:00.0", NicKind::infiniband).kind, NicKind::roce);
    port("0000:15:00.0", "mlx5_0", 1, "4: ACTIVE", "100 Gb/sec (4X EDR)", "InfiniBand");
    EXPECT_EQ(read("0000:15:00.0", NicKind::roce).kind, NicKind::infiniband);
    // EFA and Omni-Path stay what they are
    port("0000:15:00.0", "mlx5_0", 1, "4: ACTIVE", "100 Gb/sec", "Unspecified");
    EXPECT_EQ(read("0000:15:00.0", NicKind::efa).kind, NicKind::efa);
    port("0000:15:00.0", "mlx5_0", 1, "4: ACTIVE", "100 Gb/sec", "InfiniBand");
    EXPECT_EQ(read("0000:15:00.0", NicKind::omni_path).kind, NicKind::omni_path);
}

TEST_F(Sysfs, Interfaces) {
    const struct {
        const char *operstate, *speed;
        LinkState state;
        std::uint32_t rate;
    } cases[] = {
        {"up", "25000", LinkState::up, 25'000},         {"down", "-1", LinkState::down, 0},     {"lowerlayerdown", "", LinkState::down, 0},
        {"unknown", "1000", LinkState::unknown, 1'000}, {"up", "4294967295", LinkState::up, 0}, {"", "x", LinkState::unknown, 0},
    };
    for (const auto& each : cases) {
        interface("0000:01:00.0", "eno1", each.operstate, each.speed);
        const Nic nic = read("0000:01:00.0", NicKind::ethernet);
        EXPECT_EQ(nic.name, "eno1");
        EXPECT_EQ(nic.state, each.state) << each.operstate;
        EXPECT_EQ(nic.rate_mbps, each.rate) << each.speed;
    }
}

TEST_F(Sysfs, AVirtioInterfaceThatHwlocFound) {
    root_.write("sys/class/net/eth0/operstate", "up\n");
    const Nic nic = read("0000:00:03.0", NicKind::ethernet, {"eth0"});
    EXPECT_EQ(nic.name, "eth0");
    EXPECT_EQ(nic.state, LinkState::up);
}

TEST_F(Sysfs, VirtualFunctions) {
    device("0000:15:00.2", "vendor", "0x15b3\n");
    std::filesystem::create_symlink("../0000:15:00.0", root_.path() / "sys/bus/pci/devices/0000:15:00.2/physfn");
    EXPECT_EQ(read("0000:15:00.2", NicKind::infiniband).virtual_function_of, parse_pci_address("0000:15:00.0"));
    EXPECT_FALSE(read("0000:15:00.0", NicKind::infiniband).virtual_function_of);
}

TEST_F(Sysfs, NothingThereLeavesAllUnknown) {
    const Nic nic = read("0000:15:00.0", NicKind::infiniband);
    EXPECT_EQ(nic.name, "");
    EXPECT_EQ(nic.state, LinkState::unknown);
    EXPECT_EQ(nic.rate_mbps, 0u);
}

TEST_F(Sysfs, TwoRdmaDevicesOfOneCard) {
    port("0000:15:00.0", "mlx5_0", 1, "4: ACTIVE", "200 Gb/sec (4X HDR)", "InfiniBand");
    port("0000:15:00.0", "mlx5_1", 1, "1: DOWN", "10 Gb/sec", "InfiniBand");
    const Nic nic = read("0000:15:00.0", NicKind::infiniband);
    EXPECT_EQ(nic.name, "mlx5_0");
    EXPECT_EQ(nic.more_names, std::vector<std::string>{"mlx5_1"});
    EXPECT_EQ(nic.ports.size(), 2u);
}

TEST_F(Sysfs, Gpus) {
    const auto information = [&](const std::string& pci, const std::string& text) {
        root_.write("proc/driver/nvidia/gpus/" + pci + "/information", text);
    };
    const std::string uuid = "GPU-9221d5d1-0000-1111-2222-333344445555";
    information("0000:06:00.0", "Model: \t\t NVIDIA H200\nIRQ:   \t\t 42\nGPU UUID: \t " + uuid + "\nDevice Minor: \t 3\n");
    information("0000:07:00.0", "Model: \t\t NVIDIA H200\nGPU UUID: \t GPU-" + std::string(36, '?') + "\nDevice Minor: \t x\n");
    for (const char* instance : {"gi1/ci0", "gi2/ci0", "gi2/ci1"})
        root_.write("proc/driver/nvidia/capabilities/gpu3/mig/" + std::string(instance) + "/access", "DeviceFileMinor: 1\n");
    root_.write("proc/driver/nvidia/capabilities/gpu3/mig/config", "DeviceFileMinor: 1\n");
    device("0000:17:00.0", "product_name", "AMD Instinct MI300X OAM\n");
    device("0000:17:00.0", "unique_id", "5f3e0a\n");
    NodeTopology node;
    for (const char* pci : {"06:00.0", "07:00.0", "08:00.0", "17:00.0"}) {
        Gpu& gpu = node.gpus.emplace_back();
        gpu.place.pci = parse_pci_address(pci);
        gpu.name = "from hwloc";
        gpu.vendor = std::string(pci) == "17:00.0" ? "AMD" : "NVIDIA";
    }
    add_sysfs_facts(node, root_.path().string());
    EXPECT_EQ(node.gpus[0].name, "NVIDIA H200");
    EXPECT_EQ(node.gpus[0].uuid, uuid);
    EXPECT_EQ(node.gpus[0].partitions, 3);
    EXPECT_TRUE(node.gpus[0].partition_uuids.empty());
    EXPECT_EQ(node.gpus[1].name, "NVIDIA H200");
    EXPECT_EQ(node.gpus[1].uuid, "");  // not initialised
    EXPECT_EQ(node.gpus[1].partitions, 1);
    EXPECT_EQ(node.gpus[2].name, "from hwloc");
    EXPECT_EQ(node.gpus[3].name, "AMD Instinct MI300X OAM");
    EXPECT_EQ(node.gpus[3].uuid, "GPU-00000000005f3e0a");
    EXPECT_EQ(node.gpus[3].partitions, 1);
}

// From the name of the mode where there is no KFD; in CPX it depends on the chip.
TEST_F(Sysfs, PartsOfAmdGpus) {
    const struct {
        const char *mode, *device;
        int parts;
    } cases[] = {{"SPX", "0x74a1", 1}, {"DPX", "0x74a1", 2}, {"TPX", "0x74a0", 3}, {"QPX", "0x74a1", 4},
                 {"CPX", "0x74a1", 8}, {"CPX", "0x74a0", 6}, {"CPX", "0x74a2", 4}, {"", "0x740f", 1},
                 {"UNKNOWN", "0x74a1", 1}};
    for (const auto& each : cases) {
        device("0001:02:00.0", "current_compute_partition", std::string(each.mode) + '\n');
        device("0001:02:00.0", "device", std::string(each.device) + '\n');
        NodeTopology node;
        Gpu& gpu = node.gpus.emplace_back();
        gpu.place.pci = parse_pci_address("0001:02:00.0");
        gpu.vendor = "AMD";
        add_sysfs_facts(node, root_.path().string());
        EXPECT_EQ(gpu.partitions, each.parts) << each.mode << ' ' << each.device;
    }
}

TEST_F(Sysfs, KfdTellsThePartsOfAmdGpus) {
    const auto kfd = [&](int number, const std::string& text) {
        root_.write("sys/class/kfd/kfd/topology/nodes/" + std::to_string(number) + "/properties", text);
    };
    kfd(0, "cpu_cores_count 24\nsimd_count 0\nlocation_id 512\ndomain 1\n");
    kfd(9, "simd_count 304\nlocation_id 512\ndomain 1\nunique_id 10\n");  // 02:00.0
    kfd(10, "simd_count 304\nlocation_id 268435968\ndomain 1\nunique_id 11\n");  // its second part
    kfd(11, "simd_count 912\nlocation_id 512\ndomain 0\nunique_id 18446744073709551615\n");
    device("0001:02:00.0", "current_compute_partition", "CPX\n");  // KFD knows better
    NodeTopology node;
    for (const char* pci : {"0000:02:00.0", "0001:02:00.0", "0001:03:00.0"}) {
        Gpu& gpu = node.gpus.emplace_back();
        gpu.place.pci = parse_pci_address(pci);
        gpu.vendor = "AMD";
    }
    add_sysfs_facts(node, root_.path().string());
    EXPECT_EQ(node.gpus[0].partitions, 1);
    EXPECT_EQ(node.gpus[0].uuid, "GPU-ffffffffffffffff");
    EXPECT_TRUE(node.gpus[0].partition_uuids.empty());
    EXPECT_EQ(node.gpus[1].partitions, 2);
    EXPECT_EQ(node.gpus[1].uuid, "GPU-000000000000000a");
    EXPECT_EQ(node.gpus[1].partition_uuids, (std::vector<std::string>{"GPU-000000000000000a", "GPU-000000000000000b"}));
    EXPECT_EQ(node.gpus[2].partitions, 1);
    EXPECT_EQ(node.gpus[2].uuid, "");
}

}  // namespace
}  // namespace paced::io
