// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "policy/io/nccl_xml.h"
#include "policy/io/snapshot.h"

// Whatever is read must come back from a snapshot as it was.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    paced::Diagnostics diagnostics;
    const auto node = paced::io::parse_nccl_xml({reinterpret_cast<const char*>(data), size}, "f", diagnostics);
    (void)paced::format(diagnostics);
    if (node.has_value() == diagnostics.has_errors()) std::abort();
    if (!node) return 0;
    const std::string snapshot = paced::io::write_snapshot(*node);
    const auto again = paced::io::read_snapshot(snapshot);
    if (!again || paced::io::write_snapshot(*again) != snapshot) std::abort();
    return 0;
}
