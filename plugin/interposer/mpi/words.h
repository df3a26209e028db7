// SPDX-License-Identifier: BSD-3-Clause
// An argument of an MPI function as the machine passes it: one word in a register or a stack slot. Whether it is an
// int, a pointer, an MPI_Count, Open MPI's pointer handle or MPICH's int handle, a wrapper that takes and forwards
// words does not need to know, so that one set serves both and no mpi.h is needed. True of the System V x86-64 and of
// the Linux AArch64 calling convention: every argument of the wrapped functions is an integer or a pointer, and the
// upper half of a word that holds an int is undefined, which the callee ignores.
#pragma once

#include <cstdint>

#if !(defined(__x86_64__) || defined(__aarch64__)) || !defined(__LP64__)
#error "arguments as words: checked for x86-64 and AArch64 Linux only"
#endif

namespace paced::interposer {

using word = std::uintptr_t;
static_assert(sizeof(word) == 8 && sizeof(void*) == 8);

}  // namespace paced::interposer

#define PACED_PARAMETERS_1 word a0
#define PACED_PARAMETERS_2 PACED_PARAMETERS_1, word a1
#define PACED_PARAMETERS_3 PACED_PARAMETERS_2, word a2
#define PACED_PARAMETERS_4 PACED_PARAMETERS_3, word a3
#define PACED_PARAMETERS_5 PACED_PARAMETERS_4, word a4
#define PACED_PARAMETERS_6 PACED_PARAMETERS_5, word a5
#define PACED_PARAMETERS_7 PACED_PARAMETERS_6, word a6
#define PACED_PARAMETERS_8 PACED_PARAMETERS_7, word a7
#define PACED_PARAMETERS_9 PACED_PARAMETERS_8, word a8
#define PACED_PARAMETERS_10 PACED_PARAMETERS_9, word a9
#define PACED_PARAMETERS_11 PACED_PARAMETERS_10, word a10
#define PACED_PARAMETERS_12 PACED_PARAMETERS_11, word a11

#define PACED_ARGUMENTS_1 a0
#define PACED_ARGUMENTS_2 PACED_ARGUMENTS_1, a1
#define PACED_ARGUMENTS_3 PACED_ARGUMENTS_2, a2
#define PACED_ARGUMENTS_4 PACED_ARGUMENTS_3, a3
#define PACED_ARGUMENTS_5 PACED_ARGUMENTS_4, a4
#define PACED_ARGUMENTS_6 PACED_ARGUMENTS_5, a5
#define PACED_ARGUMENTS_7 PACED_ARGUMENTS_6, a6
#define PACED_ARGUMENTS_8 PACED_ARGUMENTS_7, a7
#define PACED_ARGUMENTS_9 PACED_ARGUMENTS_8, a8
#define PACED_ARGUMENTS_10 PACED_ARGUMENTS_9, a9
#define PACED_ARGUMENTS_11 PACED_ARGUMENTS_10, a10
#define PACED_ARGUMENTS_12 PACED_ARGUMENTS_11, a11
