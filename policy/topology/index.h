// SPDX-License-Identifier: BSD-3-Clause
// Types of their own for numbers that are easily swapped: which GPU, which NIC, which switch. Each indexes the
// vector of its topology; all count from 0.
#pragma once

#include <cstdint>

namespace paced::topology {

enum class GpuIndex : std::uint32_t {};  // GPUs of a node in the order of their PCI addresses
enum class NicIndex : std::uint32_t {};  // NICs of a node, likewise
enum class SwitchIndex : std::uint32_t {};

constexpr std::size_t to_index(GpuIndex gpu) {
    return static_cast<std::size_t>(gpu);
}
constexpr std::size_t to_index(NicIndex nic) {
    return static_cast<std::size_t>(nic);
}
constexpr std::size_t to_index(SwitchIndex fabric_switch) {
    return static_cast<std::size_t>(fabric_switch);
}

}  // namespace paced::topology
