// SPDX-License-Identifier: BSD-3-Clause
#include "policy/placement/visible_devices.h"

#include <gtest/gtest.h>

#include "policy/base/text.h"
#include "tests/unit/placement/node_builder.h"

namespace paced::placement {
namespace {

using namespace paced::topology;

using Variables = std::map<std::string, std::string, std::less<>>;

NodeTopology gpus(int count, const std::string& vendor = "NVIDIA") {
    NodeBuilder builder;
    for (int i = 0; i < count; ++i) builder.gpu((std::to_string(10 + i) + ":00.0").c_str(), i < count / 2 ? "a1" : "b1");
    for (int i = 0; i < count; ++i) {
        Gpu& gpu = builder.node().gpus[static_cast<std::size_t>(i)];
        gpu.vendor = vendor;
        gpu.uuid = "GPU-" + std::string(1, static_cast<char>('a' + i)) + "000" + std::to_string(i);
    }
    return builder.build();
}

// "0 2", or the doubt in brackets.
std::string seen(const NodeTopology& node, const Variables& variables, bool slurm_gives_gpus = false) {
    const VisibleDevices devices = visible_devices(node, Environment(variables), slurm_gives_gpus);
    if (!devices.known()) {
        EXPECT_TRUE(devices.gpus.empty());
        return '(' + devices.doubt + ')';
    }
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < devices.gpus.size(); ++i) texts.push_back(std::to_string(to_index(devices.at(VisibleIndex{i}))));
    return join(texts, " ");
}

// "SLURM_STEP_GPUS=2,3:2>2,3>3 CUDA_VISIBLE_DEVICES=0,1:": what tells of a task's own devices
std::string keys(const NodeTopology& node, const Variables& variables) {
    std::string text;
    for (const DeviceVariable& variable : visible_devices(node, Environment(variables)).variables) {
        text += (text.empty() ? "" : " ") + variable.name + (variable.value ? '=' + *variable.value : "") + ':';
        for (std::size_t i = 0; i < variable.entries.size(); ++i)
            text += (i == 0 ? "" : ",") + variable.entries[i].text + '>' + std::to_string(to_index(variable.entries[i].gpu));
    }
    return text;
}

TEST(VisibleDevices, CudaListsStopAtTheFirstInvalidEntry) {
    const NodeTopology node = gpus(4);
    const struct {
        const char *value, *seen;
    } cases[] = {
        {"0,1,2,3", "0 1 2 3"},
        {"2,0", "2 0"},
        {" 1 , 3 ", "1 3"},
        {"1,4,0", "1"},
        {"1,-1,0", "1"},
        {"-1", ""},
        {"", ""},
        {"NoDevFiles", ""},
        {"none", ""},
        {"1,,2", "1"},
        {"1,2x", "1"},
        {"+1", ""},
        {"GPU-c0002,GPU-a0000", "2 0"},
        {"GPU-d", "3"},
        {"GPU-", ""},           // four begin so
        {"GPU-ffff,GPU-a", ""},
        {"GPU-a,GPU-ffff,GPU-b", "0"},
        {"0,0", "(CUDA_VISIBLE_DEVICES=0,0: 0 stands in it twice)"},
        {"0,GPU-b", "(CUDA_VISIBLE_DEVICES=0,GPU-b: numbers and UUIDs are mixed in it)"},
        {"MIG-1234", "(CUDA_VISIBLE_DEVICES=MIG-1234: which GPU MIG-1234 is part of is not known)"},
    };
    for (const auto& each : cases) EXPECT_EQ(seen(node, {{"CUDA_VISIBLE_DEVICES", each.value}}), each.seen) << each.value;
    EXPECT_EQ(seen(node, {}), "0 1 2 3");
    EXPECT_EQ(seen(node, {{"ROCR_VISIBLE_DEVICES", "1"}}), "0 1 2 3");  // another maker's
    EXPECT_EQ(seen(gpus(0), {{"CUDA_VISIBLE_DEVICES", "0"}}), "");
}

TEST(VisibleDevices, UnknownUuidsAreADoubt) {
    NodeTopology node = gpus(2);
    node.gpus[1].uuid.clear();
    EXPECT_EQ(seen(node, {{"CUDA_VISIBLE_DEVICES", "GPU-a0000"}}), "0");  // whole, so there is no other
    EXPECT_EQ(seen(node, {{"CUDA_VISIBLE_DEVICES", "GPU-a"}}), "(CUDA_VISIBLE_DEVICES=GPU-a: the UUIDs of this node's GPUs are not known)");
    EXPECT_EQ(seen(node, {{"CUDA_VISIBLE_DEVICES", "GPU-zzz"}}), "(CUDA_VISIBLE_DEVICES=GPU-zzz: the UUIDs of this node's GPUs are not known)");
}

TEST(VisibleDevices, NumbersAreInTheOrderOfPciAddresses) {
    NodeTopology node = gpus(3);
    std::swap(node.gpus[0], node.gpus[2]);  // however the input lists them
    EXPECT_EQ(seen(node, {{"CUDA_VISIBLE_DEVICES", "0,1"}}), "2 1");
}

TEST(VisibleDevices, CudaNumbersGpusThatDifferBySpeed) {
    NodeTopology node = gpus(2);
    node.gpus[0].name = "slow";
    node.gpus[1].name = "fast";
    const std::string doubt = "(the node's GPUs differ, and CUDA numbers them by speed: CUDA_DEVICE_ORDER is not PCI_BUS_ID)";
    EXPECT_EQ(seen(node, {}), doubt);
    EXPECT_EQ(seen(node, {{"CUDA_VISIBLE_DEVICES", "1"}}), doubt);
    EXPECT_EQ(seen(node, {{"CUDA_VISIBLE_DEVICES", "1"}, {"CUDA_DEVICE_ORDER", "FASTEST_FIRST"}}), doubt);
    EXPECT_EQ(seen(node, {{"CUDA_VISIBLE_DEVICES", "1"}, {"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}}), "1");
    EXPECT_EQ(seen(node, {{"CUDA_VISIBLE_DEVICES", "GPU-b"}}), "1");
}

TEST(VisibleDevices, MigDevicesAreNearWhereTheirGpuIs) {
    NodeTopology node = gpus(2);
    node.gpus[1].partitions = 2;
    node.gpus[1].partition_uuids = {"MIG-x", "MIG-y"};
    EXPECT_EQ(seen(node, {{"CUDA_VISIBLE_DEVICES", "MIG-y"}}), "1");
    EXPECT_EQ(seen(node, {{"CUDA_VISIBLE_DEVICES", "MIG-GPU-b0001/3/0"}}), "1");
    EXPECT_EQ(seen(node, {{"CUDA_VISIBLE_DEVICES", "MIG-GPU-f/3/0"}}), "(CUDA_VISIBLE_DEVICES=MIG-GPU-f/3/0: which GPU MIG-GPU-f/3/0 is part of is not known)");
    EXPECT_EQ(seen(node, {{"CUDA_VISIBLE_DEVICES", "0"}}), "(GPUs are split into MIG devices, which numbers do not name)");
    // Slurm numbers MIG devices; the UUIDs say which they are, and each may be a task's own.
    const Variables two{{"SLURM_STEP_GPUS", "1,2"}, {"CUDA_VISIBLE_DEVICES", "MIG-x,MIG-y"}};
    EXPECT_EQ(seen(node, two), "1 1");
    EXPECT_EQ(visible_devices(node, Environment(two)).no_position, "CUDA_VISIBLE_DEVICES=MIG-x,MIG-y: CUDA shows a process the first of several MIG devices alone");
    EXPECT_EQ(keys(node, two), "CUDA_VISIBLE_DEVICES=MIG-x,MIG-y:MIG-x>1,MIG-y>1");
}

TEST(VisibleDevices, SlurmsNumbersCountTheNodeAndOthersMayCountSlurms) {
    const NodeTopology node = gpus(4);
    const auto both = [&](const char* slurm, const char* cuda) { return seen(node, {{"SLURM_STEP_GPUS", slurm}, {"CUDA_VISIBLE_DEVICES", cuda}}); };
    EXPECT_EQ(both("2,3", "2,3"), "2 3");  // every device is there for the task
    EXPECT_EQ(both("2,3", "0,1"), "2 3");  // ConstrainDevices=yes
    EXPECT_EQ(both("2,3", "1"), "3");
    EXPECT_EQ(both("2,3", "3"), "3");
    EXPECT_EQ(both("0,1", "1,0"), "1 0");
    EXPECT_EQ(both("1,2", "1"), "(CUDA_VISIBLE_DEVICES=1 can count all GPUs or those of SLURM_STEP_GPUS=1,2, and means others each time)");
    EXPECT_EQ(both("0,1", "0,3"), "(CUDA_VISIBLE_DEVICES=0,3 and SLURM_STEP_GPUS=0,1 do not fit together)");
    EXPECT_EQ(both("0,1", "NoDevFiles"), "");
    EXPECT_EQ(both("2,3", "GPU-d0003"), "3");
    EXPECT_EQ(both("0,7", "0,1"), "(SLURM_STEP_GPUS=0,7 names GPUs that this node does not have)");
    EXPECT_EQ(seen(node, {{"SLURM_JOB_GPUS", "2,3"}, {"CUDA_VISIBLE_DEVICES", "0,1"}}), "2 3");
    EXPECT_EQ(seen(node, {{"SLURM_STEP_GPUS", "3"}, {"SLURM_JOB_GPUS", "2,3"}, {"CUDA_VISIBLE_DEVICES", "0"}}), "3");
    // Whether the others are hidden nothing says.
    EXPECT_EQ(seen(node, {{"SLURM_STEP_GPUS", "0,1"}}), "(no variable says whether tasks see all GPUs or those of SLURM_STEP_GPUS=0,1 alone)");
    EXPECT_EQ(seen(node, {{"SLURM_STEP_GPUS", "0,1,2,3"}}), "0 1 2 3");
    EXPECT_EQ(seen(node, {}, true), "(Slurm gave this step no GPU)");
    EXPECT_EQ(seen(node, {{"CUDA_VISIBLE_DEVICES", "0"}}, true), "(Slurm gave this step no GPU)");
}

// A task with a device of its own is told by Slurm's list, whose numbers mean one thing; the others must be watched all the
// same. Numbers of CUDA's are never the key where Slurm's are there: they may count within the task.
TEST(VisibleDevices, WhatTellsOfATasksOwnDevice) {
    const NodeTopology node = gpus(4);
    EXPECT_EQ(keys(node, {{"SLURM_STEP_GPUS", "2,3"}, {"CUDA_VISIBLE_DEVICES", "0,1"}}), "SLURM_STEP_GPUS=2,3:2>2,3>3 CUDA_VISIBLE_DEVICES=0,1:");
    EXPECT_EQ(keys(node, {{"CUDA_VISIBLE_DEVICES", "3,1"}}), "CUDA_VISIBLE_DEVICES=3,1:3>3,1>1");
    EXPECT_EQ(keys(node, {}), "CUDA_VISIBLE_DEVICES:");
    EXPECT_EQ(keys(node, {{"SLURM_STEP_GPUS", "1,2"}, {"CUDA_VISIBLE_DEVICES", "1"}}), "SLURM_STEP_GPUS=1,2: CUDA_VISIBLE_DEVICES=1:");  // a doubt
}

TEST(VisibleDevices, RocmReadsOneListAfterTheOther) {
    const NodeTopology node = gpus(4, "AMD");
    EXPECT_EQ(seen(node, {{"ROCR_VISIBLE_DEVICES", "2,3"}}), "2 3");
    EXPECT_EQ(seen(node, {{"ROCR_VISIBLE_DEVICES", "GPU-b0001"}}), "1");
    EXPECT_EQ(seen(node, {{"HIP_VISIBLE_DEVICES", "3"}}), "3");
    EXPECT_EQ(seen(node, {{"CUDA_VISIBLE_DEVICES", "3"}}), "3");
    EXPECT_EQ(seen(node, {{"CUDA_VISIBLE_DEVICES", "3"}, {"HIP_VISIBLE_DEVICES", "1"}}), "1");
    EXPECT_EQ(seen(node, {{"ROCR_VISIBLE_DEVICES", "2,3"}, {"HIP_VISIBLE_DEVICES", "1"}}), "3");
    EXPECT_EQ(seen(node, {{"ROCR_VISIBLE_DEVICES", "2,3"}, {"HIP_VISIBLE_DEVICES", "2,3"}}),
              "(HIP_VISIBLE_DEVICES=2,3 names devices that ROCR_VISIBLE_DEVICES=2,3 has hidden)");
    // As Slurm sets them where devices are constrained.
    EXPECT_EQ(seen(node, {{"SLURM_STEP_GPUS", "2,3"}, {"ROCR_VISIBLE_DEVICES", "0,1"}, {"CUDA_VISIBLE_DEVICES", "0,1"}, {"GPU_DEVICE_ORDINAL", "0,1"}}), "2 3");
    EXPECT_EQ(seen(node, {{"ROCR_VISIBLE_DEVICES", "0,1"}, {"GPU_DEVICE_ORDINAL", "1"}}), "(GPU_DEVICE_ORDINAL=1 shows OpenCL other devices than HIP)");
    NodeTopology parts = node;
    for (Gpu& gpu : parts.gpus) gpu.partitions = 3;  // TPX
    EXPECT_EQ(seen(parts, {}), "0 0 0 1 1 1 2 2 2 3 3 3");
    EXPECT_EQ(seen(parts, {{"ROCR_VISIBLE_DEVICES", "2,3"}}), "0 1");
    EXPECT_EQ(seen(parts, {{"SLURM_STEP_GPUS", "3,4,5"}, {"ROCR_VISIBLE_DEVICES", "3,4,5"}}), "1 1 1");
}

TEST(VisibleDevices, LevelZeroChoosesTiles) {
    NodeTopology node = gpus(3, "Intel");
    EXPECT_EQ(seen(node, {{"ZE_AFFINITY_MASK", "2,0"}}), "2 0");
    EXPECT_EQ(seen(node, {{"ZE_AFFINITY_MASK", "0.1,2.0"}}), "0 2");
    EXPECT_EQ(seen(node, {{"ZE_AFFINITY_MASK", "0.x"}}), "");
    EXPECT_EQ(seen(node, {{"ZE_AFFINITY_MASK", "0.0,0.1"}}),
              "(ZE_AFFINITY_MASK=0.0,0.1: whether several tiles of one GPU are one device or several depends on the driver)");
    for (Gpu& gpu : node.gpus) gpu.partitions = 2;
    EXPECT_EQ(seen(node, {{"ZE_AFFINITY_MASK", "1"}}), "(whether numbers mean GPUs or their tiles depends on the driver: ZE_FLAT_DEVICE_HIERARCHY is not COMPOSITE)");
    EXPECT_EQ(seen(node, {{"ZE_AFFINITY_MASK", "1"}, {"ZE_FLAT_DEVICE_HIERARCHY", "COMPOSITE"}}), "1");
    EXPECT_EQ(seen(node, {{"ZE_AFFINITY_MASK", "1.1"}}), "1");
}

TEST(VisibleDevices, SeveralMakers) {
    NodeTopology node = gpus(2);
    node.gpus[1].vendor = "AMD";
    node.gpus[1].name = node.gpus[0].name;
    EXPECT_EQ(seen(node, {{"CUDA_VISIBLE_DEVICES", "0"}}), "(the node has GPUs of several makers, which number theirs apart)");
    EXPECT_EQ(seen(node, {{"SLURM_STEP_GPUS", "0,1"}}), "(the node has GPUs of several makers, which number theirs apart)");
}

}  // namespace
}  // namespace paced::placement
