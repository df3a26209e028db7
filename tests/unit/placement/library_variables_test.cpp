// SPDX-License-Identifier: BSD-3-Clause
#include "policy/placement/library_variables.h"

#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "policy/base/text.h"
#include "tests/unit/placement/node_builder.h"

namespace paced::placement {
namespace {

using namespace paced::topology;

// Two GPUs with a NIC beside each.
NodeBuilder two(NicKind kind = NicKind::infiniband, const char* first = "mlx5_0", const char* second = "mlx5_1") {
    return NodeBuilder().gpu("10:00.0", "a1").gpu("90:00.0", "b1").nic("11:00.0", "a1", first, kind).nic("91:00.0", "b1", second, kind);
}

NodeNetwork tcp(std::vector<std::string> interfaces) { return {.tcp_interfaces = std::move(interfaces)}; }

// "UCX_NET_DEVICES=mlx5_0:1 NVSHMEM_HCA_LIST=mlx5_0:1": of one task
std::string variables(const NodeTopology& node, std::size_t task, const NodeNetwork& network) {
    std::vector<std::string> texts;
    const NodeVariables all = variables_for(node, bind_tasks(node), network);
    for (const auto& [name, value] : all.of_tasks.at(task)) texts.push_back(std::string(name) + '=' + value);
    return join(texts, " ");
}

TEST(LibraryVariables, OfEachTask) {
    const NodeTopology node = two().build();
    EXPECT_EQ(variables(node, 0, tcp({"eth0"})), "UCX_NET_DEVICES=mlx5_0:1,eth0 NVSHMEM_HCA_LIST=mlx5_0:1 MPIR_CVAR_CH4_OFI_PREF_NIC=0");
    EXPECT_EQ(variables(node, 1, tcp({"eth0", "ib1"})), "UCX_NET_DEVICES=mlx5_1:1,eth0,ib1 NVSHMEM_HCA_LIST=mlx5_1:1 MPIR_CVAR_CH4_OFI_PREF_NIC=1");
    // A node without IP at all has none to lose.
    EXPECT_EQ(variables(node, 0, tcp({})), "UCX_NET_DEVICES=mlx5_0:1 NVSHMEM_HCA_LIST=mlx5_0:1 MPIR_CVAR_CH4_OFI_PREF_NIC=0");
}

// A list without the interfaces would cut off nodes where only TCP works.
TEST(LibraryVariables, WithoutTheInterfacesThereIsNoUcxList) {
    const NodeTopology node = two().build();
    EXPECT_EQ(variables(node, 0, {}), "NVSHMEM_HCA_LIST=mlx5_0:1 MPIR_CVAR_CH4_OFI_PREF_NIC=0");
    EXPECT_EQ(variables_for(node, bind_tasks(node), {}).reasons,
              std::vector<std::string>{"UCX_NET_DEVICES is not set: which interfaces carry TCP is not known, and without them a node that has TCP alone would be cut off"});
}

TEST(LibraryVariables, NicsInNetworksOfTheirOwnAreNotTaken) {
    const NodeTopology node = two().build();
    NodeNetwork network = tcp({"eth0"});
    network.network_of = {"fe80:0:0:1", "fe80:0:0:2"};
    EXPECT_EQ(variables(node, 0, network), "MPIR_CVAR_CH4_OFI_PREF_NIC=0");
    EXPECT_EQ(variables_for(node, bind_tasks(node), network).reasons,
              std::vector<std::string>{"UCX_NET_DEVICES and NVSHMEM_HCA_LIST are not set: the NICs are in 2 networks, and ranks bound to different ones might not reach each other"});
    network.network_of = {"fe80:0:0:1", "fe80:0:0:1"};
    EXPECT_EQ(variables(node, 0, network), variables(node, 0, tcp({"eth0"})));
    network.network_of = {"fe80:0:0:1"};  // of the other nothing is known
    EXPECT_EQ(variables(node, 0, network), variables(node, 0, tcp({"eth0"})));
}

TEST(LibraryVariables, PortsByState) {
    using enum LinkState;
    NodeTopology node = two().build();
    const auto ucx = [&](std::vector<NicPort> ports) {
        node.nics[0].ports = std::move(ports);
        node.nics[0].state = state_of_ports(node.nics[0].ports);
        return variables(node, 0, tcp({"eth0"})).substr(std::string("UCX_NET_DEVICES=").size(), 17);
    };
    EXPECT_EQ(ucx({{1, down, 0}, {2, up, 0}}), "mlx5_0:2,eth0 NVS");
    EXPECT_EQ(ucx({{1, unknown, 0}, {2, unknown, 0}}), "mlx5_0:1,mlx5_0:2");
    EXPECT_EQ(ucx({{1, unknown, 0}, {2, up, 0}}), "mlx5_0:2,eth0 NVS");
    EXPECT_EQ(ucx({{1, up, 100'000}, {2, up, 400'000}}), "mlx5_0:2,eth0 NVS");
    node.nics[0].ports = {{1, down, 0}};
    node.nics[0].state = down;
    EXPECT_EQ(variables(node, 0, tcp({"eth0"})), "");  // nothing is bound to it, and nothing else is either
    EXPECT_EQ(variables(node, 1, tcp({"eth0"})), "UCX_NET_DEVICES=mlx5_1:1,eth0 NVSHMEM_HCA_LIST=mlx5_1:1");  // MPICH has one NIC to choose from
}

TEST(LibraryVariables, OnlyWhatALibraryCanOpen) {
    EXPECT_EQ(variables(two(NicKind::efa, "rdmap16s27", "rdmap32s27").build(), 0, tcp({"eth0"})), "MPIR_CVAR_CH4_OFI_PREF_NIC=0");
    EXPECT_EQ(variables(two(NicKind::slingshot, "hsi0", "hsi1").build(), 1, tcp({"eth0"})), "MPIR_CVAR_CH4_OFI_PREF_NIC=1");
    NodeTopology amd = two().build();
    amd.gpus[0].vendor = "AMD";
    EXPECT_EQ(variables(amd, 0, tcp({"eth0"})), "UCX_NET_DEVICES=mlx5_0:1,eth0 MPIR_CVAR_CH4_OFI_PREF_NIC=0");
    // No driver for RDMA: the name is that of an interface.
    NodeTopology plain = two(NicKind::roce, "eth2", "eth3").build();
    plain.nics[0].netdevs = {"eth2"};
    EXPECT_EQ(variables(plain, 0, tcp({"eth0", "eth2"})), "MPIR_CVAR_CH4_OFI_PREF_NIC=0");
}

TEST(LibraryVariables, MpichCountsByNameLetterByLetter) {
    NodeTopology node = two(NicKind::infiniband, "mlx5_2", "mlx5_10").build();
    EXPECT_TRUE(variables(node, 0, {}).ends_with("NIC=1"));
    EXPECT_TRUE(variables(node, 1, {}).ends_with("NIC=0"));
    node.nics.push_back(node.nics[0]);
    node.nics.back().kind = NicKind::roce;  // whether the provider lists it too is not known
    node.nics.back().name = "mlx5_1";
    EXPECT_EQ(variables(node, 0, {}).find("PREF_NIC"), std::string::npos);
}

TEST(LibraryVariables, GlooWhereThereIsOneInterface) {
    NodeTopology node = NodeBuilder().gpu("10:00.0", "a1").nic("11:00.0", "a1", "eth0", NicKind::ethernet).build();
    node.nics[0].netdevs = {"eth0"};
    EXPECT_EQ(variables(node, 0, tcp({"eth0"})), "GLOO_SOCKET_IFNAME=eth0");
    EXPECT_EQ(variables(node, 0, tcp({"eth0", "eth1"})), "");  // the other may be the one that reaches other nodes
    EXPECT_EQ(variables(node, 0, tcp({"bond0"})), "");
    EXPECT_EQ(variables(node, 0, {}), "");
    node.nics[0].state = LinkState::unknown;
    EXPECT_EQ(variables(node, 0, tcp({"eth0"})), "");
    node.nics[0].state = LinkState::up;
    node.nics[0].netdevs = {"eth0", "eth1"};
    EXPECT_EQ(variables(node, 0, tcp({"eth0"})), "");
}

// What a scope promises, for every variable of the table and nodes of many kinds.
TEST(LibraryVariables, ScopesHold) {
    const std::map<std::string_view, std::pair<Scope, bool>> expected{
        {"UCX_NET_DEVICES", {Scope::per_rank, true}},       {"NVSHMEM_HCA_LIST", {Scope::per_rank, true}},
        {"MPIR_CVAR_CH4_OFI_PREF_NIC", {Scope::per_rank, true}}, {"GLOO_SOCKET_IFNAME", {Scope::per_rank, true}},
        {"NCCL_IB_HCA", {Scope::policy_only, false}},       {"NCCL_SOCKET_IFNAME", {Scope::policy_only, false}},
        {"MPICH_OFI_NIC_POLICY", {Scope::per_node, false}}, {"I_MPI_MULTIRAIL", {Scope::per_node, false}}};
    std::map<std::string_view, std::pair<Scope, bool>> found;
    for (const LibraryVariable& variable : library_variables()) {
        found[variable.name] = {variable.scope, variable.written};
        // What must be the same in the whole job cannot be worked out on one node.
        EXPECT_FALSE(variable.scope == Scope::policy_only && variable.written) << variable.name;
    }
    EXPECT_EQ(found, expected);

    for (NicKind kind : {NicKind::infiniband, NicKind::omni_path, NicKind::slingshot, NicKind::efa, NicKind::roce, NicKind::ethernet, NicKind::rdma}) {
        NodeTopology node = two(kind, "x0", "x1").build();
        for (int tasks : {2, 5}) {
            const NodeVariables all = variables_for(node, bind_tasks(node, {.tasks = tasks}), tcp({"eth0"}));
            std::map<std::string_view, std::set<std::string>> values;
            for (const Assignments& task : all.of_tasks) {
                for (const auto& [name, value] : task) {
                    EXPECT_TRUE(found.contains(name) && found[name].second) << name << " is not in the table, or left alone";
                    EXPECT_FALSE(name.starts_with("NCCL_") || name.ends_with("VISIBLE_DEVICES")) << name;
                    values[name].insert(value);
                }
            }
            for (const auto& [name, different] : values)
                EXPECT_TRUE(found[name].first != Scope::per_node || different.size() == 1) << name;
        }
    }
}

}  // namespace
}  // namespace paced::placement
