// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <cstdint>

#include "policy/topology/host_list.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    (void)paced::topology::expand_hosts({reinterpret_cast<const char*>(data), size});
    return 0;
}
