// SPDX-License-Identifier: BSD-3-Clause
// Which GPUs the tasks of a node get, where they may choose.
#pragma once

#include <vector>

#include "policy/placement/binding/near_nics.h"

namespace paced::placement {

// The best `count` of these GPUs, in their order: the worst path first, then the sum of paths, then the load of NICs, then PCI
// address. near: of each GPU of the node; gpus: in the order of comes_before.
std::vector<topology::GpuIndex> best_gpus(const topology::NodeTopology& node, const std::vector<NearNics>& near,
                                          const std::vector<topology::GpuIndex>& gpus, std::size_t count);

// The GPU of each task. As many tasks as GPUs or fewer: each one of its own. More: the parts of partitioned GPUs first,
// then all are shared, as evenly as can be, and the best ones take what is left over. Tasks are numbered as programs number
// the devices that they see: along the GPUs, the parts of one together; then from the start again.
std::vector<topology::GpuIndex> gpus_of_tasks(const topology::NodeTopology& node, const std::vector<NearNics>& near,
                                              const std::vector<topology::GpuIndex>& gpus, std::size_t tasks);

}  // namespace paced::placement
