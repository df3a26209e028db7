// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/snapshot.h"

#include <gtest/gtest.h>

namespace paced::io {
namespace {

using namespace paced::topology;

// A node in which every field holds something.
NodeTopology small_node() {
    NodeTopology node;
    node.origin = "a \"test\"\n";
    node.machine = "Fake";
    node.cpus = CpuSet{0, 1, 4, 5};
    node.pus = {{.cpu = 0, .core = 0}, {.cpu = 1, .core = 1}, {.cpu = 4, .core = 0}, {.cpu = 5, .core = 1}};
    node.numa_nodes = {{0, CpuSet{0, 4}, 1u << 30}, {8, CpuSet{1, 5}, 0}, {255, {}, 16}};
    node.packages = {{0, CpuSet{0, 1, 4, 5}}};
    Gpu gpu;
    gpu.place.pci = parse_pci_address("10000:03:00.0");
    gpu.place.path = {"10000:00", {*parse_pci_address("10000:00:01.0"), *parse_pci_address("10000:01:00.0")}};
    gpu.place.local_cpus = CpuSet{0, 4};
    gpu.name = "H100 SXM5 80GB";
    gpu.vendor = "NVIDIA";
    gpu.uuid = "GPU-1";
    gpu.partitions = 2;
    gpu.partition_uuids = {"MIG-1", "MIG-2"};
    node.gpus.push_back(gpu);
    Nic nic;
    nic.place = gpu.place;
    nic.place.pci = parse_pci_address("10000:04:00.0");
    nic.place.local_cpus = CpuSet{0, 1, 4, 5};
    nic.name = "mlx5_0";
    nic.alias = "NIC0";
    nic.more_names = {"mlx5_1"};
    nic.netdevs = {"ib0", "ib1"};
    nic.kind = NicKind::roce;
    nic.ports = {{1, LinkState::down, 0}, {2, LinkState::up, 400'000}};
    nic.state = LinkState::up;
    nic.rate_mbps = 400'000;
    nic.virtual_function_of = parse_pci_address("10000:04:00.1");
    node.nics = {nic, Nic{}};
    node.stated_relations = {{Relation::pxb, std::nullopt}};
    locate_places(node);
    return node;
}

TEST(Snapshot, Text) {
    EXPECT_EQ(write_snapshot(small_node()), R"({"schema": "paced-fabric-node/1",
"origin": "a \"test\"\n",
"machine": "Fake",
"cpus": "0-1,4-5",
"cores": [0,1,0,1],
"numa_nodes": [
  {"cpus":"0,4","memory_bytes":1073741824,"number":0},
  {"cpus":"1,5","memory_bytes":0,"number":8},
  {"cpus":"","memory_bytes":16,"number":255}
],
"packages": [
  {"cpus":"0-1,4-5","number":0}
],
"gpus": [
  {"bridges":["10000:00:01.0","10000:01:00.0"],"cpus":"0,4","host_bridge":"10000:00","name":"H100 SXM5 80GB","numa":0,"package":0,"partition_uuids":["MIG-1","MIG-2"],"partitions":2,"pci":"10000:03:00.0","uuid":"GPU-1","vendor":"NVIDIA"}
],
"nics": [
  {"alias":"NIC0","bridges":["10000:00:01.0","10000:01:00.0"],"cpus":"0-1,4-5","host_bridge":"10000:00","kind":"roce","more_names":["mlx5_1"],"name":"mlx5_0","netdevs":["ib0","ib1"],"numa":null,"package":0,"pci":"10000:04:00.0","ports":[[1,"down",0],[2,"up",400000]],"rate_mbps":400000,"state":"up","virtual_function_of":"10000:04:00.1"},
  {"bridges":[],"cpus":"","host_bridge":"","kind":"ethernet","name":"","netdevs":[],"numa":null,"package":null,"pci":null,"ports":[],"rate_mbps":0,"state":"unknown"}
],
"stated_relations": [
  ["PXB",null]
]}
)");
}

TEST(Snapshot, ComesBackAsItWas) {
    const NodeTopology node = small_node();
    const auto read = read_snapshot(write_snapshot(node));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(write_snapshot(*read), write_snapshot(node));
    for (std::size_t i = 0; i < node.pus.size(); ++i) {
        EXPECT_EQ(read->pus[i].cpu, node.pus[i].cpu);
        EXPECT_EQ(read->pus[i].core, node.pus[i].core);
        EXPECT_EQ(read->pus[i].numa, node.pus[i].numa);
        EXPECT_EQ(read->pus[i].package, node.pus[i].package);
    }
    const auto empty = read_snapshot(write_snapshot({}));
    ASSERT_TRUE(empty) << empty.error().message;
    EXPECT_TRUE(empty->gpus.empty());
}

// A node may have one since its last boot, made by the version before.
TEST(Snapshot, AnOlderOneIsStillRead) {
    std::string text = write_snapshot(small_node());
    for (const char* gone : {",\"partition_uuids\":[\"MIG-1\",\"MIG-2\"],\"partitions\":2", ",\"uuid\":\"GPU-1\"", "\"alias\":\"NIC0\",",
                             ",\"more_names\":[\"mlx5_1\"]", ",\n\"stated_relations\": [\n  [\"PXB\",null]\n]"}) {
        ASSERT_NE(text.find(gone), std::string::npos) << gone;
        text.erase(text.find(gone), std::string_view(gone).size());
    }
    const auto read = read_snapshot(text);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->gpus[0].partitions, 1);
    EXPECT_EQ(read->gpus[0].uuid, "");
    EXPECT_EQ(read->nics[0].alias, "");
    EXPECT_TRUE(read->stated_relations.empty());
}

TEST(Snapshot, NamesThatAreNoUtf8AreWritten) {
    NodeTopology node = small_node();
    node.machine = "\xff";
    node.gpus[0].name = "caf\xe9";
    EXPECT_TRUE(read_snapshot(write_snapshot(node)));
}

// Each line: what is replaced by what in the text above, and what is said of it.
TEST(Snapshot, SaysWhatIsWrong) {
    const struct {
        const char *from, *to, *message;
    } cases[] = {
        {"{\"schema\"", "\"schema\"", "not JSON"},
        {"\"schema\"", "\"scheme\"", "not a snapshot of a node"},
        {"node/1", "node/2", "of schema \"paced-fabric-node/2\", not \"paced-fabric-node/1\""},
        {"\"machine\"", "\"machina\"", "'machine' is missing"},
        {"\"Fake\"", "3", "'machine' is not a text"},
        {"\"0-1,4-5\"", "\"0-1,4-\"", "'cpus' is not a list of CPUs"},
        {"[0,1,0,1]", "[0,1,0]", "'cores' does not name one core for each of 'cpus'"},
        {"[0,1,0,1]", "[0,1,0,-1]", "'cores' is not a count"},
        {"[0,1,0,1]", "[0,1,0,1e99]", "'cores' is not a count"},
        {"[0,1,0,1]", "{}", "'cores' is not an array"},
        {"\"number\":8", "\"number\":99999999999", "'number' is not a count"},
        {"\"10000:03:00.0\"", "\"10000:03\"", "'pci' is not a PCI address"},
        {"\"10000:03:00.0\"", "7", "'pci' is not a PCI address"},
        {"\"roce\"", "\"rocket\"", "'kind' is no kind of NIC"},
        {"\"state\":\"up\"", "\"state\":\"on\"", "'state' is no link state"},
        {"[1,\"down\",0]", "[1,\"down\"]", "'ports' does not hold [number, state, rate]"},
        {"[1,\"down\",0]", "[1,0,0]", "'ports' does not hold [number, state, rate]"},
        {"[\"ib0\",\"ib1\"]", "[0]", "'netdevs' does not hold texts"},
        {"\"numa\":0", "\"numa\":\"0\"", "'numa' is not a count"},
        {"\"uuid\":\"GPU-1\"", "\"uuid\":1", "'uuid' is not a text"},
        {"\"partitions\":2", "\"partitions\":0", "'partitions' is not at least 1"},
        {"\"partitions\":2", "\"partitions\":3", "'partition_uuids' does not name one for each of 'partitions'"},
        {"[\"PXB\",null]", "[\"PXB\"]", "'stated_relations' does not hold one relation or null for each GPU and NIC"},
        {"[\"PXB\",null]", "[\"PXB\",3]", "'stated_relations' does not hold one relation or null for each GPU and NIC"},
        {"[\"PXB\",null]", "[\"NV4\",null]", "'stated_relations' does not hold one relation or null for each GPU and NIC"},
    };
    const std::string good = write_snapshot(small_node());
    for (const auto& each : cases) {
        std::string text = good;
        text.replace(text.find(each.from), std::string_view(each.from).size(), each.to);
        const auto read = read_snapshot(text);
        ASSERT_FALSE(read) << each.to;
        EXPECT_EQ(read.error().message, each.message);
    }
    for (const char* text : {"", "null", "[]", "3", "\"x\""}) EXPECT_FALSE(read_snapshot(text)) << text;
}

// No cut text and no changed byte may do worse than be refused.
TEST(Snapshot, DamageIsRefusedOrHarmless) {
    const std::string good = write_snapshot(small_node());
    for (std::size_t length = 0; length < good.size() - 1; ++length) EXPECT_FALSE(read_snapshot(std::string_view(good).substr(0, length)));
    for (std::size_t i = 0; i < good.size(); ++i) {
        for (char c : {'0', '"', '[', '}', '\xff'}) {
            std::string text = good;
            text[i] = c;
            if (const auto read = read_snapshot(text)) write_snapshot(*read);
        }
    }
}

}  // namespace
}  // namespace paced::io
