// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/node_file.h"

#include <cstdlib>

#include <gtest/gtest.h>

#include "policy/io/hwloc_reader.h"
#include "policy/io/snapshot.h"
#include "tests/doubles/paths.h"
#include "tests/doubles/temporary_folder.h"

namespace paced::io {
namespace {

constexpr char known[] = "    hint: read are hwloc XML (`lstopo node.xml`), NCCL XML, `nvidia-smi topo -m` and our snapshots\n";

TEST(NodeFile, FormatsAreToldByContent) {
    const struct {
        const char* text;
        NodeFormat format;
    } cases[] = {
        {"<?xml version=\"1.0\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<topology version=\"2.0\">", NodeFormat::hwloc_xml},
        {"<topology>", NodeFormat::hwloc_xml},
        {"<html>", NodeFormat::hwloc_xml},
        {"<system version=\"1\">\n<cpu numaid=\"0\">", NodeFormat::nccl_xml},
        {"\n {\"schema\": 1}", NodeFormat::snapshot},
        {"\tGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tNV18\tPIX\t0-47\t0\n", NodeFormat::nvidia_smi},
        {"hello", NodeFormat::unknown},
        {"", NodeFormat::unknown},
    };
    for (const auto& each : cases) EXPECT_EQ(recognise_node_format(each.text), each.format) << each.text;
}

TEST(NodeFile, SaysWhatIsWrongAndWhere) {
    const struct {
        std::string text, message;  // the message without the file's name
    } cases[] = {
        {"", ": error: the file is empty\n" + std::string(known)},
        {"hello\n", ": error: not a format that describes a node\n" + std::string(known)},
        {"<system version=\"1\">\n<cpu></system>\n", ":2:6: error: </system> closes nothing\n    hint: <cpu> of line 2 is still open\n"},
        {"     GPU0 GPU1 CPU Affinity\n",
         ":1: error: the head line of a matrix, but no row\n"
         "    hint: the whole output of `nvidia-smi topo -m` is needed, from its head line (GPU0 GPU1 ...) on\n"},
        {"{\"schema\": \"x\"}", ": error: not a usable snapshot: of schema \"x\", not \"paced-fabric-node/1\"\n" + std::string(known)},
        {"<html><body/></html>\n", ":1:1: error: not an hwloc XML: its first element is <html>, not <topology>\n"
                                  "    hint: hwloc's XML begins with <topology>, NCCL's with <system>\n"},
        {"<?xml version=\"1.0\"?>\n  <topology version=\"3.0\">\n</topology>\n",
         ":2:3: error: hwloc XML of version 3.0: hwloc 2 reads versions 1 and 2 only\n"
         "    hint: on the machine that wrote it, `lstopo --export-xml-flags v2 FILE.xml` writes version 2\n"},
        {"<topology version=\"two\"></topology>",
         ":1:1: error: hwloc XML of version two: hwloc 2 reads versions 1 and 2 only\n"
         "    hint: on the machine that wrote it, `lstopo --export-xml-flags v2 FILE.xml` writes version 2\n"},
        {"<topology version=\"2.0\">\n <object type=\"Machine\">\n </topology>\n",
         ":3:2: error: </topology> closes nothing\n    hint: <object> of line 2 is still open\n"},
        {"<topology version=\"2.0\">\n <object type=\"Machine\">\n", ":2:2: error: <object> is not closed; is the file cut off?\n"},
        {"<topology version=\"2.0\">\n <object type=\"Mach", ":2:2: error: this tag is not closed; is the file cut off?\n"},
        {"<!-- no end", ":1:1: error: this tag is not closed; is the file cut off?\n"},
        {"<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n", ": error: not an hwloc XML: it holds no <topology> element\n"},
        {"</topology>", ":1:1: error: </topology> closes nothing\n"},
        {std::string("<topology>\0</topology>", 22), ": error: not a text file: it holds a NUL byte\n"},
    };
    const test::TemporaryFolder folder;
    for (const auto& each : cases) {
        const std::string path = folder.write("node", each.text);
        Diagnostics diagnostics;
        EXPECT_FALSE(read_node_file(path, diagnostics)) << each.text;
        EXPECT_EQ(format(diagnostics), path + each.message);
    }
    Diagnostics diagnostics;
    EXPECT_FALSE(read_node_file(folder.path().string() + "/none", diagnostics));
    EXPECT_EQ(format(diagnostics), "error: cannot read " + folder.path().string() + "/none: No such file or directory\n");
}

TEST(NodeFile, WhatHwlocItselfRefuses) {
    const test::TemporaryFolder folder;
    const std::string path = folder.write(
        "node.xml", "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<topology version=\"2.0\">\n<object type=\"Blah\"/>\n</topology>\n");
    Diagnostics diagnostics;
    EXPECT_FALSE(read_node_file(path, diagnostics));
    EXPECT_EQ(format(diagnostics), path + ": error: " + hwloc_version() + " cannot load this XML\n    hint: `lstopo -i " + path +
                                       "` with HWLOC_XML_VERBOSE=1 says more\n");
}

TEST(NodeFile, EveryCutOfAnXmlIsRefused) {
    const std::string text = test::read_file(test::data("topology/fake-no-gpu.xml"));
    const std::size_t end = text.rfind("</topology>");
    ASSERT_NE(end, std::string::npos);
    for (std::size_t length = 1; length < end; length += 97) {
        Diagnostics diagnostics;
        EXPECT_FALSE(parse_hwloc_xml(text.substr(0, length), "f", diagnostics)) << length;
        EXPECT_TRUE(diagnostics.has_errors());
    }
}

TEST(NodeFile, ASnapshotIsReadLikeTheXmlItWasMadeFrom) {
    Diagnostics diagnostics;
    const auto node = read_node_file(test::data("topology/fake-uneven.xml").string(), diagnostics);
    ASSERT_TRUE(node) << format(diagnostics);
    const test::TemporaryFolder folder;
    const auto again = read_node_file(folder.write("snapshot.json", write_snapshot(*node)), diagnostics);
    ASSERT_TRUE(again) << format(diagnostics);
    EXPECT_EQ(write_snapshot(*again), write_snapshot(*node));
}

// On whatever machine the tests run: it has CPUs, and the user's HWLOC_* variables neither count nor get lost.
TEST(ThisMachine, IsReadWholeAndFromNowhereElse) {
    setenv("HWLOC_XMLFILE", test::data("topology/fake-8gpu-4nic.xml").c_str(), 1);
    setenv("HWLOC_COMPONENTS", "stop", 1);
    const auto node = read_this_machine();
    EXPECT_STREQ(std::getenv("HWLOC_XMLFILE"), test::data("topology/fake-8gpu-4nic.xml").c_str());
    EXPECT_STREQ(std::getenv("HWLOC_COMPONENTS"), "stop");
    EXPECT_EQ(std::getenv("HWLOC_PLUGINS_PATH"), nullptr);
    unsetenv("HWLOC_XMLFILE");
    unsetenv("HWLOC_COMPONENTS");
    ASSERT_TRUE(node) << node.error().message;
    EXPECT_NE(node->machine, "Fake GPU server 8x4");
    EXPECT_EQ(node->origin, "this machine");
    EXPECT_FALSE(node->cpus.empty());
    EXPECT_EQ(node->pus.size(), static_cast<std::size_t>(node->cpus.count()));
    EXPECT_FALSE(node->packages.empty());
    const auto again = read_snapshot(write_snapshot(*node));
    ASSERT_TRUE(again) << again.error().message;
}

}  // namespace
}  // namespace paced::io
