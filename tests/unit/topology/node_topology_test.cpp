// SPDX-License-Identifier: BSD-3-Clause
#include "policy/topology/node_topology.h"

#include <gtest/gtest.h>

namespace paced::topology {
namespace {

PciAddress pci(const char* text) {
    return *parse_pci_address(text);
}

Place place(const char* address, const char* host_bridge, std::vector<const char*> bridges, CpuSet cpus) {
    Place result;
    if (*address != '\0') result.pci = pci(address);
    result.path.host_bridge = host_bridge;
    for (const char* bridge : bridges) result.path.bridges.push_back(pci(bridge));
    result.local_cpus = std::move(cpus);
    return result;
}

// Two packages; the first has two NUMA nodes, 0-3 and 4-7, the second one, 8-15; NUMA node 9 is memory without CPUs.
NodeTopology node_of(Place gpu, Place nic) {
    NodeTopology node;
    node.cpus = CpuSet::range(0, 15);
    for (int cpu = 0; cpu < 16; ++cpu) node.pus.push_back({.cpu = cpu, .core = cpu});
    node.numa_nodes = {{0, CpuSet::range(0, 3), 0}, {1, CpuSet::range(4, 7), 0}, {8, CpuSet::range(8, 15), 0}, {9, {}, 0}};
    node.packages = {{0, CpuSet::range(0, 7)}, {1, CpuSet::range(8, 15)}};
    node.gpus.push_back({std::move(gpu), "", "NVIDIA"});
    node.nics.emplace_back().place = std::move(nic);
    locate_places(node);
    return node;
}

TEST(Relation, FromTheWaysToTheHostBridge) {
    const CpuSet a = CpuSet::range(0, 3), b = CpuSet::range(4, 7), package = CpuSet::range(0, 7), other = CpuSet::range(8, 15);
    const struct {
        const char* what;
        Place gpu, nic;
        Relation relation;
    } cases[] = {
        {"two ports of one switch", place("04:00.0", "h0", {"00:01.0", "02:00.0", "03:00.0"}, a),
         place("05:00.0", "h0", {"00:01.0", "02:00.0", "03:01.0"}, a), Relation::pix},
        {"two functions of one slot", place("04:00.0", "h0", {"00:01.0"}, a), place("04:00.1", "h0", {"00:01.0"}, a), Relation::pix},
        {"the NIC right below the root port's switch", place("04:00.0", "h0", {"00:01.0", "02:00.0"}, a),
         place("05:00.0", "h0", {"00:01.0"}, a), Relation::pix},
        {"a switch behind the switch", place("09:00.0", "h0", {"00:01.0", "02:00.0", "03:00.0", "06:00.0", "07:00.0"}, a),
         place("05:00.0", "h0", {"00:01.0", "02:00.0", "03:01.0"}, a), Relation::pxb},
        {"two root ports", place("04:00.0", "h0", {"00:01.0"}, a), place("05:00.0", "h0", {"00:02.0"}, a), Relation::phb},
        {"both on the root bus", place("00:04.0", "h0", {}, a), place("00:05.0", "h0", {}, a), Relation::phb},
        {"two host bridges of one NUMA node", place("04:00.0", "h0", {"00:01.0"}, a), place("15:00.0", "h1", {"10:01.0"}, a),
         Relation::node},
        {"one package", place("04:00.0", "h0", {"00:01.0"}, a), place("15:00.0", "h1", {"10:01.0"}, b), Relation::pkg},
        {"the NIC belongs to the whole package", place("04:00.0", "h0", {"00:01.0"}, a), place("15:00.0", "h1", {}, package),
         Relation::pkg},
        {"two packages", place("04:00.0", "h0", {"00:01.0"}, a), place("15:00.0", "h1", {"10:01.0"}, other), Relation::sys},
        {"the NIC belongs to the whole machine", place("04:00.0", "h0", {"00:01.0"}, a), place("15:00.0", "h1", {}, CpuSet::range(0, 15)),
         Relation::sys},
        {"one host bridge, wherever it is", place("04:00.0", "h0", {"00:01.0"}, CpuSet::range(0, 15)),
         place("05:00.0", "h0", {"00:02.0"}, CpuSet::range(0, 15)), Relation::phb},
        {"host bridges unknown, one NUMA node", place("04:00.0", "", {}, a), place("15:00.0", "", {}, a), Relation::node},
        {"nothing known", place("", "", {}, {}), place("", "", {}, {}), Relation::sys},
    };
    for (const auto& each : cases)
        EXPECT_EQ(relation_between(node_of(each.gpu, each.nic), GpuIndex{0}, NicIndex{0}), each.relation) << each.what;
}

TEST(Relation, WordsBothWays) {
    for (const char* text : {"PIX", "PXB", "PHB", "NODE", "PKG", "SYS"}) EXPECT_EQ(to_string(parse_relation(text).value()), text);
    EXPECT_FALSE(parse_relation("pix"));
    EXPECT_FALSE(parse_relation("NV4"));
    EXPECT_EQ(describe(Relation::pxb), "several PCIe bridges");
}

TEST(NodeTopology, PlacesFollowFromCpus) {
    const auto located = [](CpuSet cpus) {
        const NodeTopology node = node_of(place("", "", {}, std::move(cpus)), {});
        return std::pair(node.gpus[0].place.numa, node.gpus[0].place.package);
    };
    using Numbers = std::pair<std::optional<int>, std::optional<int>>;
    EXPECT_EQ(located(CpuSet::range(4, 7)), Numbers(1, 0));
    EXPECT_EQ(located({9}), Numbers(8, 1));
    EXPECT_EQ(located(CpuSet::range(0, 7)), Numbers(std::nullopt, 0));
    EXPECT_EQ(located(CpuSet::range(0, 15)), Numbers(std::nullopt, std::nullopt));
    EXPECT_EQ(located({}), Numbers(std::nullopt, std::nullopt));  // not the memory without CPUs
}

TEST(NodeTopology, PusFollowTheSmallestHolder) {
    NodeTopology node;
    node.cpus = CpuSet::range(0, 3);
    for (int cpu = 0; cpu < 4; ++cpu) node.pus.push_back({.cpu = cpu, .core = cpu});
    // DRAM 0 and HBM 2 for the same CPUs: the smaller number; 1 is smaller than both where it holds
    node.numa_nodes = {{0, CpuSet::range(0, 3), 0}, {1, {2}, 0}, {2, CpuSet::range(0, 3), 0}};
    locate_places(node);
    EXPECT_EQ(node.pus[0].numa, 0);
    EXPECT_EQ(node.pus[2].numa, 1);
    ASSERT_EQ(node.packages.size(), 1u);  // none was recorded
    EXPECT_EQ(node.pus[0].package, 0);
}

TEST(NodeTopology, DevicesSortByAddress) {
    NodeTopology node;
    for (const char* address : {"", "0001:00:00.0", "0000:09:00.0", "0000:10:00.0"}) {
        Nic nic;
        nic.name = *address == '\0' ? "without" : address;
        nic.place.pci = parse_pci_address(address);
        node.nics.push_back(nic);
    }
    sort_devices(node);
    std::vector<std::string> names;
    for (const Nic& nic : node.nics) names.push_back(nic.name);
    EXPECT_EQ(names, (std::vector<std::string>{"0000:09:00.0", "0000:10:00.0", "0001:00:00.0", "without"}));
}

TEST(NodeTopology, StateOfPorts) {
    using enum LinkState;
    const auto state = [](std::vector<LinkState> states) {
        std::vector<NicPort> ports;
        for (LinkState each : states) ports.push_back({1, each, 0});
        return state_of_ports(ports);
    };
    EXPECT_EQ(state({}), unknown);
    EXPECT_EQ(state({down, up}), up);
    EXPECT_EQ(state({down, down}), down);
    EXPECT_EQ(state({down, unknown}), unknown);
}

TEST(NodeTopology, Words) {
    for (const char* text : {"infiniband", "omni-path", "slingshot", "efa", "roce", "ethernet"})
        EXPECT_EQ(to_string(parse_nic_kind(text).value()), text);
    for (const char* text : {"up", "down", "unknown"}) EXPECT_EQ(to_string(parse_link_state(text).value()), text);
    EXPECT_FALSE(parse_nic_kind("token ring"));
    EXPECT_FALSE(parse_link_state("UP"));
    EXPECT_EQ(to_string(class_of(NicKind::efa)), "fabric");
    EXPECT_EQ(to_string(class_of(NicKind::roce)), "roce-ethernet");
    EXPECT_EQ(to_string(class_of(NicKind::ethernet)), "ethernet");
    Nic nic;
    EXPECT_EQ(label(nic), "?");
    nic.place.pci = pci("01:00.0");
    EXPECT_EQ(label(nic), "0000:01:00.0");
    nic.name = "mlx5_0";
    EXPECT_EQ(label(nic), "mlx5_0");
}

TEST(Relation, WhatTheInputStatesComesFirst) {
    NodeTopology node = node_of(place("04:00.0", "h0", {"00:01.0"}, CpuSet::range(0, 3)), place("05:00.0", "h0", {"00:01.0"}, CpuSet::range(0, 3)));
    ASSERT_EQ(relation_between(node, GpuIndex{0}, NicIndex{0}), Relation::pix);
    node.stated_relations = {{Relation::node}};
    EXPECT_EQ(relation_between(node, GpuIndex{0}, NicIndex{0}), Relation::node);
    node.stated_relations = {{std::nullopt}};
    EXPECT_EQ(relation_between(node, GpuIndex{0}, NicIndex{0}), Relation::pix);
}

TEST(Devices, StatedRelationsAreSortedAlongWithThem) {
    NodeTopology node;
    for (const char* address : {"02:00.0", "", "01:00.0"}) node.gpus.emplace_back().place = place(address, "", {}, {});
    for (const char* address : {"", "03:00.0"}) node.nics.emplace_back().place = place(address, "", {}, {});
    node.stated_relations = {{Relation::pix, Relation::pxb}, {Relation::phb, std::nullopt}, {Relation::pkg, Relation::sys}};
    sort_devices(node);
    using Row = std::vector<std::optional<Relation>>;
    EXPECT_EQ(node.stated_relations, (std::vector<Row>{{Relation::sys, Relation::pkg}, {Relation::pxb, Relation::pix}, {std::nullopt, Relation::phb}}));
}

}  // namespace
}  // namespace paced::topology
