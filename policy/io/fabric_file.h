// SPDX-License-Identifier: BSD-3-Clause
// A fabric from a file of any format that we know, told by its content and not by its name.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "policy/base/diagnostics.h"
#include "policy/topology/fabric_topology.h"

namespace paced::io {

enum class FabricFormat {
    topology_conf,        // Slurm
    topology_yaml,        // Slurm 25.05 and later
    scontrol,             // scontrol show topology
    ibnetdiscover,        // blocks
    ibnetdiscover_ports,  // -p
    topograph_model,
    lingjun_csv,
    netq_json,
    node_guids,  // known, and refused by name, as are the two below
    iblinkinfo,
    xml,
    unknown,
};

// By the first line that holds anything; of YAML by its keys. file: its name decides only where the text is empty.
FabricFormat recognise_fabric(std::string_view text, const std::string& file = {});

// Reads it and the files that it includes. nullopt: diagnostics say why, a format that is known and not read by its name.
// name: of a topology in a topology.yaml; empty: the cluster's default. A format without names takes none.
std::optional<topology::FabricTopology> read_fabric_file(const std::string& path, Diagnostics& diagnostics, std::string_view name = {});

// The same for a text; file names it in diagnostics, and includes are looked for beside it.
std::optional<topology::FabricTopology> parse_fabric(std::string_view text, const std::string& file, Diagnostics& diagnostics,
                                                     std::string_view name = {});

}  // namespace paced::io
