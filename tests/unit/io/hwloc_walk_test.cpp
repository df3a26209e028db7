// SPDX-License-Identifier: BSD-3-Clause
// One machine that has everything odd at once (tests/data/topology/fake-odd.xml); real ones are in tests/topology.
#include "policy/io/hwloc_reader.h"

#include <map>

#include <gtest/gtest.h>

#include "tests/doubles/paths.h"

namespace paced::io {
namespace {

using namespace paced::topology;

class OddMachine : public testing::Test {
protected:
    OddMachine() {
        Diagnostics diagnostics;
        const auto read = parse_hwloc_xml(test::read_file(test::data("topology/fake-odd.xml")), "f", diagnostics);
        EXPECT_TRUE(read) << format(diagnostics);
        if (read) node_ = *read;
    }
    const Gpu& gpu(std::string_view pci) const {
        for (const Gpu& each : node_.gpus)
            if (each.place.pci == parse_pci_address(pci)) return each;
        ADD_FAILURE() << "no GPU " << pci;
        return none_;
    }
    const Nic& nic(std::string_view pci) const {
        for (const Nic& each : node_.nics)
            if (each.place.pci == parse_pci_address(pci)) return each;
        ADD_FAILURE() << "no NIC " << pci;
        return no_nic_;
    }
    NodeTopology node_;
    Gpu none_;
    Nic no_nic_;
};

TEST_F(OddMachine, CpusThatAreOfflineOrNotAllowed) {
    EXPECT_EQ(to_string(node_.cpus), "0-7");  // 7 is not allowed, but there; 8 and 9 are offline
    ASSERT_EQ(node_.pus.size(), 8u);
    EXPECT_EQ(node_.pus[7].cpu, 7);
}

TEST_F(OddMachine, CoresOfTwoKindsAndMemoryWithoutCpusOfItsOwn) {
    std::map<int, int> threads;
    for (const Pu& pu : node_.pus) ++threads[pu.core];
    EXPECT_EQ(threads, (std::map<int, int>{{0, 2}, {1, 2}, {2, 1}, {3, 1}, {4, 1}, {5, 1}}));
    ASSERT_EQ(node_.numa_nodes.size(), 3u);
    for (const Pu& pu : node_.pus) EXPECT_EQ(pu.numa, pu.cpu < 4 ? 0 : 1);
    EXPECT_EQ(gpu("0001:05:00.0").place.numa, 1);
}

TEST_F(OddMachine, GpusAndNoConsoles) {
    EXPECT_EQ(node_.gpus.size(), 4u);  // neither the CPU's own graphics nor the ES1000
    EXPECT_EQ(gpu("0001:05:00.0").vendor, "AMD");
    EXPECT_EQ(gpu("0001:05:00.0").partitions, 1);  // a die of an MI250X is a PCI device of its own
    EXPECT_EQ(gpu("0001:06:00.0").uuid, "GPU-00000000000000c6");
}

TEST_F(OddMachine, PartsOfAnApu) {
    const Gpu& apu = gpu("0000:01:00.0");
    EXPECT_EQ(apu.name, "Instinct MI300A");
    EXPECT_EQ(apu.partitions, 3);
    EXPECT_EQ(apu.uuid, "GPU-00000000000000a0");
    EXPECT_EQ(apu.partition_uuids, (std::vector<std::string>{"GPU-00000000000000a0", "GPU-00000000000000a1", "GPU-00000000000000a2"}));
}

TEST_F(OddMachine, MigDevices) {
    const Gpu& parent = gpu("0000:03:00.0");
    EXPECT_EQ(parent.uuid, "GPU-00000000-0000-0000-0000-0000000000b0");
    EXPECT_EQ(parent.partitions, 2);
    EXPECT_EQ(parent.partition_uuids,
              (std::vector<std::string>{"MIG-00000000-0000-0000-0000-0000000000b1", "MIG-00000000-0000-0000-0000-0000000000b2"}));
}

TEST_F(OddMachine, NicsOfEveryKind) {
    EXPECT_EQ(node_.nics.size(), 7u);
    EXPECT_EQ(nic("0000:02:00.0").kind, NicKind::slingshot);
    EXPECT_EQ(nic("0000:04:00.0").kind, NicKind::infiniband);  // ConnectX-3, of the class "other"
    EXPECT_EQ(nic("0001:01:00.0").kind, NicKind::infiniband);  // qib, of the class of a serial bus
    EXPECT_EQ(nic("0001:02:00.0").kind, NicKind::omni_path);   // without a driver
    EXPECT_EQ(nic("0001:03:00.0").kind, NicKind::efa);
    EXPECT_EQ(nic("0001:02:00.0").name, "");
}

TEST_F(OddMachine, PortsOfOneDeviceAndDevicesOfOneCard) {
    const Nic& two_ports = nic("0000:04:00.0");
    EXPECT_EQ(two_ports.name, "mlx4_0");
    EXPECT_EQ(two_ports.netdevs, (std::vector<std::string>{"ib0", "ib1"}));
    ASSERT_EQ(two_ports.ports.size(), 2u);
    EXPECT_EQ(two_ports.ports[0].state, LinkState::down);
    EXPECT_EQ(two_ports.ports[1].state, LinkState::up);
    EXPECT_EQ(two_ports.state, LinkState::up);
    EXPECT_EQ(nic("0001:04:00.0").name, "mlx5_0");
    EXPECT_EQ(nic("0001:04:00.1").name, "mlx5_1");
    EXPECT_EQ(nic("0001:04:00.1").state, LinkState::down);
}

TEST_F(OddMachine, PciDomains) {
    // Same bus, other domain: never one host bridge.
    EXPECT_EQ(gpu("0000:01:00.0").place.path.host_bridge, "0000:00");
    EXPECT_EQ(nic("0001:01:00.0").place.path.host_bridge, "0001:00");
    EXPECT_EQ(relation_between(node_, GpuIndex{0}, NicIndex{0}), Relation::phb);
    EXPECT_EQ(relation_between(node_, GpuIndex{0}, NicIndex{2}), Relation::pkg);
}

}  // namespace
}  // namespace paced::io
