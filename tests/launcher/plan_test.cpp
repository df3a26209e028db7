// SPDX-License-Identifier: BSD-3-Clause
// `paced plan`, the program: what it prints for machines and fabrics in tests/data (golden files in tests/data/plan), and
// what it says to whoever asks for nonsense.
#include <chrono>
#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "policy/base/text.h"
#include "tests/doubles/golden.h"
#include "tests/doubles/paths.h"
#include "tests/doubles/run_program.h"
#include "tests/doubles/temporary_folder.h"

namespace paced {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

// In tests/data, so that the paths in its answers are the same wherever the repository lies.
test::Outcome plan(Words words) {
    words.insert(words.begin(), {(test::bin_dir() / "paced").string(), "plan"});
    return test::run_program(words, {.folder = test::data("").string()});
}

std::string text_of(const Words& words) {
    const auto outcome = plan(words);
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.err, "");
    for (std::string_view line : split(outcome.out, '\n')) {
        EXPECT_LE(line.size(), 100u) << line;
        EXPECT_FALSE(line.ends_with(' ')) << line;
    }
    return outcome.out;
}

Json json_of(Words words) {
    words.emplace_back("--json");
    const auto outcome = plan(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return Json::parse(outcome.out);
}

void expect_golden(Words words, const std::string& name) {
    const bool json = name.ends_with(".json");
    if (json) words.emplace_back("--json");
    test::expect_golden(json ? plan(words).out : text_of(words), test::data("plan/" + name));
}

// ---- what it prints

TEST(PacedPlan, ANodesBinding) {
    expect_golden({"--node", "topology/fake-uneven.xml", "--tasks", "6"}, "node.txt");
    expect_golden({"--node", "topology/fake-uneven.xml"}, "node.json");
    expect_golden({"--node", "topology/fake-no-gpu.xml"}, "node-no-gpu.txt");
    expect_golden({"--node", "topology/fake-8gpu-4nic.xml", "--gpus", "2"}, "node-two-gpus.txt");
}

TEST(PacedPlan, AnOrder) {
    expect_golden({"--fabric", "plan/interleaved.conf", "--hosts", "n[1-8]", "--tasks-per-node", "2"}, "order.txt");
    expect_golden({"--fabric", "plan/interleaved.conf", "--hosts", "n[1-8]", "--tasks-per-node", "2"}, "order.json");
    const auto levels = plan({"--fabric", "plan/two-pods.conf", "--hosts", "m[1,6,3,8,2,7,4]"});
    EXPECT_NE(levels.err.find("plan/two-pods.conf:5:12: warning: m5 is on several switches"), std::string::npos) << levels.err;
    test::expect_golden(levels.out, test::data("plan/order-levels.txt"));
    expect_golden({"--fabric", "plan/interleaved.conf", "--hosts", "n[1,3,5,7,2]"}, "order-kept.txt");
}

// Each fact once: what is on the second line is not said again below.
TEST(PacedPlan, AnOrderThatIsKept) {
    const auto text = [](const Words& words) {
        Words all{"--fabric", "plan/interleaved.conf"};
        all.insert(all.end(), words.begin(), words.end());
        return plan(all).out;
    };
    EXPECT_EQ(text({"--hosts", "x[1-3]"}), "Order of 3 hosts for ring, 1 rank on each, from plan/interleaved.conf\n"
                                           "Kept as submitted: x[1-3] are on no switch of plan/interleaved.conf.\n\n"
                                           "ranks  leaf       hosts\n  0-2  not known  x[1-3]\n");
    EXPECT_EQ(text({"--hosts", "n[1-3]", "--order", "none"}), "Order of 3 hosts, 1 rank on each, under 2 leaves of plan/interleaved.conf\n"
                                                             "Kept as submitted: no order was asked for.\n\n"
                                                             "ranks  leaf   hosts\n    0  leaf1  n1\n    1  leaf2  n2\n    2  leaf1  n3\n");
    EXPECT_EQ(text({"--hosts", "n[1-2]"}), "Order of 2 hosts for ring, 1 rank on each, under 2 leaves of plan/interleaved.conf\n"
                                           "Kept as submitted: steps of the ring between leaves: 2, the fewest possible.\n\n"
                                           "ranks  leaf   hosts\n    0  leaf1  n1\n    1  leaf2  n2\n\n"
                                           "Why:\n  fewer than 3 hosts leave no choice, since the first one stays the first\n");
}

TEST(PacedPlan, BothPartsAtOnce) {
    const Json both = json_of({"--node", "topology/fake-8gpu-4nic.xml", "--fabric", "plan/interleaved.conf", "--hosts", "n[1-8]"});
    EXPECT_EQ(both.at("bindings").size(), 8u);
    EXPECT_EQ(both.at("order").at("ranks").size(), 8u);
    const std::string text = text_of({"--node", "topology/fake-8gpu-4nic.xml", "--fabric", "plan/interleaved.conf", "--hosts", "n[1-8]"});
    EXPECT_LT(text.find("Binding of 8 tasks"), text.find("Order of 8 hosts"));
}

// The words of the contract, and their types.
TEST(PacedPlan, TheObjectOfTheContract) {
    const Json node = json_of({"--node", "topology/fake-8gpu-4nic.xml"});
    EXPECT_FALSE(node.contains("order"));
    for (const Json& binding : node.at("bindings")) {
        EXPECT_TRUE(binding.at("task").is_number());
        EXPECT_TRUE(binding.at("gpu").at("pci").is_string() && binding.at("gpu").at("name").is_string() && binding.at("gpu").at("index").is_number());
        EXPECT_EQ(binding.at("relation"), "PIX");
        EXPECT_TRUE(binding.at("cpus").is_string() && binding.at("numa").is_number() && binding.at("reasons").is_array());
        for (const char* list : {"nics", "candidates"})
            for (const Json& nic : binding.at(list)) EXPECT_TRUE(nic.at("pci").is_string() && nic.at("name").is_string()) << nic;
    }
    const Json fabric = json_of({"--fabric", "plan/interleaved.conf", "--hosts", "n[1-8]", "--tasks-per-node", "2"});
    EXPECT_FALSE(fabric.contains("bindings"));
    const Json& order = fabric.at("order");
    EXPECT_EQ(order.at("pattern"), "ring");
    EXPECT_EQ(order.at("hosts"), Json({"n1", "n3", "n5", "n7", "n2", "n4", "n6", "n8"}));
    EXPECT_EQ(order.at("ranks").at(3), Json::array({3, "n3", 1}));
    EXPECT_EQ(order.at("ranks").size(), 16u);
    EXPECT_EQ(order.at("cost").at("chosen"), 2);
    EXPECT_EQ(order.at("cost").at("submitted"), 8);
    EXPECT_EQ(order.at("cost").at("lower_bound"), 2);
    EXPECT_EQ(order.at("leaves"), 2);
    EXPECT_TRUE(order.at("improves").get<bool>());
    EXPECT_TRUE(order.at("reasons").is_array());
}

TEST(PacedPlan, ListsAreOneList) {
    const auto hosts = [](Words words) {
        words.insert(words.begin(), {"--fabric", "plan/two-pods.conf", "--order", "none"});
        return json_of(words).at("order").at("hosts");
    };
    const Json expected{"m1", "m6", "m3", "m8", "m2", "m7", "m4"};
    EXPECT_EQ(hosts({"--hosts", "m[1,6]", "--hosts", "m[3,8],m2,m7,m4"}), expected);
    EXPECT_EQ(hosts({"--hosts", "@plan/two-pods.hosts"}), expected);
    EXPECT_EQ(hosts({"--hosts=m[1,6,3,8,2,7,4]"}), expected);
}

TEST(PacedPlan, NoCostIsNullAndNotNought) {
    const auto outcome = plan({"--fabric", "plan/two-pods.conf", "--hosts", "m[1,5,6]", "--json"});
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_NE(outcome.err.find("--hosts: warning: m5 is on several switches: a2, b2\n"), std::string::npos) << outcome.err;
    const Json order = Json::parse(outcome.out).at("order");
    EXPECT_TRUE(order.at("cost").at("chosen").is_null());
    EXPECT_EQ(order.at("hosts"), Json({"m1", "m5", "m6"}));
    EXPECT_FALSE(order.at("improves").get<bool>());
}

// ---- what cannot be planned with is named, and the order kept

TEST(PacedPlan, HostsUnknownOrTwice) {
    const auto unknown = plan({"--fabric", "plan/interleaved.conf", "--hosts", "n[1,2,33,4]"});
    EXPECT_EQ(unknown.exit_code, 0);
    EXPECT_EQ(unknown.err, "--hosts: warning: n33 is on no switch\n    hint: did you mean 'n3'?\n");
    EXPECT_NE(unknown.out.find("Kept as submitted"), std::string::npos) << unknown.out;
    const auto twice = plan({"--fabric", "plan/interleaved.conf", "--hosts", "n[1,2,3,1]"});
    EXPECT_EQ(twice.exit_code, 0);
    EXPECT_EQ(twice.err, "--hosts: warning: n1 stands twice in the list\n");
    const auto many = plan({"--fabric", "plan/interleaved.conf", "--hosts", "x[1-100]"});
    EXPECT_NE(many.err.find("and so with 95 more hosts"), std::string::npos) << many.err;
}

// ---- wrong input: 1

struct Wrong {
    const char* what;
    Words words;
    std::string says;
};

void PrintTo(const Wrong& wrong, std::ostream* out) { *out << wrong.what; }

class WrongInput : public testing::TestWithParam<Wrong> {};

TEST_P(WrongInput, IsToldWithAHint) {
    const auto outcome = plan(GetParam().words);
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err.substr(0, outcome.err.find('\n') + 1), GetParam().says) << outcome.err;
    EXPECT_NE(outcome.err.find("    hint: "), std::string::npos) << outcome.err;
}

const Words fabric{"--fabric", "plan/interleaved.conf"};

Words with(Words words, const Words& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

INSTANTIATE_TEST_SUITE_P(
    PacedPlan, WrongInput,
    testing::Values(Wrong{"AnEmptyList", with(fabric, {"--hosts", ""}), "--hosts: error: the list of hosts is empty\n"},
                    Wrong{"AnUnclosedBracket", with(fabric, {"--hosts", "n1,n[2-4"}), "--hosts:1:5: error: '[' is not closed\n"},
                    Wrong{"APatternMisspelt", with(fabric, {"--hosts", "n[1-8]", "--order", "rign"}), "--order: error: unknown order 'rign'\n"},
                    Wrong{"AGridThatDoesNotFit", with(fabric, {"--hosts", "n[1-8]", "--tasks-per-node", "2", "--order", "tp=8,dp=4"}),
                          "--order: error: the grid 'tp=8,dp=4' is for 32 ranks, but 8 hosts with 2 tasks each are 16 ranks\n"},
                    Wrong{"AFabricThatIsNone", {"--fabric", "plan/node.txt", "--hosts", "n1"}, "plan/node.txt: error: this is no fabric in a form that is known here\n"},
                    Wrong{"ANodeThatIsNone", {"--node", "plan/interleaved.conf"}, "plan/interleaved.conf: error: not a format that describes a node\n"}),
    testing::PrintToStringParamName());

TEST(PacedPlan, AMistakeInAListsFileHasItsLine) {
    const test::TemporaryFolder folder;
    const std::string file = folder.write("hosts", "n1\nn[2\n");
    const auto outcome = plan({"--fabric", "plan/interleaved.conf", "--hosts", "@" + file});
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_TRUE(outcome.err.starts_with(file + ":2:")) << outcome.err;
}

// ---- usage: 2

TEST(PacedPlan, UsageIsToldWithAHint) {
    for (const Words& words : std::initializer_list<Words>{{},
                                                           {"--json"},
                                                           {"--node", "topology/fake-8gpu-4nic.xml", "--tasks", "0"},
                                                           {"--node", "topology/fake-8gpu-4nic.xml", "--tasks", "-1"},
                                                           {"--node", "topology/fake-8gpu-4nic.xml", "--tasks", "eight"},
                                                           {"--node", "topology/fake-8gpu-4nic.xml", "--tasks", "4097"},
                                                           {"--node", "topology/fake-8gpu-4nic.xml", "--gpus", "0"},
                                                           {"--node", ""},
                                                           {"--tasks", "4"},
                                                           {"--fabric", "plan/interleaved.conf"},
                                                           {"--hosts", "n[1-8]"},
                                                           {"--fabric", "plan/interleaved.conf", "--hosts", "n1", "--tasks-per-node", "0"},
                                                           {"--nodes", "x"},
                                                           {"--fabric", "plan/interleaved.conf", "--hosts", "n1", "n2"}}) {
        const auto outcome = plan(words);
        EXPECT_EQ(outcome.exit_code, 2) << join(words, " ");
        EXPECT_EQ(outcome.out, "") << join(words, " ");
        EXPECT_NE(outcome.err.find("hint: "), std::string::npos) << join(words, " ") << '\n' << outcome.err;
    }
    EXPECT_NE(plan({"--nod", "x"}).err.find("did you mean '--node'?"), std::string::npos);
}

// ---- the surroundings: 3

TEST(PacedPlan, AFileThatCannotBeRead) {
    for (const Words& words : std::initializer_list<Words>{{"--node", "no/such/file"}, {"--fabric", "no/such/file", "--hosts", "n1"}}) {
        const auto outcome = plan(words);
        EXPECT_EQ(outcome.exit_code, 3);
        EXPECT_EQ(outcome.err, "error: cannot read no/such/file: No such file or directory\n");
    }
}

// ---- speed: ten thousand hosts, eight ranks on each

TEST(PacedPlan, TenThousandHostsTakeWellUnderASecond) {
    const test::TemporaryFolder folder;
    std::string conf, lists, leaves;
    for (int leaf = 0; leaf < 500; ++leaf) {
        conf += "SwitchName=l" + std::to_string(leaf) + " Nodes=";
        for (int host = 0; host < 20; ++host) conf += (host > 0 ? ",h" : "h") + std::to_string(host * 500 + leaf);
        conf += '\n';
    }
    for (int pod = 0; pod < 25; ++pod) conf += "SwitchName=p" + std::to_string(pod) + " Switches=l[" + std::to_string(20 * pod) + '-' + std::to_string(20 * pod + 19) + "]\n";
    conf += "SwitchName=core Switches=p[0-24]\n";
    const std::string file = folder.write("topology.conf", conf);
    const auto start = std::chrono::steady_clock::now();
    const Json plan = json_of({"--fabric", file, "--hosts", "h[0-9999]", "--tasks-per-node", "8"});
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    EXPECT_EQ(plan.at("order").at("ranks").size(), 80'000u);
    EXPECT_EQ(plan.at("order").at("cost").at("chosen"), 500);
    EXPECT_LT(seconds, 2);  // with the test's own parsing, on a busy machine; it takes a tenth of that
}

// A name with an escape sequence comes to the terminal without it.
TEST(PacedPlan, ControlCharactersInNamesAreNotPrinted) {
    const test::TemporaryFolder folder;
    const std::string file = folder.write("topology.conf", "SwitchName=a\x1b[31m Nodes=n[1-2]\nSwitchName=b Nodes=n[3-4]\n");
    const auto text = plan({"--fabric", file, "--hosts", "n1,n3,n2,n4"});
    EXPECT_EQ(text.exit_code, 0);
    EXPECT_EQ(text.out.find('\x1b'), std::string::npos) << text.out;
    EXPECT_NE(text.out.find("a?[31m"), std::string::npos) << text.out;
}

// 64 GPUs and 64 NICs, all as near, with as many tasks as are allowed.
TEST(PacedPlan, AsManyTasksAsAreAllowedTakeNoMinute) {
    const test::TemporaryFolder folder;
    std::string matrix, legend = "\nNIC Legend:\n\n";
    for (int i = 0; i < 64; ++i) matrix += "\tGPU" + std::to_string(i);
    for (int i = 0; i < 64; ++i) matrix += "\tNIC" + std::to_string(i);
    matrix += "\tCPU Affinity\tNUMA Affinity\n";
    for (int row = 0; row < 128; ++row) {
        matrix += (row < 64 ? "GPU" : "NIC") + std::to_string(row % 64);
        for (int column = 0; column < 128; ++column) matrix += column == row ? "\t X " : "\tPXB";
        matrix += row < 64 ? "\t0-63\t0\n" : "\t\t\n";
    }
    for (int i = 0; i < 64; ++i) legend += "  NIC" + std::to_string(i) + ": mlx5_" + std::to_string(i) + '\n';
    const std::string file = folder.write("topo.txt", matrix + legend);
    const auto start = std::chrono::steady_clock::now();
    const auto outcome = plan({"--node", file, "--tasks", "4096"});
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("the busiest NIC serves 64 tasks"), std::string::npos) << outcome.out;
    EXPECT_LT(seconds, 15);  // under sanitizers on a busy machine; .3 s otherwise, and a minute where it is quadratic
}

}  // namespace
}  // namespace paced
