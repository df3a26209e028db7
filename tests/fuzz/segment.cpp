// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <cstdint>
#include <span>

#include "policy/io/segment_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    (void)paced::io::parse_node(std::as_bytes(std::span(data, size)));
    return 0;
}
