// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <cstdint>

#include "policy/io/topograph_model.h"
#include "policy/io/topology_yaml.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    paced::Diagnostics diagnostics;
    (void)paced::io::parse_topology_yaml(text, "topology.yaml", {}, diagnostics);
    (void)paced::io::parse_topograph_model(text, "model.yaml", diagnostics);
    (void)paced::format(diagnostics);
    return 0;
}
