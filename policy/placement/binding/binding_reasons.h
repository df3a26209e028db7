// SPDX-License-Identifier: BSD-3-Clause
// Why a binding is as it is, in words.
#pragma once

#include <string>
#include <vector>

#include "policy/placement/binding.h"
#include "policy/placement/binding/near_nics.h"

namespace paced::placement {

struct Choices {
    const topology::NodeTopology& node;
    const std::vector<NearNics>& near;              // of each GPU of the node
    const std::vector<topology::GpuIndex>& may_use;  // the GPUs that there were to choose from
    bool by_position;
};

// Each adds to task.reasons; tasks: all of the node, with what they get.
void explain_gpu(const Choices& choices, const std::vector<TaskBinding>& tasks, TaskBinding& task);
void explain_nics(const Choices& choices, const std::vector<TaskBinding>& tasks, TaskBinding& task);

// Links that are down, and NICs that some GPU passes over because they are slower than others as near.
std::vector<std::string> nic_warnings(const topology::NodeTopology& node, const std::vector<topology::NicIndex>& eligible,
                                      const std::vector<NearNics>& near);

}  // namespace paced::placement
