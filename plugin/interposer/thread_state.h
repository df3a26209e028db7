// SPDX-License-Identifier: BSD-3-Clause
// What each thread of the host carries for us: as little as possible, since a preloaded library's initial-exec TLS comes
// out of a small reserve that other libraries need too.
#pragma once

#include <cstdint>

#include "plugin/interposer/mpi/words.h"

namespace paced::interposer {

// Members of a Gloo context that is being connected by this thread (gloo/contexts.cpp).
struct Meeting {
    std::uint64_t sum;
    int own;
    std::uint32_t others;
    bool open;
};

struct ThreadState {
    bool inside;              // in a wrapped function: what the library calls of itself is not the host's call
    std::uint32_t type_size;  // of type; the last predefined datatype seen
    word type;
    Meeting meeting;
};

extern __thread ThreadState thread_state __attribute__((tls_model("initial-exec")));

}  // namespace paced::interposer
