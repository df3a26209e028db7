// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/nccl_xml.h"

#include <gtest/gtest.h>

#include "tests/doubles/paths.h"

namespace paced::io {
namespace {

using namespace paced::topology;

std::optional<NodeTopology> parse(const std::string& text, std::string* said = nullptr) {
    Diagnostics diagnostics;
    auto node = parse_nccl_xml(text, "f", diagnostics);
    if (said != nullptr) *said = format(diagnostics);
    EXPECT_EQ(node.has_value(), !diagnostics.has_errors());
    return node;
}

// A <system> with one <cpu> around it.
std::string in_cpu(const std::string& inside, const std::string& attributes = "numaid=\"0\" affinity=\"ff\"") {
    return "<system version=\"1\">\n<cpu " + attributes + ">\n" + inside + "\n</cpu>\n</system>\n";
}

TEST(NcclXml, EverythingAtOnce) {
    const auto node = parse(test::read_file(test::data("topology/nccl/fake-nested.xml")));
    ASSERT_TRUE(node);
    EXPECT_EQ(to_string(node->cpus), "0-15,32-47");
    EXPECT_EQ(node->pus.size(), 32u);
    ASSERT_EQ(node->numa_nodes.size(), 2u);
    EXPECT_EQ(to_string(node->numa_nodes[1].cpus), "8-15,40-47");
    EXPECT_TRUE(node->packages.empty());
    ASSERT_EQ(node->gpus.size(), 4u);
    EXPECT_EQ(node->gpus[1].place.path.bridges.size(), 3u);
    EXPECT_EQ(node->gpus[2].vendor, "AMD");
    EXPECT_EQ(node->gpus[2].partitions, 3);
    EXPECT_EQ(node->gpus[3].vendor, "NVIDIA");
    ASSERT_EQ(node->nics.size(), 4u);  // CollNet's second <net> is the same device, and the console is none
    EXPECT_EQ(node->nics[0].name, "mlx5_0");
    EXPECT_TRUE(node->nics[0].more_names.empty());
    EXPECT_EQ(node->nics[0].kind, NicKind::infiniband);
    EXPECT_EQ(node->nics[0].rate_mbps, 400'000u);
    EXPECT_EQ(node->nics[1].more_names, std::vector<std::string>{"mlx5_2"});
    EXPECT_EQ(node->nics[1].kind, NicKind::roce);
    EXPECT_EQ(node->nics[1].ports.size(), 2u);
    EXPECT_EQ(node->nics[2].name, "eth0");
    EXPECT_FALSE(node->nics[2].place.pci);
    EXPECT_EQ(node->nics[2].kind, NicKind::ethernet);
    EXPECT_EQ(relation_between(*node, GpuIndex{0}, NicIndex{0}), Relation::pix);
    EXPECT_EQ(relation_between(*node, GpuIndex{1}, NicIndex{0}), Relation::pxb);
    EXPECT_EQ(relation_between(*node, GpuIndex{0}, NicIndex{2}), Relation::phb);
    EXPECT_EQ(relation_between(*node, GpuIndex{2}, NicIndex{1}), Relation::phb);
    EXPECT_EQ(relation_between(*node, GpuIndex{2}, NicIndex{0}), Relation::sys);
}

TEST(NcclXml, Masks) {
    const struct {
        const char *mask, *cpus;
    } cases[] = {
        {"", ""},
        {"0", ""},
        {"ff", "0-7"},
        {"0003ff,f0003fff", "0-13,28-41"},
        {"00000000,000000ff,00000001", "0,32-39"},
        {"1,00000000,00000000", "64"},
        {"ffffffffffff", "0-47"},  // without commas, of one word more than 32 bits
        {"FF, 00000000", "32-39"},
    };
    for (const auto& each : cases) {
        const auto node = parse(in_cpu("<nic><net name=\"eth0\"/></nic>", "numaid=\"0\" affinity=\"" + std::string(each.mask) + '"'));
        ASSERT_TRUE(node) << each.mask;
        EXPECT_EQ(to_string(node->cpus), each.cpus) << each.mask;
    }
}

TEST(NcclXml, WhatIsAGpu) {
    const struct {
        const char *pci, *vendor;  // vendor nullptr: no GPU
    } cases[] = {
        {"class=\"0x030200\" vendor=\"0x10de\"/>", "NVIDIA"},
        {"class=\"0x030000\" vendor=\"0x10de\"/>", "NVIDIA"},
        {"class=\"0x030200\"/>", "NVIDIA"},
        {"class=\"0x038000\"/>", "AMD"},
        {"class=\"0x120000\" vendor=\"0x1002\"/>", "AMD"},
        {"class=\"0x038000\" vendor=\"0x8086\"/>", "Intel"},
        {"class=\"0x030200\"><gpu gcn=\"gfx90a\"/></pci>", "AMD"},
        {"class=\"0x030200\" vendor=\"0x9999\"><gpu sm=\"80\"/></pci>", ""},
        {"class=\"0x030000\"/>", nullptr},                    // a console
        {"class=\"0x030000\" vendor=\"0x1a03\"/>", nullptr},  // ASPEED's
        {"class=\"0x030200\" vendor=\"0x9999\"/>", nullptr},
        {"class=\"0x068000\" vendor=\"0x10de\"/>", nullptr},  // NVSwitch
        {"class=\"0x010802\"/>", nullptr},
    };
    for (const auto& each : cases) {
        const auto node = parse(in_cpu("<pci busid=\"0000:01:00.0\" " + std::string(each.pci) + "<nic><net name=\"eth0\"/></nic>"));
        ASSERT_TRUE(node) << each.pci;
        ASSERT_EQ(node->gpus.size(), each.vendor == nullptr ? 0u : 1u) << each.pci;
        if (each.vendor != nullptr) {
            EXPECT_EQ(node->gpus[0].vendor, each.vendor);
        }
    }
}

TEST(NcclXml, WhatKindOfNic) {
    const struct {
        const char* pci;
        NicKind kind;
    } cases[] = {
        {"class=\"0x020700\"/>", NicKind::infiniband},
        {"class=\"0x020000\"/>", NicKind::ethernet},
        {"class=\"0x020000\" vendor=\"0x1d0f\" device=\"0xefa1\"/>", NicKind::efa},
        {"class=\"0x020000\" vendor=\"0x17db\"><nic><net name=\"cxi0\"/></nic></pci>", NicKind::slingshot},
        {"class=\"0x020700\"><nic><net name=\"mlx5_0\"/></nic></pci>", NicKind::infiniband},
        {"class=\"0x020000\"><nic><net name=\"mlx5_0\"/></nic></pci>", NicKind::roce},
        {"class=\"0x020000\"><nic><net name=\"bnxt_re3\"/></nic></pci>", NicKind::roce},
        {"class=\"0x020000\"><nic><net name=\"rdmap79s0\"/></nic></pci>", NicKind::efa},
        {"class=\"0x020800\"><nic><net name=\"hfi1_0\"/></nic></pci>", NicKind::omni_path},
        {"class=\"0x020000\"><nic><net name=\"enp96s0f0\"/></nic></pci>", NicKind::ethernet},
        {"><nic><net name=\"mlx5_0\"/></nic></pci>", NicKind::rdma},  // without a class it can be either
        {"><net name=\"eth3\"/></pci>", NicKind::ethernet},
    };
    for (const auto& each : cases) {
        const auto node = parse(in_cpu("<pci busid=\"0000:01:00.0\" " + std::string(each.pci)));
        ASSERT_TRUE(node) << each.pci;
        ASSERT_EQ(node->nics.size(), 1u) << each.pci;
        EXPECT_EQ(node->nics[0].kind, each.kind) << each.pci;
    }
}

// Devices without a <cpu> are near only to what is below the same device; two <cpu> of one NUMA node are one NUMA node.
TEST(NcclXml, OddShapes) {
    const auto bare = parse(
        "<system><pci busid=\"1:00.0\"><pci busid=\"2:00.0\" class=\"0x030200\"/><pci busid=\"3:00.0\" class=\"0x020700\"/></pci>"
        "<pci busid=\"4:00.0\" class=\"0x020700\"/><nic><net name=\"eth0\"/></nic></system>");
    ASSERT_TRUE(bare);
    ASSERT_EQ(bare->nics.size(), 3u);
    EXPECT_EQ(relation_between(*bare, GpuIndex{0}, NicIndex{0}), Relation::pix);
    EXPECT_EQ(relation_between(*bare, GpuIndex{0}, NicIndex{1}), Relation::sys);
    EXPECT_EQ(relation_between(*bare, GpuIndex{0}, NicIndex{2}), Relation::sys);

    const auto two = parse(
        "<system><cpu numaid=\"0\" affinity=\"1\"><pci busid=\"2:00.0\" class=\"0x030200\"/></cpu>"
        "<cpu numaid=\"0\" affinity=\"2\"><pci busid=\"3:00.0\" class=\"0x020700\"/></cpu></system>");
    ASSERT_TRUE(two);
    ASSERT_EQ(two->numa_nodes.size(), 1u);
    EXPECT_EQ(to_string(two->numa_nodes[0].cpus), "0-1");
    EXPECT_EQ(relation_between(*two, GpuIndex{0}, NicIndex{0}), Relation::node);
}

TEST(NcclXml, OnlyAddresses) {
    std::string said;
    const auto node = parse(in_cpu("  <pci busid=\"0000:00:16.0\"/>\n  <pci busid=\"0000:00:17.0\"/>"), &said);
    ASSERT_TRUE(node);
    EXPECT_TRUE(node->gpus.empty());
    EXPECT_EQ(said,
              "f:3:3: warning: no GPU and no NIC: 2 devices without a class\n"
              "    hint: NCCL itself writes the whole of it with NCCL_TOPO_DUMP_FILE=FILE\n");
}

TEST(NcclXml, SaysWhatIsWrongAndWhere) {
    const std::string address_hint = "    hint: as in busid=\"0000:06:00.0\"\n";
    const struct {
        std::string text, said;
    } cases[] = {
        {"<topology version=\"2.0\"></topology>",
         "f:1:1: error: not an NCCL topology XML: its first element is <topology>, not <system>\n"
         "    hint: hwloc's XML begins with <topology>, NCCL's with <system>\n"},
        {"<?xml version=\"1.0\"?>\n", "f: error: not an NCCL topology XML: it holds no <system> element\n"},
        {"<system>\n</system>\n",
         "f: error: no GPU and no NIC in this NCCL topology\n    hint: NCCL itself writes the whole of it with NCCL_TOPO_DUMP_FILE=FILE\n"},
        {in_cpu("  <pci class=\"0x030200\"/>"), "f:3:3: error: a <pci> without a busid\n" + address_hint},
        {in_cpu("<pci busid=\"0000:zz:00.0\"/>"), "f:3:1: error: busid '0000:zz:00.0' is not a PCI address\n" + address_hint},
        {in_cpu("<pci busid=\"1:00.0\"/>\n<pci busid=\"0000:01:00.0\"/>"),
         "f:4:1: error: a second <pci> of address 0000:01:00.0\n"
         "    hint: devices are told apart by their busid\n"},
        {in_cpu("<pci busid=\"1:00.0\" class=\"gpu\"/>"),
         "f:3:1: error: class 'gpu' is not a hexadecimal number of a PCI device\n    hint: a GPU's class is 0x030200\n"},
        {in_cpu("", "numaid=\"zero\""),
         "f:2:1: error: numaid 'zero' is not the number of a NUMA node\n    hint: -1 where it is not known\n"},
        {in_cpu("", "affinity=\"0-7\""),
         "f:2:1: error: affinity '0-7' is not a mask of CPUs\n    hint: words of 8 hexadecimal digits, as in \"0000ffff,0000ffff\"\n"},
        {in_cpu("", "affinity=\"ff,,ff\""),
         "f:2:1: error: affinity 'ff,,ff' is not a mask of CPUs\n    hint: words of 8 hexadecimal digits, as in \"0000ffff,0000ffff\"\n"},
        {in_cpu("<nic>\n<net dev=\"0\"/></nic>"),
         "f:4:1: error: a <net> with neither a name nor a PCI device\n    hint: as in <net name=\"eth0\"/>\n"},
        {"<system>\n<cpu host_hash=\"1\"/>\n<cpu host_hash=\"2\"/>\n</system>",
         "f:3:1: error: a <cpu> of a second host: the file describes more than one node\n"
         "    hint: NCCL_MNNVL_ENABLE=0 makes NCCL write one node\n"},
        {"<system>\n <cpu>\n </system>", "f:3:2: error: </system> closes nothing\n    hint: <cpu> of line 2 is still open\n"},
        {"<system>\n <cpu>\n  <pci busid=\"1:00", "f:3:3: error: this tag is not closed; is the file cut off?\n"},
        {std::string("<system>\0</system>", 18), "f: error: not a text file: it holds a NUL byte\n"},
    };
    for (const auto& each : cases) {
        std::string said;
        EXPECT_FALSE(parse(each.text, &said)) << each.text;
        EXPECT_EQ(said.substr(0, each.said.size()), each.said) << each.text;
    }
}

TEST(NcclXml, EveryCutIsRefusedAndNoDepthHurts) {
    const std::string text = test::read_file(test::data("topology/nccl/fake-nested.xml"));
    for (std::size_t length = 0; length < text.rfind("</system>"); length += 7) EXPECT_FALSE(parse(text.substr(0, length))) << length;
    std::string deep = "<system>";
    for (int i = 0; i < 100'000; ++i) deep += "<a>";
    std::string said;
    EXPECT_FALSE(parse(deep, &said));
    EXPECT_EQ(said, "f:1:774: error: more than 256 elements inside one another\n");
}

TEST(NcclXml, EntitiesAndQuotes) {
    const auto node = parse(
        in_cpu("<pci busid = '0000:01:00.0' class=\"0x020000\" ><nic><net name=\"a&amp;b&lt;&#65;&#xe9;&bad;\" note='>'/></nic></pci>"));
    ASSERT_TRUE(node);
    EXPECT_EQ(node->nics[0].name, "a&b<A\xc3\xa9&bad;");
}

}  // namespace
}  // namespace paced::io
