// SPDX-License-Identifier: BSD-3-Clause
// NodeTopology from the topology XML of NCCL and RCCL: what NCCL_TOPO_DUMP_FILE writes, and what clouds hand out for NCCL_TOPO_FILE.
//
// Each <cpu> is a NUMA node with one host bridge, so that two devices below it without a common bridge are PHB; across them all is SYS,
// since packages are not told. A GPU is what has a <gpu> or the class of one, a NIC what has a <net> or the class of one; a <net> without
// PCI is a NIC known by its name. What else there is (NVLinks, switches' speeds, ranks) is left out.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "policy/base/diagnostics.h"
#include "policy/topology/node_topology.h"

namespace paced::io {

// file is the name of the text in diagnostics. nullopt, with at least one error: it cannot be used. Warnings may come with an answer.
std::optional<topology::NodeTopology> parse_nccl_xml(std::string_view text, const std::string& file, Diagnostics& diagnostics);

}  // namespace paced::io
