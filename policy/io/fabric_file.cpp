// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/fabric_file.h"

#include "policy/io/topology_conf.h"

namespace paced::io {

std::optional<topology::FabricTopology> read_fabric_file(const std::string& path, Diagnostics& diagnostics) {
    return read_topology_conf(path, diagnostics);
}

}  // namespace paced::io
