// SPDX-License-Identifier: BSD-3-Clause
#include "policy/placement/binding.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "policy/base/text.h"
#include "tests/unit/placement/node_builder.h"

namespace paced::placement {
namespace {

using namespace paced::topology;
using Builder = NodeBuilder;

// "mlx5_0/PIX mlx5_1+mlx5_2/PHB": the NICs of each task and their relation
std::string nics(const NodeTopology& node, const NodeBinding& binding) {
    std::vector<std::string> texts;
    for (const TaskBinding& task : binding.tasks) {
        std::vector<std::string> names;
        for (NicIndex nic : task.nics) names.push_back(label(node.nic(nic)));
        texts.push_back((names.empty() ? "none" : join(names, "+")) + (task.relation ? '/' + std::string(to_string(*task.relation)) : ""));
    }
    return join(texts, " ");
}
std::string nics(const NodeTopology& node) { return nics(node, bind_tasks(node)); }

// "0 2 4": the GPU of each task
std::string gpus(const NodeTopology& node, const BindingRequest& request) {
    std::vector<std::string> texts;
    for (const TaskBinding& task : bind_tasks(node, request).tasks) texts.push_back(std::to_string(to_index(task.gpu)));
    return join(texts, " ");
}

bool has(const std::vector<std::string>& reasons, const std::string& reason) {
    return std::find(reasons.begin(), reasons.end(), reason) != reasons.end();
}

std::string candidates(const NodeTopology& node, const TaskBinding& row) {
    std::vector<std::string> names;
    for (NicIndex nic : row.candidates) names.push_back(label(node.nic(nic)));
    return join(names, " ");
}

TEST(Binding, NearestThenBalancedThenByAddress) {
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
    for (const auto& each : cases) EXPECT_EQ(nics(each.node), each.nics) << each.what;
}

TEST(Binding, LinksThatAreDown) {
    using enum LinkState;
    // Two as near: the one that is up. The candidates are both, by distance alone.
    const NodeTopology mixed = Builder()
                                   .gpu("10:00.0", "a1")
                                   .nic("11:00.0", "a2", "m0", NicKind::infiniband, down)
                                   .nic("12:00.0", "a3", "m1", NicKind::infiniband, up)
                                   .build();
    const NodeBinding binding = bind_tasks(mixed);
    EXPECT_EQ(nics(mixed, binding), "m1/PHB");
    EXPECT_EQ(candidates(mixed, binding.tasks[0]), "m0 m1");
    EXPECT_FALSE(binding.tasks[0].nic_down);
    EXPECT_EQ(binding.warnings, std::vector<std::string>{"the link of this NIC is down: m0"});
    EXPECT_EQ(binding.tasks[0].reasons,
              (std::vector<std::string>{"m1 is the only one of 2 nearest fabric NICs (PHB: one host bridge) whose link is not down",
                                        "passed over because the link is down: m0"}));

    // The only near one is down: it is told, and no NIC that is farther away takes its place.
    const NodeTopology near_down = Builder()
                                       .gpu("10:00.0", "a1")
                                       .nic("11:00.0", "a1", "m0", NicKind::infiniband, down)
                                       .nic("91:00.0", "b1", "m1", NicKind::infiniband, up)
                                       .build();
    const NodeBinding second = bind_tasks(near_down);
    EXPECT_EQ(nics(near_down, second), "m0/PIX");
    EXPECT_TRUE(second.tasks[0].nic_down);
    EXPECT_EQ(second.tasks[0].reasons,
              (std::vector<std::string>{"the link of m0, the nearest fabric NIC (PIX: one PCIe switch), is down: no variable will name it"}));

    // Unknown is not down.
    const NodeTopology unknown_state = Builder().gpu("10:00.0", "a1").nic("11:00.0", "a1", "m0", NicKind::infiniband, unknown).build();
    EXPECT_FALSE(bind_tasks(unknown_state).tasks[0].nic_down);
    EXPECT_TRUE(bind_tasks(unknown_state).warnings.empty());
}

TEST(Binding, AVirtualFunctionStandsBackWhereItsCardIsThere) {
    Builder builder;
    builder.gpu("10:00.0", "a1").nic("11:00.0", "a2", "m0").nic("11:00.2", "a1", "m1");
    builder.node().nics[1].virtual_function_of = parse_pci_address("11:00.0");
    const NodeTopology on_host = builder.build();
    EXPECT_EQ(nics(on_host), "m0/PHB");
    builder.node().nics.erase(builder.node().nics.begin());  // in a virtual machine it is all there is
    const NodeTopology in_guest = builder.build();
    EXPECT_EQ(nics(in_guest), "m1/PIX");
}

TEST(Binding, CpusAreThoseNearTheGpuThatMayBeUsed) {
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
        const NodeBinding binding = bind_tasks(node, {.cpus = each.allowed});
        EXPECT_EQ(to_string(binding.tasks[0].cpus), each.cpus);
        EXPECT_EQ(binding.tasks[0].numa, 0);
        const auto& reasons = binding.tasks[0].reasons;
        EXPECT_EQ(std::count(reasons.begin(), reasons.end(), each.reason), *each.reason == '\0' ? 0 : 1);
    }
    NodeTopology vague = node;
    vague.gpus[0].place.local_cpus = {};
    EXPECT_EQ(to_string(bind_tasks(vague, {.cpus = CpuSet{3}}).tasks[0].cpus), "3");
    EXPECT_EQ(bind_tasks(vague).tasks[0].reasons.front(), "which CPUs are near this GPU is not known: all that may be used");
}

// As many threads of a core as the task may use, never one of two by itself.
TEST(Binding, ThreadsOfACoreStayTogether) {
    NodeTopology node = Builder().gpu("10:00.0", "a1").nic("11:00.0", "a1", "m0").build();
    for (Pu& pu : node.pus) pu.core = pu.cpu % 8;  // 0 and 8 are one core
    EXPECT_EQ(to_string(bind_tasks(node).tasks[0].cpus), "0-15");
    node.gpus[0].place.local_cpus = CpuSet::range(0, 3);
    EXPECT_EQ(to_string(bind_tasks(node).tasks[0].cpus), "0-3,8-11");
    EXPECT_EQ(to_string(bind_tasks(node, {.cpus = CpuSet::range(2, 9)}).tasks[0].cpus), "2-3,8-9");
}

TEST(Binding, SlowLinksArePassedOver) {
    Builder builder;
    builder.gpu("10:00.0", "a1").gpu("20:00.0", "a2");
    for (const char* pci : {"11:00.0", "12:00.0", "13:00.0"}) builder.nic(pci, "a3", "m" + std::string(pci).substr(1, 1));
    builder.node().nics[0].rate_mbps = 100'000;
    builder.node().nics[1].rate_mbps = 400'000;
    NodeTopology node = builder.build();
    NodeBinding binding = bind_tasks(node);
    EXPECT_EQ(nics(node, binding), "m2/PHB m3/PHB");  // of m3 nothing is known
    EXPECT_EQ(candidates(node, binding.tasks[0]), "m1 m2 m3");
    EXPECT_TRUE(has(binding.tasks[0].reasons, "passed over because it is slower: m1"));
    EXPECT_EQ(binding.warnings, std::vector<std::string>{"this NIC is slower than others as near, and passed over: m1"});
    node.nics[1].state = LinkState::down;  // then the slow one is the fastest
    EXPECT_EQ(nics(node), "m1/PHB m3/PHB");
}

TEST(Binding, SeveralNicsWhereEachTaskCanHaveAsMany) {
    // Like a p5.48xlarge: four adapters beside each GPU.
    Builder many;
    for (int i = 0; i < 2; ++i) {
        const std::string bus = std::to_string(10 * (i + 1));
        many.gpu((bus + ":00.0").c_str(), i == 0 ? "a1" : "a2");
        for (int nic = 1; nic <= 4; ++nic)
            many.nic((bus + ":0" + std::to_string(nic) + ".0").c_str(), i == 0 ? "a1" : "a2", "e" + std::to_string(4 * i + nic), NicKind::efa);
    }
    EXPECT_EQ(nics(many.build()), "e1+e2+e3+e4/PIX e5+e6+e7+e8/PIX");
    // Two GPUs with three in common: one each, and the third stays idle rather than one having more than the other.
    EXPECT_EQ(nics(Builder().gpu("10:00.0", "a1").gpu("20:00.0", "a2").nic("30:00.0", "a3", "m0").nic("31:00.0", "a4", "m1").nic("32:00.0", "a5", "m2").build()),
              "m0/PHB m1/PHB");
    // With a fourth they have two each.
    EXPECT_EQ(nics(Builder().gpu("10:00.0", "a1").gpu("20:00.0", "a2").nic("30:00.0", "a3", "m0").nic("31:00.0", "a4", "m1").nic("32:00.0", "a5", "m2")
                       .nic("33:00.0", "a6", "m3").build()),
              "m0+m2/PHB m1+m3/PHB");
    // One that is near to one GPU alone does not help the other, so it is not shared out.
    EXPECT_EQ(nics(Builder().gpu("10:00.0", "a1").gpu("90:00.0", "b1").nic("30:00.0", "a3", "m0").nic("31:00.0", "a4", "m1").nic("91:00.0", "b2", "m2").build()),
              "m0+m1/PHB m2/PHB");
}

// Eight GPUs, of which the odd ones have a NIC beside them.
NodeTopology uneven() {
    Builder builder;
    for (int i = 0; i < 8; ++i) {
        const std::string bus = std::to_string(10 + i), slot = (i < 4 ? "a" : "b") + std::to_string(1 + i % 4);
        builder.gpu((bus + ":00.0").c_str(), slot);
        if (i % 2 == 1) builder.nic((bus + ":01.0").c_str(), slot, "m" + std::to_string(i));
    }
    return builder.build();
}

TEST(Binding, FewerTasksGetTheBestGpus) {
    const NodeTopology node = uneven();
    EXPECT_EQ(gpus(node, {.tasks = 4}), "1 3 5 7");
    EXPECT_EQ(gpus(node, {.tasks = 5}), "0 1 3 5 7");
    EXPECT_EQ(gpus(node, {.gpus = 2}), "1 3");
    EXPECT_EQ(gpus(node, {.tasks = 4, .gpus = 2}), "1 3 1 3");
    const auto two = bind_tasks(node, {.tasks = 2});
    EXPECT_TRUE(has(two.tasks[0].reasons, "runner-up: GPU 0000:10:00.0, whose way to its NIC is longer (PHB and not PIX)")) << join(two.tasks[0].reasons, "; ");
    // With equal paths, those that share no NIC.
    const NodeTopology shared = Builder().gpu("10:00.0", "a1").gpu("11:00.0", "a2").gpu("90:00.0", "b1").gpu("91:00.0", "b2")
                                    .nic("12:00.0", "a3", "m0").nic("92:00.0", "b3", "m1").build();
    EXPECT_EQ(gpus(shared, {.tasks = 2}), "0 2");
    EXPECT_EQ(gpus(shared, {.tasks = 3}), "0 1 2");
    // A GPU whose links are all down comes last, however near they are.
    NodeTopology down = shared;
    down.nics[0].state = LinkState::down;
    EXPECT_EQ(gpus(down, {.tasks = 2}), "2 3");
}

TEST(Binding, MoreTasksThanGpusShareThemEvenly) {
    const NodeTopology node = uneven();
    EXPECT_EQ(gpus(node, {.tasks = 10}), "0 1 2 3 4 5 6 7 1 3");
    EXPECT_EQ(gpus(node, {.tasks = 16}), "0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7");
    const NodeTopology one = Builder().gpu("10:00.0", "a1").nic("11:00.0", "a1", "m0").nic("12:00.0", "a1", "m1").build();
    const auto binding = bind_tasks(one, {.tasks = 4});
    EXPECT_EQ(nics(one, binding), "m0/PIX m1/PIX m0/PIX m1/PIX");
    EXPECT_TRUE(has(binding.tasks[0].reasons, "this GPU is shared by 4 tasks: there are 4 for 1 GPU"));
    EXPECT_TRUE(has(binding.tasks[0].reasons, "runner-up: m1, as near, with tasks 1, 3"));
}

TEST(Binding, PartsOfGpusAreSharedFirst) {
    NodeTopology node = Builder().gpu("10:00.0", "a1").gpu("90:00.0", "b1").nic("11:00.0", "a1", "m0").nic("91:00.0", "b1", "m1").build();
    node.gpus[0].partitions = node.gpus[1].partitions = 3;  // TPX
    EXPECT_EQ(gpus(node, {}), "0 1");
    EXPECT_EQ(gpus(node, {.tasks = 3}), "0 0 1");
    EXPECT_EQ(gpus(node, {.tasks = 6}), "0 0 0 1 1 1");
    EXPECT_EQ(gpus(node, {.tasks = 8}), "0 0 0 1 1 1 0 1");
    node.gpus[1].partitions = 1;
    EXPECT_EQ(gpus(node, {.tasks = 4}), "0 0 0 1");
    EXPECT_TRUE(has(bind_tasks(node, {.tasks = 4}).tasks[0].reasons, "this GPU is 3 devices, and has 3 tasks"));
}

TEST(Binding, OnlyWhatIsVisible) {
    const NodeTopology node = uneven();
    const auto at = [](std::initializer_list<std::size_t> list) {
        std::vector<GpuIndex> gpus;
        for (std::size_t i : list) gpus.push_back(static_cast<GpuIndex>(i));
        return gpus;
    };
    EXPECT_EQ(gpus(node, {.visible = at({6, 2, 3})}), "2 3 6");
    EXPECT_EQ(gpus(node, {.tasks = 1, .visible = at({6, 2, 3})}), "3");
    EXPECT_EQ(gpus(node, {.visible = at({})}), "");
    EXPECT_EQ(gpus(node, {.visible = at({6, 2, 3}), .by_position = true}), "6 2 3");
    EXPECT_EQ(gpus(node, {.tasks = 5, .visible = at({6, 2, 3}), .by_position = true}), "6 2 3 6 2");
    EXPECT_EQ(gpus(node, {.tasks = 2, .by_position = true}), "0 1");
}

// However an input lists the devices, after sorting the binding is the same; and balance holds among equally near ones.
TEST(Binding, ThePermutationOfTheSortedInputChangesNothing) {
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
        const std::string found = nics(node);
        if (round == 0) expected = found;
        EXPECT_EQ(found, expected);
    }
    EXPECT_EQ(expected, "m0/PHB m2/PHB m0/PHB m2/PHB m4/PHB m6/PHB m4/PHB m6/PHB");
}

}  // namespace
}  // namespace paced::placement
