// SPDX-License-Identifier: BSD-3-Clause
// Where a collective's arguments stand and how its bytes are counted: this rank's payload, the same whether or not
// MPI_IN_PLACE is used, since only arguments that are significant on every rank (or on the root, there) are read.
// The positions are the same in C and in Fortran.
#pragma once

#include "plugin/interposer/mpi/words.h"

namespace paced::interposer {

enum class Rule {
    nothing,           // 0
    count,             // count x size(type)
    count_each,        // count x size(type) x ranks
    own_count,         // counts[own rank] x size(type)
    sum,               // sum of counts x size(type)
    sum_of_types,      // sum of counts[i] x size(types[i])
    rooted_count,      // off the root count x size(type); on it root_count x size(root_type)
    rooted_own_count,  // off the root count x size(type); on it root_counts[own rank] x size(root_type)
};

struct Shape {
    Rule rule;
    int communicator;
    int count = 0;
    int type = 0;
    int root = 0;
    int root_count = 0;
    int root_type = 0;
};

// How a function's arguments are to be read.
enum class Language {
    c,              // values; counts are int
    c_large,        // values; counts are MPI_Count
    fortran,        // addresses of INTEGER
    fortran_large,  // addresses; counts are INTEGER(KIND=MPI_COUNT_KIND)
};
constexpr bool is_fortran(Language language) { return language == Language::fortran || language == Language::fortran_large; }
constexpr bool is_large(Language language) { return language == Language::c_large || language == Language::fortran_large; }

}  // namespace paced::interposer
