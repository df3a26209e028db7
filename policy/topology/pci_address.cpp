// SPDX-License-Identifier: BSD-3-Clause
#include "policy/topology/pci_address.h"

#include <charconv>
#include <cstdio>

#include "policy/base/text.h"

namespace paced::topology {

std::string to_string(const PciAddress& address) {
    char text[32];
    std::snprintf(text, sizeof text, "%04x:%02x:%02x.%x", address.domain, address.bus, address.device, address.function);
    return text;
}

namespace {

std::optional<std::uint32_t> parse_hex(std::string_view text, std::size_t max_digits, std::uint32_t limit) {
    std::uint32_t value = 0;
    if (text.empty() || text.size() > max_digits) return std::nullopt;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    if (error != std::errc{} || end != text.data() + text.size() || value > limit) return std::nullopt;
    return value;
}

}  // namespace

std::optional<PciAddress> parse_pci_address(std::string_view text) {
    const auto parts = split(text, ':');
    if (parts.size() < 2 || parts.size() > 3) return std::nullopt;
    std::string_view slot = parts.back();
    std::optional<std::uint32_t> function = 0;
    if (const auto dot = slot.find('.'); dot != std::string_view::npos) {
        function = parse_hex(slot.substr(dot + 1), 1, 7);
        slot = slot.substr(0, dot);
    }
    const auto domain = parts.size() == 3 ? parse_hex(parts[0], 8, 0xffffffff) : std::optional<std::uint32_t>(0);
    const auto bus = parse_hex(parts[parts.size() - 2], 2, 0xff);
    const auto device = parse_hex(slot, 2, 0x1f);
    if (!domain || !bus || !device || !function) return std::nullopt;
    return PciAddress{*domain, static_cast<std::uint8_t>(*bus), static_cast<std::uint8_t>(*device), static_cast<std::uint8_t>(*function)};
}

}  // namespace paced::topology
