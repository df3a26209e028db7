// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/infiniband_graph.h"

#include <gtest/gtest.h>

#include "policy/io/ibnetdiscover.h"

namespace paced::io {
namespace {

TEST(InfinibandNames, Hosts) {
    const struct {
        const char *description, *host;  // "": none
    } cases[] = {
        {"dgx001 HCA-3", "dgx001"},
        {"dgx001 mlx5_4 ", "dgx001"},
        {"  dgx001", "dgx001"},
        {"'o0001 HCA-1'", "o0001"},
        {"n1.cluster.example mlx5_0", "n1.cluster.example"},
        {"MT01 mlx5_0", "MT01"},  // a machine may be called so
        {"", ""},
        {"''", ""},
        {"Mellanox Technologies Aggregation Node", ""},
        {"Quantum Aggregation Node mlx5_0", ""},
        {"MT4123 ConnectX6   Mellanox Technologies", ""},
        {"MT4115 ConnectX4", ""},
        {"ConnectX-6 HDR", ""},
        {"localhost mlx5_0", ""},
        {"localhost.localdomain mlx5_0", ""},
        {"(none) HCA-1", ""},
    };
    for (const auto& each : cases) EXPECT_EQ(host_of_description(each.description).value_or(""), each.host) << each.description;
}

TEST(InfinibandNames, Switches) {
    EXPECT_EQ(switch_name_of_description("MF0;MLG01-02:MQM8700/U1"), "MLG01-02");
    EXPECT_EQ(switch_name_of_description("MF0;dir-1:CS7500/L02/U1"), "dir-1/L02/U1");
    EXPECT_EQ(switch_name_of_description("MF0;a:b:MQM8700/U1"), "a:b");
    EXPECT_EQ(switch_name_of_description("ib-i1l1s01"), "ib-i1l1s01");
    EXPECT_EQ(switch_name_of_description("Quantum Mellanox Technologies "), "Quantum Mellanox Technologies");
    EXPECT_EQ(switch_name_of_description("MF0;"), "MF0;");
    EXPECT_EQ(switch_name_of_description("MF0;:MQM8700/U1"), "MF0;:MQM8700/U1");
}

TEST(InfinibandNames, Guids) {
    EXPECT_EQ(parse_guid("1c34da0300608820"), 0x1c34da0300608820u);
    EXPECT_EQ(parse_guid("0xA1"), 0xa1u);
    for (const char* wrong : {"", "0x", "g", "a1 ", "1c34da03006088201"}) EXPECT_FALSE(parse_guid(wrong)) << wrong;
}

// The switches alone name the hosts where the blocks of the adapters are missing, and the other way round.
TEST(Ibnetdiscover, OneEndOfALinkIsEnough) {
    const std::string from_switches =
        "Switch\t41 \"S-00000000000000a1\"\t\t# \"leaf1\" enhanced port 0 lid 1 lmc 0\n"
        "[1]\t\"H-00000000000000b1\"[1](b1) \t\t# \"n1 mlx5_0\" lid 3 4xHDR\n"
        "[2]\t\"S-00000000000000a2\"[7]\t\t# \"spine\" lid 4 4xHDR\n";
    const std::string from_adapters =
        "Ca\t2 \"H-00000000000000b1\"\t\t# \"n1 mlx5_0\"\n"
        "[1](b1) \t\"S-00000000000000a1\"[1]\t\t# lid 3 lmc 0 \"leaf1\" lid 1 4xHDR\n"
        "[2](b2) \t\"S-00000000000000a2\"[2]\t\t# lid 5 lmc 0 \"spine\" lid 4 4xHDR\n";
    Diagnostics diagnostics;
    const auto a = parse_ibnetdiscover(from_switches, "f", diagnostics), b = parse_ibnetdiscover(from_adapters, "f", diagnostics);
    ASSERT_TRUE(a && b);
    EXPECT_EQ(format(diagnostics), "");
    ASSERT_EQ(a->switches.size(), 2u);
    EXPECT_EQ(a->switches[1].name, "spine");
    EXPECT_EQ(a->switches[1].id, "0xa2");
    EXPECT_EQ(a->links.size(), 1u);
    ASSERT_EQ(b->hosts.size(), 1u);
    EXPECT_EQ(b->hosts[0].name, "n1");
    EXPECT_EQ(b->hosts[0].leaves.size(), 2u);
}

TEST(Ibnetdiscover, TwoMachinesOfOneNameAreToldOf) {
    const std::string text =
        "Switch\t41 \"S-00000000000000a1\"\t\t# \"leaf1\" enhanced port 0 lid 1 lmc 0\n"
        "Ca\t1 \"H-00000000000000b1\"\t\t# \"n1 mlx5_0\"\n[1](b1) \t\"S-00000000000000a1\"[1]\t\t# lid 3 lmc 0 \"leaf1\" lid 1 4xHDR\n"
        "Ca\t1 \"H-00000000000000b2\"\t\t# \"n1 mlx5_0\"\n[1](b2) \t\"S-00000000000000a1\"[2]\t\t# lid 3 lmc 0 \"leaf1\" lid 1 4xHDR\n";
    Diagnostics diagnostics;
    ASSERT_TRUE(parse_ibnetdiscover(text, "f", diagnostics));
    EXPECT_EQ(format(diagnostics),
              "f:4:1: warning: 1 adapter has the description of another one, as 'n1 mlx5_0'\n"
              "    hint: are these machines with one and the same host name? They are taken for one\n");
}

}  // namespace
}  // namespace paced::io
