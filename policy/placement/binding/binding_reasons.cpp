// SPDX-License-Identifier: BSD-3-Clause
#include "policy/placement/binding/binding_reasons.h"

#include <algorithm>
#include <iterator>

#include "policy/base/text.h"

namespace paced::placement {

namespace {

using namespace paced::topology;

std::string labels(const NodeTopology& node, const std::vector<NicIndex>& nics) {
    std::vector<std::string> names;
    for (NicIndex nic : nics) names.push_back(label(node.nic(nic)));
    return join(names, ", ");
}

std::string distance(Relation relation) { return std::string(to_string(relation)) + ": " + std::string(describe(relation)); }

std::string gpu_label(const NodeTopology& node, GpuIndex gpu) {
    const auto& pci = node.gpu(gpu).place.pci;
    return "GPU " + (pci ? to_string(*pci) : std::to_string(to_index(gpu)));
}

bool is_used(const std::vector<TaskBinding>& tasks, GpuIndex gpu) {
    return std::any_of(tasks.begin(), tasks.end(), [&](const TaskBinding& task) { return task.gpu == gpu; });
}

std::string path_words(const NearNics& near) {
    if (!near.relation) return "no NIC";
    return near.usable.empty() ? "all near links are down" : std::string(to_string(*near.relation));
}

// The tasks that have this NIC, but for one.
std::vector<std::string> users_of(const std::vector<TaskBinding>& tasks, NicIndex nic, int but) {
    std::vector<std::string> users;
    for (const TaskBinding& task : tasks)
        if (task.task != but && std::find(task.nics.begin(), task.nics.end(), nic) != task.nics.end()) users.push_back(std::to_string(task.task));
    return users;
}

std::string load_words(const std::vector<std::string>& users) {
    if (users.empty()) return "idle";
    return "with task" + std::string(users.size() == 1 ? " " : "s ") + join(users, ", ");
}

// The next best NIC after those that the task has.
void explain_runner_up(const Choices& choices, const std::vector<TaskBinding>& tasks, const NearNics& near, TaskBinding& task) {
    for (NicIndex nic : near.usable) {
        if (std::find(task.nics.begin(), task.nics.end(), nic) != task.nics.end()) continue;
        task.reasons.push_back("runner-up: " + label(choices.node.nic(nic)) + ", as near, " + load_words(users_of(tasks, nic, task.task)));
        return;
    }
    if (!near.next.empty())
        task.reasons.push_back("runner-up: " + label(choices.node.nic(near.next.front())) + ", farther (" + distance(*near.next_relation) + ')');
}

}  // namespace

void explain_gpu(const Choices& choices, const std::vector<TaskBinding>& tasks, TaskBinding& task) {
    if (choices.by_position) return;
    const NodeTopology& node = choices.node;
    const auto sharing = std::count_if(tasks.begin(), tasks.end(), [&](const TaskBinding& each) { return each.gpu == task.gpu; });
    const int parts = std::max(1, node.gpu(task.gpu).partitions);
    if (parts > 1 && sharing <= parts)
        task.reasons.push_back("this GPU is " + std::to_string(parts) + " devices, and has " + count_of(sharing, "task"));
    else if (sharing > 1)
        task.reasons.push_back("this GPU is shared by " + count_of(sharing, "task") + ": there are " + std::to_string(tasks.size()) +
                               " for " + count_of(static_cast<long long>(choices.may_use.size()), "GPU"));
    // The first of those that nobody got: no better path, or it would have been taken.
    const NearNics& near = choices.near[to_index(task.gpu)];
    for (GpuIndex other : choices.may_use) {
        if (is_used(tasks, other)) continue;
        const NearNics& its = choices.near[to_index(other)];
        task.reasons.push_back("runner-up: " + gpu_label(node, other) +
                               (its.path_cost() > near.path_cost() ? ", whose way to its NIC is longer (" + path_words(its) + " and not " + path_words(near) + ')'
                                                                   : ", with as short a way to its NIC; the choice spreads the load over NICs, then goes by PCI address"));
        return;
    }
}

void explain_nics(const Choices& choices, const std::vector<TaskBinding>& tasks, TaskBinding& task) {
    const NodeTopology& node = choices.node;
    const NearNics& near = choices.near[to_index(task.gpu)];
    if (near.candidates.empty()) {
        task.reasons.push_back("the node has no NIC");
        return;
    }
    const std::string kind = std::string(to_string(class_of(node.nic(near.candidates.front()).kind))) + " NIC";
    const std::string where = " (" + distance(*near.relation) + ')';
    const std::string count = std::to_string(near.candidates.size());
    if (near.nic_down()) {
        task.reasons.push_back(near.down.size() == 1 ? "the link of " + labels(node, near.down) + ", the nearest " + kind + where + ", is down: no variable will name it"
                                                     : "the links of " + labels(node, near.down) + ", the nearest " + kind + "s" + where + ", are down: no variable will name them");
        return;
    }
    const std::string names = labels(node, task.nics);
    if (near.candidates.size() == 1)
        task.reasons.push_back(names + " is the nearest " + kind + where);
    else if (near.usable.size() == 1 && near.slow.empty())
        task.reasons.push_back(names + " is the only one of " + count + " nearest " + kind + "s" + where + " whose link is not down");
    else if (near.usable.size() == 1)
        task.reasons.push_back(names + " is the fastest of " + count + " nearest " + kind + "s" + where);
    else if (task.nics.size() > 1)
        task.reasons.push_back(names + " are of the " + count + " nearest " + kind + "s" + where + ", as many as each task can have alone");
    else
        task.reasons.push_back(names + " is one of " + count + " nearest " + kind + "s" + where + ", taken for balance");
    if (!near.down.empty()) task.reasons.push_back("passed over because the link is down: " + labels(node, near.down));
    if (!near.slow.empty()) task.reasons.push_back("passed over because it is slower: " + labels(node, near.slow));
    explain_runner_up(choices, tasks, near, task);
}

std::vector<std::string> nic_warnings(const NodeTopology& node, const std::vector<NicIndex>& eligible, const std::vector<NearNics>& near) {
    std::vector<std::string> warnings;
    std::vector<NicIndex> down, slow;
    for (NicIndex nic : eligible) {
        if (node.nic(nic).state == LinkState::down) down.push_back(nic);
        if (std::any_of(near.begin(), near.end(), [&](const NearNics& its) { return std::find(its.slow.begin(), its.slow.end(), nic) != its.slow.end(); }))
            slow.push_back(nic);
    }
    if (!down.empty())
        warnings.push_back((down.size() == 1 ? "the link of this NIC is down: " : "the links of these NICs are down: ") + labels(node, down));
    if (!slow.empty())
        warnings.push_back((slow.size() == 1 ? "this NIC is slower than others as near, and passed over: "
                                             : "these NICs are slower than others as near, and passed over: ") +
                           labels(node, slow));
    return warnings;
}

}  // namespace paced::placement
