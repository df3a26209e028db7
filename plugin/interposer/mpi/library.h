// SPDX-License-Identifier: BSD-3-Clause
// The MPI library of this process, found at run time: what the host's calls are forwarded to, and the few local
// functions that we ask ourselves. Nothing is linked, nothing is loaded; a process without MPI has no Library.
#pragma once

#include <atomic>
#include <cstdint>

#include "plugin/interposer/mpi/shape.h"

namespace paced::interposer {

enum class Family {
    open_mpi,  // handles are pointers; Fortran has its own integers
    mpich,     // the MPICH ABI (MPICH, Intel MPI, MVAPICH, Cray): handles are ints, the same in Fortran
};

// Only functions that are local by the standard: never a message over MPI.
struct Library {
    Family family;
    word world;      // MPI_COMM_WORLD
    word no_comm;    // MPI_COMM_NULL
    word no_type;    // MPI_DATATYPE_NULL
    char name[64];   // "Open MPI 4.1.4"
    word image_begin, image_end;      // of the library: where Open MPI's predefined datatypes lie,
    word program_begin, program_end;  // or here, by copy relocation

    int (*comm_rank)(word, int*);
    int (*comm_size)(word, int*);
    int (*comm_group)(word, word*);
    int (*comm_test_inter)(word, int*);
    int (*group_translate_ranks)(word, int, const int*, word, int*);
    int (*group_free)(word*);
    int (*type_size)(word, int*);
    int (*initialized)(int*);
    int (*query_thread)(int*);  // may be missing
    word (*comm_f2c)(int);  // Open MPI alone
    int (*comm_c2f)(word);
    word (*type_f2c)(int);

    // What a program passes, as the word that names the object: MPICH's upper half is undefined.
    word handle(word argument) const { return family == Family::mpich ? argument & 0xffff'ffff : argument; }
    // What lies in a handle variable of C.
    word handle_at(const void* variable) const {
        return family == Family::mpich ? *static_cast<const std::uint32_t*>(variable) : *static_cast<const word*>(variable);
    }
    word comm_from_fortran(int value) const { return family == Family::mpich ? static_cast<std::uint32_t>(value) : comm_f2c(value); }
    word type_from_fortran(int value) const { return family == Family::mpich ? static_cast<std::uint32_t>(value) : type_f2c(value); }
    // Its size can be remembered: no such handle is ever freed and given to another type.
    bool is_predefined(word type) const {
        if (family == Family::mpich) return type >> 30 == 1;
        return (type >= image_begin && type < image_end) || (type >= program_begin && type < program_end);
    }
};

// Looks around; nullptr where there is no MPI, more than one, or one that we do not know. reason: why, in words, or
// nullptr where there is simply none. Called at MPI_Init, by one thread; what was found never changes.
const Library* find_library(const char** reason);
// What find_library found, or nullptr.
const Library* library();

// The function that the host would have reached without us.
class Real {
public:
    // name: a literal, "MPI_Allreduce" or "mpi_allreduce_". caller: an address in the calling object, which tells
    // which MPI is meant if that was loaded without making its symbols global. nullptr: there is none.
    void* get(const char* name, const void* caller) {
        void* const known = function_.load(std::memory_order_acquire);
        return __builtin_expect(known != nullptr, 1) ? known : resolve(name, caller);
    }

private:
    void* resolve(const char* name, const void* caller);

    std::atomic<void*> function_{nullptr};
};

// What a wrapper answers when there is no function to forward to: MPICH's MPI_ERR_INTERN, Open MPI's MPI_ERR_OTHER.
inline constexpr int no_such_function = 16;

}  // namespace paced::interposer
