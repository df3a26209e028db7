// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/nvidia_smi.h"

#include <gtest/gtest.h>

#include "tests/doubles/paths.h"

namespace paced::io {
namespace {

using namespace paced::topology;

std::optional<NodeTopology> parse(const std::string& text, std::string* said = nullptr) {
    Diagnostics diagnostics;
    auto node = parse_nvidia_smi(text, "f", diagnostics);
    if (said != nullptr) *said = format(diagnostics);
    EXPECT_EQ(node.has_value(), !diagnostics.has_errors());
    return node;
}

// "PIX NODE ?", of one GPU
std::string stated(const NodeTopology& node, std::size_t gpu) {
    std::string text;
    for (const auto& relation : node.stated_relations.at(gpu))
        text += (text.empty() ? "" : " ") + std::string(relation ? to_string(*relation) : "?");
    return text;
}

TEST(NvidiaSmi, AsTheToolPrintsIt) {
    std::string said;
    const auto node = parse(test::read_file(test::data("topology/nvidia-smi/fake-4gpu-3nic.topo")), &said);
    ASSERT_TRUE(node);
    EXPECT_EQ(said, "");
    ASSERT_EQ(node->gpus.size(), 4u);
    EXPECT_EQ(node->gpus[3].name, "GPU3");
    EXPECT_EQ(node->gpus[3].vendor, "NVIDIA");
    EXPECT_EQ(to_string(node->gpus[3].place.local_cpus), "16-31,48-63");
    EXPECT_EQ(node->gpus[3].place.numa, 1);
    EXPECT_FALSE(node->gpus[3].place.pci);
    ASSERT_EQ(node->nics.size(), 3u);
    EXPECT_EQ(node->nics[0].name, "mlx5_10");
    EXPECT_EQ(node->nics[0].alias, "NIC0");
    EXPECT_EQ(node->nics[0].kind, NicKind::rdma);
    EXPECT_EQ(node->nics[1].kind, NicKind::roce);
    EXPECT_EQ(node->nics[1].place.numa, 0);
    EXPECT_EQ(node->nics[2].place.numa, 1);
    EXPECT_EQ(stated(*node, 1), "PXB NODE SYS");
    EXPECT_EQ(relation_between(*node, GpuIndex{2}, NicIndex{2}), Relation::phb);
    EXPECT_EQ(to_string(node->cpus), "0-63");
    ASSERT_EQ(node->numa_nodes.size(), 2u);
    EXPECT_EQ(node->pus[16].numa, 1);
}

TEST(NvidiaSmi, AsPeoplePasteIt) {
    std::string said;
    const auto node = parse(test::read_file(test::data("topology/nvidia-smi/fake-paste.topo")), &said);
    ASSERT_TRUE(node);
    EXPECT_EQ(said,
              "f:2: warning: no row tells which NIC is near to GPU3\n"
              "    hint: the rows of the NICs would do as well\n"
              "f:2: warning: the list of CPUs is cut for GPU[0-1]: not known which CPUs are near\n");
    ASSERT_EQ(node->nics.size(), 2u);
    EXPECT_EQ(node->nics[0].name, "mlx5_0");
    EXPECT_EQ(node->nics[0].alias, "mlx5_0");
    EXPECT_EQ(stated(*node, 0), "PIX SYS");
    EXPECT_EQ(stated(*node, 1), "? PIX");
    EXPECT_EQ(stated(*node, 2), "? NODE");  // from the NIC's row
    EXPECT_EQ(stated(*node, 3), "? ?");
    EXPECT_TRUE(node->gpus[0].place.local_cpus.empty());
    EXPECT_EQ(node->gpus[0].place.numa, 0);
    EXPECT_EQ(to_string(node->numa_nodes[1].cpus), "1,3,5,7,9,11");
    // A cell that is not told falls back on the NUMA nodes: other ones here.
    EXPECT_EQ(relation_between(*node, GpuIndex{1}, NicIndex{0}), Relation::sys);
}

TEST(NvidiaSmi, LittleIsEnough) {
    const auto one = parse("\tGPU0\tCPU Affinity\tNUMA Affinity\nGPU0\t X \t0-3\t0\n");
    ASSERT_TRUE(one);
    EXPECT_EQ(one->gpus.size(), 1u);
    EXPECT_TRUE(one->stated_relations.empty());
    const auto old = parse("GPU0 GPU1 mlx4_0 CPU Affinity\nGPU0 X SOC PIX 0-3\nGPU1 SOC X SOC 4-7\n");  // the leading tab is gone
    ASSERT_TRUE(old);
    EXPECT_EQ(stated(*old, 1), "SYS");
    EXPECT_EQ(to_string(old->gpus[1].place.local_cpus), "4-7");
    EXPECT_EQ(old->gpus[0].place.numa, std::nullopt);
    const auto bare = parse("\tGPU0\tGPU1\r\nGPU0\t X \tNV4\r\nGPU1\tNV4\t X \r\n");
    ASSERT_TRUE(bare);
    EXPECT_TRUE(bare->cpus.empty());
    const auto unknown = parse("\tGPU4\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\nGPU4\t X \t\tN/A\t0-1\t\tN/A\n");
    ASSERT_TRUE(unknown);
    EXPECT_EQ(unknown->gpus[0].name, "GPU4");
    EXPECT_EQ(unknown->gpus[0].place.numa, std::nullopt);  // two of them
    EXPECT_EQ(stated(*unknown, 0), "?");
}

// From the row of the NIC where the GPU's is missing, and the other way round.
TEST(NvidiaSmi, MissingRows) {
    std::string said;
    const auto node = parse("\tGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\nGPU0\tX\tNV4\tPIX\tNODE\t0-3\nNIC1\tNODE\tPXB\tNODE\tX\n", &said);
    ASSERT_TRUE(node);
    EXPECT_EQ(said, "");
    EXPECT_EQ(stated(*node, 0), "PIX NODE");
    EXPECT_EQ(stated(*node, 1), "? PXB");
}

TEST(NvidiaSmi, CutListsOfCpus) {
    const struct {
        const char *text, *cpus;  // of the GPU
        bool warned;
    } cases[] = {
        {"0-3", "0-3", false},
        {"0-3,8-11", "0-3,8-11", false},
        {"", "", false},
        {"N/A", "", false},
        {"0,2,4,6,8,10", "", true},
        {"0-3,8-11,", "", true},
        {"0-3,8-", "", true},
        {"0,2,4,6", "0,2,4,6", false},
        {"0,4,8,12,16,20...", "", true},
        {"0-1,4-5,8-9", "0-1,4-5,8-9", false},
    };
    for (const auto& each : cases) {
        std::string said;
        const auto node = parse("\tGPU0\tNIC0\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tPIX\t" + std::string(each.text) + "\t0\n", &said);
        ASSERT_TRUE(node) << each.text;
        EXPECT_EQ(to_string(node->gpus[0].place.local_cpus), each.cpus) << each.text;
        EXPECT_EQ(said.find("is cut for GPU0") != std::string::npos, each.warned) << each.text;
        EXPECT_EQ(node->gpus[0].place.numa, 0);
    }
}

TEST(NvidiaSmi, OtherOutputAround) {
    std::string said;
    const auto node = parse(
        "GPU0 is fine\n$ nvidia-smi topo -m\n\x1b[4m\tGPU0\tNIC0\tCPU Affinity\x1b[0m\nGPU0 temperature is 50\nGPU0\t X \tPIX\t0-3\n\n"
        "NIC Legend:\n\n  NIC0: rocep12s0\n  NIC0: other\n  NIC7: none\n\nGPU0 done\n",
        &said);
    ASSERT_TRUE(node);
    EXPECT_EQ(said, "");
    EXPECT_EQ(node->nics[0].name, "rocep12s0");
    EXPECT_EQ(node->nics[0].kind, NicKind::roce);
    const std::string matrix = "\tGPU0\tNIC0\tCPU Affinity\nGPU0\t X \tPIX\t0-3\n";
    EXPECT_TRUE(parse(matrix + "\nLegend:\n" + matrix, &said));
    EXPECT_EQ(said, "f:5: warning: a second matrix, which is left out\n    hint: one node in each file\n");
}

TEST(NvidiaSmi, SaysWhatIsWrongAndWhere) {
    const std::string head = "\tGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\n";
    const std::string whole = "    hint: the whole output of `nvidia-smi topo -m` is needed, from its head line (GPU0 GPU1 ...) on\n";
    const struct {
        std::string text, said;
    } cases[] = {
        {"hello\n", "f: error: no head line of a matrix, which names GPUs and NICs\n" + whole},
        {"# x\nGPU0\t X \tNV12\tPIX\t0-3\t0\n", "f:2: error: a row of a matrix before its head line\n" + whole},
        {head, "f:1: error: the head line of a matrix, but no row\n" + whole},
        {"\tGPU0\tGPU0\tNIC0\tCPU Affinity\n", "f:1:7: error: a second column 'GPU0'\n    hint: one node in each file\n"},
        {head + "GPU0\t X \tNV12\n",
         "f:2:14: error: row 'GPU0' has 2 cells, the head line names 3 devices\n    hint: a cell that is not known can hold '?'\n"},
        {head + "GPU0\t X \tNV12\tPIY\t0-3\t0\n",
         "f:2:15: error: 'PIY' is no relation\n"
         "    hint: did you mean 'PIX'?\n    hint: valid: 'X', 'PIX', 'PXB', 'PHB', 'NODE', 'SYS', 'NV12' or '?'\n"},
        {head + "GPU0\t X \tNV12\tPIX\t0-3\t0\nGPU0\t X \tNV12\tPIX\t0-3\t0\n",
         "f:3:1: error: a second row 'GPU0'\n    hint: one node in each file\n"},
        {head + "GPU0\t X \tNV12\tPIX\tmany\t0\n", "f:2:19: error: 'many' is no list of CPUs\n    hint: as in '0-47,96-143'\n"},
        {head + "GPU0\t X \tNV12\tPIX\t0-3\tzero\n", "f:2:23: error: 'zero' is no NUMA node\n    hint: 'N/A' where it is not known\n"},
        {head + std::string("\0", 1), "f: error: not a text file: it holds a NUL byte\n"},
    };
    for (const auto& each : cases) {
        std::string said;
        EXPECT_FALSE(parse(each.text, &said)) << each.text;
        EXPECT_EQ(said, each.said) << each.text;
    }
    std::string wide;
    for (int i = 0; i < 2000; ++i) wide += "\tGPU" + std::to_string(i);
    std::string said;
    EXPECT_FALSE(parse(wide, &said));
    EXPECT_EQ(said, "f:1: error: 2000 devices, which no node has\n");
}

TEST(NvidiaSmi, IsToldFromOtherTexts) {
    EXPECT_TRUE(looks_like_nvidia_smi("\t\x1b[4mGPU0\tGPU1\tCPU Affinity"));
    EXPECT_TRUE(looks_like_nvidia_smi("GPU of mine\nGPU4 X\nLegend:"));
    EXPECT_FALSE(looks_like_nvidia_smi("GPU0 is hot"));
    EXPECT_FALSE(looks_like_nvidia_smi("GPU\nLegend:\n"));
}

}  // namespace
}  // namespace paced::io
