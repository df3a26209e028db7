// SPDX-License-Identifier: BSD-3-Clause
// Which GPUs the tasks of a step may use and in which order they see them, from the variables that say so. Pure: the variables
// come in as a value, and the GPUs are told apart by PCI address. Where anything is in doubt, nothing is known.
// Sources: "CUDA_VISIBLE_DEVICES" in NVIDIA's CUDA programming guide (environment variables); ROCm's "GPU isolation
// techniques"; Level Zero's specification (ZE_AFFINITY_MASK, ZE_FLAT_DEVICE_HIERARCHY); Slurm's gres documentation.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/base/environment.h"
#include "policy/topology/node_topology.h"

namespace paced::placement {

// The position of a device among those that a process sees: what cudaSetDevice takes. Neither the number of a GPU in its node
// (topology::GpuIndex) nor the local id of a task.
enum class VisibleIndex : std::size_t {};

// One entry of a variable that lists devices, as text, and the GPU that it stands for.
struct DeviceEntry {
    std::string text;
    topology::GpuIndex gpu{};

    friend bool operator==(const DeviceEntry&, const DeviceEntry&) = default;
};

// A variable by which Slurm shows a task devices of its own (--gpus-per-task, --gpu-bind).
struct DeviceVariable {
    std::string name;
    std::optional<std::string> value;  // of the whole step; nullopt: unset
    std::vector<DeviceEntry> entries;  // what can stand in it for one task; empty: not to be told

    friend bool operator==(const DeviceVariable&, const DeviceVariable&) = default;
};

struct VisibleDevices {
    std::vector<topology::GpuIndex> gpus;   // by VisibleIndex; a GPU of several parts once for each part
    std::string doubt;                      // why nothing is known, a sentence without full stop; then the lists are empty
    std::string no_position;                // why it is not known which of them a task uses that sees all; empty: by its local id
    std::string source;                     // "CUDA_VISIBLE_DEVICES=0,1"; empty: nothing restricts the step
    std::vector<DeviceVariable> variables;  // whose values tell whether a task sees what the step sees; the surest first

    bool known() const { return doubt.empty(); }
    topology::GpuIndex at(VisibleIndex index) const { return gpus[static_cast<std::size_t>(index)]; }
};

// environment: of the step. SLURM_STEP_GPUS (or SLURM_JOB_GPUS) counts the node's GPUs in the order of PCI addresses; the
// others may count within them (ConstrainDevices), and where both readings are possible and differ, that is a doubt.
// slurm_gives_gpus: the site has Slurm hand out GPUs, so that a step without any has none.
VisibleDevices visible_devices(const topology::NodeTopology& node, const Environment& environment, bool slurm_gives_gpus = false);

}  // namespace paced::placement
