// SPDX-License-Identifier: BSD-3-Clause
// Any format: what recognises it, and the readers without a target of their own.
#include <cstddef>
#include <cstdint>

#include "policy/io/fabric_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    paced::Diagnostics diagnostics;
    (void)paced::io::parse_fabric({reinterpret_cast<const char*>(data), size}, "/nonexistent/fabric", diagnostics);
    (void)paced::format(diagnostics);
    return 0;
}
