// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/link_states.h"

#include <gtest/gtest.h>

#include "policy/io/node_network.h"
#include "tests/doubles/temporary_folder.h"

namespace paced::io {
namespace {

using namespace paced::topology;

NodeTopology node_with(NicKind kind, const std::string& name, std::vector<NicPort> ports, std::vector<std::string> netdevs = {}) {
    NodeTopology node;
    Nic& nic = node.nics.emplace_back();
    nic.kind = kind;
    nic.name = name;
    nic.ports = std::move(ports);
    nic.netdevs = std::move(netdevs);
    nic.state = state_of_ports(nic.ports);
    return node;
}

TEST(LinkStates, OfRdmaPortsAreReadAnew) {
    test::TemporaryFolder root;
    NodeTopology node = node_with(NicKind::infiniband, "mlx5_0", {{1, LinkState::up, 400'000}, {2, LinkState::down, 0}});
    refresh_link_states(node, root.path().string());
    EXPECT_EQ(node.nics[0].state, LinkState::up);  // nothing is known, so nothing changes
    root.write("sys/class/infiniband/mlx5_0/ports/1/state", "1: DOWN\n");
    refresh_link_states(node, root.path().string());
    EXPECT_EQ(node.nics[0].state, LinkState::down);
    root.write("sys/class/infiniband/mlx5_0/ports/2/state", "4: ACTIVE\n");
    refresh_link_states(node, root.path().string());
    EXPECT_EQ(node.nics[0].state, LinkState::up);
    EXPECT_EQ(node.nics[0].ports[0].state, LinkState::down);
    EXPECT_EQ(node.nics[0].ports[0].rate_mbps, 400'000U);
}

TEST(LinkStates, OfInterfacesAreReadAnew) {
    test::TemporaryFolder root;
    NodeTopology node = node_with(NicKind::ethernet, "eth0", {}, {"eth0"});
    node.nics[0].state = LinkState::down;
    root.write("sys/class/net/eth0/operstate", "up\n");
    refresh_link_states(node, root.path().string());
    EXPECT_EQ(node.nics[0].state, LinkState::up);
    // Of a class that nobody is bound to, nothing is read.
    node.nics.push_back(node_with(NicKind::infiniband, "mlx5_0", {}).nics[0]);
    root.write("sys/class/net/eth0/operstate", "down\n");
    refresh_link_states(node, root.path().string());
    EXPECT_EQ(node.nics[0].state, LinkState::up);
}

TEST(NodeNetwork, InfinibandSubnetsByTheirPrefix) {
    test::TemporaryFolder root;
    NodeTopology node = node_with(NicKind::infiniband, "mlx5_0", {{1, LinkState::down, 0}, {2, LinkState::up, 0}});
    node.nics.push_back(node_with(NicKind::infiniband, "mlx5_1", {{1, LinkState::up, 0}}).nics[0]);
    root.write("sys/class/infiniband/mlx5_0/ports/1/gids/0", "fe80:0000:0000:0009:0000:0000:0000:0001\n");
    root.write("sys/class/infiniband/mlx5_0/ports/2/gids/0", "fe80:0000:0000:0001:0000:0000:0000:0002\n");
    const auto network = read_node_network(node, root.path().string());
    EXPECT_EQ(network.network_of, (std::vector<std::string>{"fe80:0000:0000:0001", ""}));
    ASSERT_TRUE(network.tcp_interfaces);
    for (const std::string& name : *network.tcp_interfaces) EXPECT_NE(name, "lo");
}

}  // namespace
}  // namespace paced::io
