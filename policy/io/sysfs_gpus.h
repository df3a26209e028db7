// SPDX-License-Identifier: BSD-3-Clause
// What the drivers of GPUs tell in /proc and /sys: their names, UUIDs, and into how many logical devices each is cut.
// Sources: NVIDIA's driver README ("Using the /proc File System Interface") and MIG user guide (/proc/driver/nvidia/capabilities); the
// kernel's amdgpu documentation (current_compute_partition, unique_id) and its KFD topology, one node for each part of a GPU.
#pragma once

#include <string>
#include <string_view>

#include "policy/topology/node_topology.h"

namespace paced::io {

// Adds it to the GPUs of node. root is the folder that holds sys and proc: "/", or a made-up one in tests.
void add_gpu_facts(topology::NodeTopology& node, const std::string& root);

// "GPU-" and 16 hexadecimal digits of an AMD device, from its digits ("5f3e..." or "0x5f3e..."); empty: not such a number, or 0.
std::string amd_uuid(std::string_view digits);

}  // namespace paced::io
