// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <cstdint>

#include "policy/io/toml_scenario.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    paced::Diagnostics diagnostics;
    (void)paced::io::parse_scenario({reinterpret_cast<const char*>(data), size}, "scenario.toml", {}, diagnostics);
    (void)paced::format(diagnostics);
    return 0;
}
