// SPDX-License-Identifier: BSD-3-Clause
// Relation: how far a GPU and a NIC are apart, in the words of `nvidia-smi topo -m`. Nearer is smaller.
#pragma once

#include <optional>
#include <string_view>

namespace paced::topology {

enum class Relation {
    pix,   // PIX   one PCIe switch (or one bridge) between them
    pxb,   // PXB   several bridges, all below one root port
    phb,   // PHB   one host bridge
    node,  // NODE  one NUMA node, different host bridges
    pkg,   // PKG   one package, different NUMA nodes
    sys,   // SYS   across packages, or it is not known where one of them is
};

std::string_view to_string(Relation relation);
std::optional<Relation> parse_relation(std::string_view text);
// "one PCIe switch"; for reasons and tables.
std::string_view describe(Relation relation);

}  // namespace paced::topology
