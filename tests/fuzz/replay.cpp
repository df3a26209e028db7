// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <cstdint>

#include "policy/io/compute_replay.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    paced::Diagnostics diagnostics;
    (void)paced::io::parse_compute_replay({reinterpret_cast<const char*>(data), size}, "replay.csv", diagnostics);
    (void)paced::format(diagnostics);
    return 0;
}
