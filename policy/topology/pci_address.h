// SPDX-License-Identifier: BSD-3-Clause
// PciAddress: where a device sits on PCI, and its one spelling everywhere: full and lower case, "0000:06:00.0".
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace paced::topology {

struct PciAddress {
    std::uint32_t domain = 0;  // more than 16 bits behind Intel VMD and on some virtual machines
    std::uint8_t bus = 0;
    std::uint8_t device = 0;    // 5 bits
    std::uint8_t function = 0;  // 3 bits

    friend auto operator<=>(const PciAddress&, const PciAddress&) = default;
};

// "0000:06:00.0"; the domain has four digits, or as many as it needs.
std::string to_string(const PciAddress& address);

// Either case; a missing domain is 0 ("06:00.0"), and so is a missing function ("0000:06:00", as NVML and nvidia-smi
// write at times). nullopt for anything else.
std::optional<PciAddress> parse_pci_address(std::string_view text);

}  // namespace paced::topology
