// SPDX-License-Identifier: BSD-3-Clause
// Reading a collective's arguments by its Shape: its communicator, and this rank's payload in bytes.
#pragma once

#include "plugin/interposer/mpi/library.h"
#include "plugin/interposer/thread_state.h"

namespace paced::interposer {

template <Language L>
word comm_handle(const Library& mpi, word argument) {
    if constexpr (is_fortran(L)) return mpi.comm_from_fortran(*reinterpret_cast<const int*>(argument));
    return mpi.handle(argument);
}

// count is C's value or Fortran's variable.
template <Language L>
std::int64_t count_in(word argument) {
    if constexpr (L == Language::c) return static_cast<int>(argument);
    if constexpr (L == Language::c_large) return static_cast<std::int64_t>(argument);
    if constexpr (L == Language::fortran) return *reinterpret_cast<const int*>(argument);
    return *reinterpret_cast<const std::int64_t*>(argument);
}

template <Language L>
std::int64_t count_at(word array, std::uint32_t index) {
    if constexpr (is_large(L)) return reinterpret_cast<const std::int64_t*>(array)[index];
    return reinterpret_cast<const int*>(array)[index];
}

inline std::uint64_t size_of_type(const Library& mpi, word type) {
    if (thread_state.type == type && type != 0) return thread_state.type_size;
    int size = 0;
    if (type == mpi.no_type || mpi.type_size(type, &size) != 0 || size < 0) return 0;
    if (mpi.is_predefined(type)) {
        thread_state.type = type;
        thread_state.type_size = static_cast<std::uint32_t>(size);
    }
    return static_cast<std::uint64_t>(size);
}

template <Language L>
std::uint64_t type_size_in(const Library& mpi, word argument) {
    if constexpr (is_fortran(L)) return size_of_type(mpi, mpi.type_from_fortran(*reinterpret_cast<const int*>(argument)));
    return size_of_type(mpi, mpi.handle(argument));
}

template <Language L>
std::uint64_t type_size_at(const Library& mpi, word array, std::uint32_t index) {
    if constexpr (is_fortran(L)) return size_of_type(mpi, mpi.type_from_fortran(reinterpret_cast<const int*>(array)[index]));
    if (mpi.family == Family::mpich) return size_of_type(mpi, reinterpret_cast<const std::uint32_t*>(array)[index]);
    return size_of_type(mpi, reinterpret_cast<const word*>(array)[index]);
}

template <Shape S, Language L>
std::uint64_t bytes_of(const Library& mpi, const word* arguments, std::uint32_t size, std::uint32_t rank) {
    // nothing to send: the type may be MPI_DATATYPE_NULL and the array absent
    const auto times = [&](std::int64_t count, int type) -> std::uint64_t {
        return count <= 0 ? 0 : static_cast<std::uint64_t>(count) * type_size_in<L>(mpi, arguments[type]);
    };
    const auto sum = [&](word array) {
        std::int64_t total = 0;
        for (std::uint32_t i = 0; i < size && array != 0; ++i) total += count_at<L>(array, i);
        return total;
    };
    const auto own = [&](word array) { return array != 0 ? count_at<L>(array, rank) : 0; };
    const auto is_root = [&] {
        if constexpr (is_fortran(L)) return *reinterpret_cast<const int*>(arguments[S.root]) == static_cast<int>(rank);
        return static_cast<int>(arguments[S.root]) == static_cast<int>(rank);
    };
    if constexpr (S.rule == Rule::nothing) {
        return 0;
    } else if constexpr (S.rule == Rule::count) {
        return times(count_in<L>(arguments[S.count]), S.type);
    } else if constexpr (S.rule == Rule::count_each) {
        return times(count_in<L>(arguments[S.count]), S.type) * size;
    } else if constexpr (S.rule == Rule::own_count) {
        return times(own(arguments[S.count]), S.type);
    } else if constexpr (S.rule == Rule::sum) {
        return times(sum(arguments[S.count]), S.type);
    } else if constexpr (S.rule == Rule::sum_of_types) {
        std::uint64_t total = 0;
        for (std::uint32_t i = 0; i < size && arguments[S.count] != 0 && arguments[S.type] != 0; ++i)
            if (const std::int64_t count = count_at<L>(arguments[S.count], i); count > 0)
                total += static_cast<std::uint64_t>(count) * type_size_at<L>(mpi, arguments[S.type], i);
        return total;
    } else if constexpr (S.rule == Rule::rooted_count) {
        return is_root() ? times(count_in<L>(arguments[S.root_count]), S.root_type) : times(count_in<L>(arguments[S.count]), S.type);
    } else {
        return is_root() ? times(own(arguments[S.root_count]), S.root_type) : times(count_in<L>(arguments[S.count]), S.type);
    }
}

}  // namespace paced::interposer
