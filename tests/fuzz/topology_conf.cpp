// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <cstdint>

#include "policy/io/topology_conf.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    paced::Diagnostics diagnostics;
    (void)paced::io::parse_topology_conf({reinterpret_cast<const char*>(data), size}, "/nonexistent/topology.conf", diagnostics);
    (void)paced::format(diagnostics);
    return 0;
}
