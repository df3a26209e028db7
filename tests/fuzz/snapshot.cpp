// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <cstdint>

#include "policy/io/snapshot.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    (void)paced::io::read_snapshot({reinterpret_cast<const char*>(data), size});
    return 0;
}
