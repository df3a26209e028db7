// SPDX-License-Identifier: BSD-3-Clause
#include "policy/placement/node_table.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "policy/base/text.h"

namespace paced::placement {
namespace {

using namespace paced::topology;

// A node of two packages with 8 CPUs each. Devices hang on root ports of host bridges "a" (package 0) and "b" (package 1).
class Builder {
public:
    Builder() {
        node_.cpus = CpuSet::range(0, 15);
        for (int cpu = 0; cpu < 16; ++cpu) node_.pus.push_back({.cpu = cpu, .core = cpu});
        node_.numa_nodes = {{0, CpuSet::range(0, 7), 0}, {1, CpuSet::range(8, 15), 0}};
        node_.packages = {{0, CpuSet::range(0, 7)}, {1, CpuSet::range(8, 15)}};
    }
    // slot: host bridge and root port, "a1"; devices of one slot share the port
    Builder& gpu(const char* pci, std::string_view slot) {
        node_.gpus.push_back({place(pci, slot), "", "NVIDIA"});
        return *this;
    }
    Builder& nic(const char* pci, std::string_view slot, std::string name, NicKind kind = NicKind::infiniband,
                 LinkState state = LinkState::up) {
        Nic& nic = node_.nics.emplace_back();
        nic.place = place(pci, slot);
        nic.name = std::move(name);
        nic.kind = kind;
        nic.state = state;
        return *this;
    }
    NodeTopology& node() { return node_; }
    NodeTopology build() {
        sort_devices(node_);
        locate_places(node_);
        return node_;
    }

private:
    static Place place(const char* pci, std::string_view slot) {
        Place place;
        place.pci = parse_pci_address(pci);
        place.path.host_bridge = slot.substr(0, 1);
        place.path.bridges = {*parse_pci_address("0000:00:0" + std::string(slot.substr(1)) + ".0")};
        place.local_cpus = slot[0] == 'a' ? CpuSet::range(0, 7) : CpuSet::range(8, 15);
        return place;
    }
    NodeTopology node_;
};

// "mlx5_0/PIX mlx5_1/PHB": the NIC and the relation of each GPU
std::string nics(const NodeTopology& node, const NodeTable& table) {
    std::vector<std::string> texts;
    for (const GpuRow& row : table.rows)
        texts.push_back((row.nic ? label(node.nic(*row.nic)) : "none") + (row.relation ? '/' + std::string(to_string(*row.relation)) : ""));
    return join(texts, " ");
}

std::string candidates(const NodeTopology& node, const GpuRow& row) {
    std::vector<std::string> names;
    for (NicIndex nic : row.candidates) names.push_back(label(node.nic(nic)));
    return join(names, " ");
}

TEST(NodeTable, NearestThenBalancedThenByAddress) {
    const struct {
        const char* what;
        NodeTopology node;
        const char* nics;
    } cases[] = {
        {"each its own", Builder().gpu("10:00.0", "a1").nic("11:00.0", "a1", "m0").gpu("90:00.0", "b1").nic("91:00.0", "b1", "m1").build(),
         "m0/PIX m1/PIX"},
        {"two NICs as near: by address first",
         Builder().gpu("10:00.0", "a1").gpu("20:00.0", "a2").nic("30:00.0", "a3", "m9").nic("40:00.0", "a4", "m1").build(),
         "m9/PHB m1/PHB"},
        {"one NIC for all", Builder().gpu("10:00.0", "a1").gpu("90:00.0", "b1").nic("11:00.0", "a1", "m0").build(), "m0/PIX m0/SYS"},
        {"near beats balance",
         Builder().gpu("10:00.0", "a1").gpu("10:00.1", "a1").nic("11:00.0", "a1", "m0").nic("12:00.0", "a2", "m1").build(),
         "m0/PIX m0/PIX"},
        {"no NIC", Builder().gpu("10:00.0", "a1").build(), "none"},
        {"no GPU", Builder().nic("10:00.0", "a1", "m0").build(), ""},
        {"fabric before a nearer Ethernet",
         Builder()
             .gpu("10:00.0", "a1")
             .nic("11:00.0", "a1", "eth0", NicKind::ethernet)
             .nic("12:00.0", "a1", "m1", NicKind::roce)
             .nic("91:00.0", "b1", "m0")
             .build(),
         "m0/SYS"},
        {"RoCE before Ethernet",
         Builder().gpu("10:00.0", "a1").nic("11:00.0", "a1", "eth0", NicKind::ethernet).nic("91:00.0", "b1", "m0", NicKind::roce).build(),
         "m0/SYS"},
        {"Ethernet where there is nothing else", Builder().gpu("10:00.0", "a1").nic("11:00.0", "a1", "eth0", NicKind::ethernet).build(),
         "eth0/PIX"},
    };
    for (const auto& each : cases) EXPECT_EQ(nics(each.node, node_table(each.node)), each.nics) << each.what;
}

TEST(NodeTable, LinksThatAreDown) {
    using enum LinkState;
    // Two as near: the one that is up. The candidates are both, by distance alone.
    const NodeTopology mixed = Builder()
                                   .gpu("10:00.0", "a1")
                                   .nic("11:00.0", "a2", "m0", NicKind::infiniband, down)
                                   .nic("12:00.0", "a3", "m1", NicKind::infiniband, up)
                                   .build();
    const NodeTable table = node_table(mixed);
    EXPECT_EQ(nics(mixed, table), "m1/PHB");
    EXPECT_EQ(candidates(mixed, table.rows[0]), "m0 m1");
    EXPECT_FALSE(table.rows[0].nic_down);
    EXPECT_EQ(table.warnings, std::vector<std::string>{"the link of this NIC is down: m0"});
    EXPECT_EQ(table.rows[0].reasons,
              (std::vector<std::string>{"m1 is the only one of 2 nearest fabric NICs (PHB: one host bridge) whose link is not down",
                                        "passed over because the link is down: m0"}));

    // The only near one is down: named all the same, and said.
    const NodeTopology near_down = Builder()
                                       .gpu("10:00.0", "a1")
                                       .nic("11:00.0", "a1", "m0", NicKind::infiniband, down)
                                       .nic("91:00.0", "b1", "m1", NicKind::infiniband, up)
                                       .build();
    const NodeTable second = node_table(near_down);
    EXPECT_EQ(nics(near_down, second), "m0/PIX");
    EXPECT_TRUE(second.rows[0].nic_down);
    EXPECT_EQ(second.rows[0].reasons,
              (std::vector<std::string>{"m0 is the nearest fabric NIC (PIX: one PCIe switch)",
                                        "the link of m0 is down, as is that of every NIC as near: nothing should be bound to it"}));

    // Unknown is not down.
    const NodeTopology unknown_state = Builder().gpu("10:00.0", "a1").nic("11:00.0", "a1", "m0", NicKind::infiniband, unknown).build();
    EXPECT_FALSE(node_table(unknown_state).rows[0].nic_down);
    EXPECT_TRUE(node_table(unknown_state).warnings.empty());
}

TEST(NodeTable, AVirtualFunctionStandsBackWhereItsCardIsThere) {
    Builder builder;
    builder.gpu("10:00.0", "a1").nic("11:00.0", "a2", "m0").nic("11:00.2", "a1", "m1");
    builder.node().nics[1].virtual_function_of = parse_pci_address("11:00.0");
    const NodeTopology on_host = builder.build();
    EXPECT_EQ(nics(on_host, node_table(on_host)), "m0/PHB");
    builder.node().nics.erase(builder.node().nics.begin());  // in a virtual machine it is all there is
    const NodeTopology in_guest = builder.build();
    EXPECT_EQ(nics(in_guest, node_table(in_guest)), "m1/PIX");
}

TEST(NodeTable, CpusAreThoseNearTheGpuThatMayBeUsed) {
    const NodeTopology node = Builder().gpu("10:00.0", "a1").nic("11:00.0", "a1", "m0").build();
    const struct {
        std::optional<CpuSet> allowed;
        const char *cpus, *reason;
    } cases[] = {
        {std::nullopt, "0-7", ""},
        {CpuSet::range(4, 11), "4-7", ""},
        {CpuSet{9, 10}, "9-10", "none of the CPUs near this GPU (0-7) may be used: all others instead"},
        {CpuSet{9, 99}, "9", "none of the CPUs near this GPU (0-7) may be used: all others instead"},  // 99 is not there
    };
    for (const auto& each : cases) {
        const NodeTable table = node_table(node, each.allowed);
        EXPECT_EQ(to_string(table.rows[0].cpus), each.cpus);
        EXPECT_EQ(table.rows[0].numa, 0);
        const auto& reasons = table.rows[0].reasons;
        EXPECT_EQ(std::count(reasons.begin(), reasons.end(), each.reason), *each.reason == '\0' ? 0 : 1);
    }
    NodeTopology vague = node;
    vague.gpus[0].place.local_cpus = {};
    EXPECT_EQ(to_string(node_table(vague, CpuSet{3}).rows[0].cpus), "3");
    EXPECT_EQ(node_table(vague).rows[0].reasons.front(), "which CPUs are near this GPU is not known: all that may be used");
}

// However an input lists the devices, after sorting the table is the same; and balance holds among equally near ones.
TEST(NodeTable, ThePermutationOfTheInputChangesNothing) {
    std::mt19937 random(7);
    std::string expected;
    for (int round = 0; round < 50; ++round) {
        Builder builder;
        std::vector<int> order{0, 1, 2, 3, 4, 5, 6, 7};
        std::shuffle(order.begin(), order.end(), random);
        for (int i : order) {
            const std::string bus = std::to_string(10 + i);
            builder.gpu((bus + ":00.0").c_str(), i < 4 ? "a1" : "b1");
            if (i % 2 == 0) builder.nic((bus + ":01.0").c_str(), i < 4 ? "a2" : "b2", "m" + std::to_string(i));
        }
        const NodeTopology node = builder.build();
        const std::string found = nics(node, node_table(node));
        if (round == 0) expected = found;
        EXPECT_EQ(found, expected);
    }
    EXPECT_EQ(expected, "m0/PHB m2/PHB m0/PHB m2/PHB m4/PHB m6/PHB m4/PHB m6/PHB");
}

}  // namespace
}  // namespace paced::placement
