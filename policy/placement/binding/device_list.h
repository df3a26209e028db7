// SPDX-License-Identifier: BSD-3-Clause
// The value of one variable such as CUDA_VISIBLE_DEVICES, read against the devices that it chooses from.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/placement/visible_devices.h"

namespace paced::placement {

struct DeviceList {
    std::vector<DeviceEntry> entries;  // up to the first that is invalid
    std::string cut_at;                // that one, or empty; the maker's library shows nothing from there on
    bool numbers = true;               // entries are numbers, so the list means something else against other devices
    bool parts = false;                // entries are MIG devices
    std::string doubt;                 // what cannot be told; then entries count for nothing
};

// choice: the devices in the order in which numbers count them. tiles: "0.1" chooses a part of 0 (ZE_AFFINITY_MASK).
DeviceList read_device_list(const topology::NodeTopology& node, std::string_view text, const std::vector<topology::GpuIndex>& choice,
                            bool tiles = false);

}  // namespace paced::placement
