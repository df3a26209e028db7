// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <cstdint>

#include "policy/io/ibnetdiscover.h"
#include "policy/topology/switch_graph.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    for (const auto parse : {paced::io::parse_ibnetdiscover, paced::io::parse_ibnetdiscover_ports}) {
        paced::Diagnostics diagnostics;
        if (const auto graph = parse(text, "fabric", diagnostics)) {
            const auto fabric = paced::topology::fabric_of(*graph, "fabric", diagnostics);
            for (const auto& host : graph->hosts)
                if (!host.leaves.empty() && !fabric.leaf_of(host.name)) __builtin_trap();
        }
        (void)paced::format(diagnostics);
    }
    return 0;
}
