// SPDX-License-Identifier: BSD-3-Clause
// What each task of a node gets: a GPU, the NICs near it, the cores near it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "policy/topology/node_topology.h"

namespace paced::placement {

struct TaskBinding {
    int task = 0;                                // local id
    topology::GpuIndex gpu{};
    std::vector<topology::NicIndex> nics;        // what the task gets, best first; empty: the node has no NIC
    std::vector<topology::NicIndex> candidates;  // every NIC at the best distance within the best class, by PCI address
    std::optional<topology::Relation> relation;  // of all candidates
    bool nic_down = false;                       // every candidate's link is down: no variable names them
    topology::CpuSet cpus;                       // local to the GPU, within what the task may use; all threads of each core
    std::optional<int> numa;                     // of the GPU
    std::vector<std::string> reasons;            // sentences without full stop: why this one, and the runner-up
};

struct NodeBinding {
    std::vector<TaskBinding> tasks;     // by task; none: no GPU may be used
    std::vector<std::string> warnings;  // about the node: links that are down, slow, ...
};

struct BindingRequest {
    int tasks = 0;                                               // 0: one for each GPU that may be used
    int gpus = 0;                                                // use at most so many, the best ones; 0: all
    // That may be used; nullopt: all. With by_position a GPU stands in it once for each of its parts that may be used.
    std::optional<std::vector<topology::GpuIndex>> visible = {};
    bool by_position = false;                                    // task i uses visible[i], as programs do that take their local rank for the device
    std::optional<topology::CpuSet> cpus = {};                   // that may be used; nullopt: all
};

// Minimises the worst path between a task's GPU and its NIC, then the sum of paths, then the load of the busiest NIC
// within each set of tasks that share near NICs; ties by fewest assignments, then by PCI address. The same input gives
// the same binding, whatever the order of devices in it. docs/binding.md has the rules in words.
NodeBinding bind_tasks(const topology::NodeTopology& node, const BindingRequest& request = {});

}  // namespace paced::placement
