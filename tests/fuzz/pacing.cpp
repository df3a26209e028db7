// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <cstdint>
#include <span>

#include "policy/io/pacing_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = std::as_bytes(std::span(data, size));
    (void)paced::io::parse_pacing(bytes);
    paced::report::PacingTrace trace;
    (void)paced::io::parse_pacing_blocks(bytes, trace);
    return 0;
}
