// SPDX-License-Identifier: BSD-3-Clause
// An MPI of two ranks that answers what the recorder asks, so that the recorder runs without one. Handles are MPICH's.
#pragma once

#include <algorithm>
#include <memory>

#include "plugin/interposer/process.h"

namespace paced::test {

inline constexpr interposer::word fake_world = 0x44000000, fake_double = 0x4c00080b;

inline interposer::Library fake_library() {
    interposer::Library library{};
    library.family = interposer::Family::mpich;
    library.world = fake_world;
    library.no_type = 0x0c000000;
    library.comm_rank = [](interposer::word, int* rank) { return *rank = 0; };
    library.comm_size = [](interposer::word, int* size) { return *size = 2, 0; };
    library.comm_test_inter = [](interposer::word, int* flag) { return *flag = 0; };
    library.comm_group = [](interposer::word, interposer::word* group) { return *group = 1, 0; };
    library.group_translate_ranks = [](interposer::word, int count, const int* from, interposer::word, int* to) { return std::copy(from, from + count, to), 0; };
    library.group_free = [](interposer::word*) { return 0; };
    library.type_size = [](interposer::word, int* size) { return *size = 8, 0; };
    return library;
}

// Makes this process an engaged rank with a slot in plain memory; the slot.
inline segment::Slot& engage_with_fake_mpi() {
    static interposer::Library library = fake_library();
    static const auto slot = std::make_unique<segment::Slot>();
    static interposer::Process process{1, 0, &library, slot.get(), nullptr, false};
    interposer::process_page = &process;
    return *slot;
}

}  // namespace paced::test
