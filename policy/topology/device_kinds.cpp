// SPDX-License-Identifier: BSD-3-Clause
#include "policy/topology/device_kinds.h"

#include <algorithm>
#include <array>
#include <utility>

namespace paced::topology {

namespace {

constexpr std::uint16_t nvidia = 0x10de, amd = 0x1002, intel = 0x8086, qlogic = 0x1077, pathscale = 0x1fc1;
constexpr std::uint16_t cornelis = 0x434e, cray = 0x17db, amazon = 0x1d0f;

constexpr std::uint16_t vga = 0x0300, display_3d = 0x0302, display_other = 0x0380, accelerator = 0x1200;
constexpr std::uint16_t ethernet = 0x0200, infiniband = 0x0207, fabric = 0x0208, network_other = 0x0280;
constexpr std::uint16_t serial_infiniband = 0x0c06;  // before 0x0207 existed: ConnectX-2, QLogic qib

// ATI's chips that servers carried for their console alone: Rage XL, Radeon 7000 (RV100), ES1000 (RN50).
constexpr std::array<std::uint16_t, 9> ati_consoles{0x4749, 0x474d, 0x474f, 0x4750, 0x4752, 0x5159, 0x515e, 0x515f, 0x5969};

bool is_display(std::uint16_t class_code) {
    return class_code == vga || class_code == display_3d || class_code == display_other;
}

bool is_omni_path(const PciNumbers& numbers, const NicHints& hints) {
    if (numbers.class_code == fabric && (numbers.vendor == intel || numbers.vendor == cornelis)) return true;
    return std::any_of(hints.rdma_names.begin(), hints.rdma_names.end(), [](const std::string& name) { return name.starts_with("hfi1"); });
}

}  // namespace

std::optional<std::string_view> gpu_vendor(const PciNumbers& numbers, bool behind_bridge) {
    const bool display = is_display(numbers.class_code);
    switch (numbers.vendor) {
        case nvidia:
            if (display) return "NVIDIA";
            break;
        case amd: {
            const bool console =
                numbers.class_code == vga && std::find(ati_consoles.begin(), ati_consoles.end(), numbers.device) != ati_consoles.end();
            if ((display || numbers.class_code == accelerator) && !console) return "AMD";
            break;
        }
        case intel:
            // The CPU's own graphics sit on the root bus as VGA; cards (Flex, Max, Arc) behind a bridge.
            if (display && (numbers.class_code != vga || behind_bridge)) return "Intel";
            break;
        default:
            break;
    }
    return std::nullopt;
}

std::optional<NicKind> nic_kind(const PciNumbers& numbers, const NicHints& hints) {
    const bool rdma = !hints.rdma_names.empty();
    switch (numbers.class_code) {
        case ethernet:
        case infiniband:
        case fabric:
        case serial_infiniband:
            break;
        // "Other network controller" holds ConnectX-3, but radios and management functions too.
        case network_other:
            if (!rdma && !hints.has_netdev) return std::nullopt;
            break;
        default:
            return std::nullopt;
    }
    if (numbers.vendor == amazon && (numbers.device & 0xfff0) == 0xefa0) return NicKind::efa;
    if (numbers.vendor == cray) return NicKind::slingshot;
    if (is_omni_path(numbers, hints)) return NicKind::omni_path;
    if (hints.infiniband_link) return *hints.infiniband_link ? NicKind::infiniband : NicKind::roce;
    if (numbers.class_code == infiniband || numbers.class_code == serial_infiniband) return NicKind::infiniband;
    if (!rdma) return NicKind::ethernet;
    const bool true_scale = numbers.vendor == qlogic || numbers.vendor == pathscale;
    return hints.has_infiniband_address || true_scale ? NicKind::infiniband : NicKind::roce;
}

std::optional<NicKind> kind_of_name(std::string_view name) {
    // The kernel drivers' own names, and those that rdma-core makes of link layer and place: ibp12s0, rocep12s0f1, rdmap12s0 (neither of
    // the two: EFA). The first that fits counts.
    static constexpr std::array<std::pair<std::string_view, NicKind>, 21> beginnings{{
        {"mlx5_bond", NicKind::roce}, {"mlx5_", NicKind::rdma},    {"mlx4_", NicKind::rdma},      {"mthca", NicKind::infiniband},
        {"qib", NicKind::infiniband}, {"ib", NicKind::infiniband}, {"hfi1_", NicKind::omni_path}, {"opap", NicKind::omni_path},
        {"cxi", NicKind::slingshot},  {"hsn", NicKind::slingshot}, {"rdmap", NicKind::efa},       {"efa", NicKind::efa},
        {"roce", NicKind::roce},      {"bnxt_re", NicKind::roce},  {"irdma", NicKind::roce},      {"i40iw", NicKind::roce},
        {"qedr", NicKind::roce},      {"erdma", NicKind::roce},    {"mana_", NicKind::roce},      {"ionic_", NicKind::roce},
        {"hns_", NicKind::roce},
    }};
    for (const auto& [beginning, kind] : beginnings)
        if (name.starts_with(beginning)) return kind;
    return std::nullopt;
}

}  // namespace paced::topology
