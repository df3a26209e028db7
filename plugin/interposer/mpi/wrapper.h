// SPDX-License-Identifier: BSD-3-Clause
// What the generated wrappers have in common: a way to the real function, and macros that spell one function in C and in
// the manglings of Fortran. A wrapper does its work around the real call and is no frame to stop at: no noexcept, no
// destructor, so that a host that throws, longjmps or is cancelled inside MPI passes through.
#pragma once

#include "plugin/interposer/mpi/library.h"
#include "plugin/interposer/mpi/words.h"

#define PACED_EXPORT extern "C" __attribute__((visibility("default")))

#define PACED_CAT_(a, b) a##b
#define PACED_CAT(a, b) PACED_CAT_(a, b)
#define PACED_NEXT_1 2
#define PACED_NEXT_2 3
#define PACED_NEXT_3 4
#define PACED_NEXT_4 5
#define PACED_NEXT_5 6
#define PACED_NEXT_6 7
#define PACED_NEXT_7 8
#define PACED_NEXT_8 9
#define PACED_NEXT_9 10
#define PACED_NEXT_10 11
#define PACED_NEXT_11 12

#define PACED_PARAMETERS(count) PACED_CAT(PACED_PARAMETERS_, count)
#define PACED_ARGUMENTS(count) PACED_CAT(PACED_ARGUMENTS_, count)

#define PACED_IF_0(...)
#define PACED_IF_1(...) __VA_ARGS__

// The Fortran spellings: FORTRAN(symbol, is large) once for each. Open MPI has f08_ symbols; MPICH f08_ where there is
// no choice buffer and f08ts_ (descriptors instead of addresses) where there is one, with a large twin.
#define PACED_FORTRAN_SPELLINGS(name, NAME, large, FORTRAN)                                            \
    FORTRAN(mpi_##name##_, 0)                                                                          \
    FORTRAN(mpi_##name, 0)                                                                             \
    FORTRAN(mpi_##name##__, 0)                                                                         \
    FORTRAN(MPI_##NAME, 0)                                                                             \
    FORTRAN(mpi_##name##_f08_, 0)                                                                      \
    FORTRAN(mpi_##name##_f08ts_, 0)                                                                    \
    PACED_IF_##large(FORTRAN(mpi_##name##_f08ts_large_, 1))

namespace paced::interposer {

template <class... Words>
int call_c(Real& real, const char* name, const void* caller, Words... words) {
    const auto function = reinterpret_cast<int (*)(Words...)>(real.get(name, caller));
    return function != nullptr ? function(words...) : no_such_function;
}

// ierror is the last argument; in mpi_f08 it may be absent.
inline void set_error(word ierror) {
    if (ierror != 0) *reinterpret_cast<int*>(ierror) = no_such_function;
}
inline bool succeeded(word ierror) { return ierror == 0 || *reinterpret_cast<const int*>(ierror) == 0; }

template <class... Words>
void call_fortran(Real& real, const char* name, const void* caller, word ierror, Words... words) {
    const auto function = reinterpret_cast<void (*)(Words...)>(real.get(name, caller));
    if (function != nullptr) {
        function(words...);
    } else {
        set_error(ierror);
    }
}

}  // namespace paced::interposer
