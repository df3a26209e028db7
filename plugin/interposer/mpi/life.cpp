// SPDX-License-Identifier: BSD-3-Clause
// Where MPI begins and ends, and MPI_Pcontrol, the standard's own way for a program to speak to a profiler:
// level 0 stops recording, 1 starts it, higher levels are marks (counted).
#include "plugin/interposer/mpi/wrapper.h"
#include "plugin/interposer/process.h"
#include "plugin/interposer/shared.h"
#include "plugin/interposer/thread_state.h"

namespace paced::interposer {
namespace {

// Collectives that the library makes of itself while it starts or ends are not the host's.
class Inside {
public:
    bool enter() {
        if (thread_state.inside) return false;
        return thread_state.inside = true;
    }
    void leave() { thread_state.inside = false; }
};

void control(int level) {
    Process* const process = engaged_process();
    if (process == nullptr) return;
    if (level == 0) store(process->paused, 1u);
    if (level == 1) store(process->paused, 0u);
    if (level > 1) fetch_add(process->slot->rank.marks, std::uint64_t{1});
}

}  // namespace
}  // namespace paced::interposer

using namespace paced::interposer;

#define PACED_CALLER __builtin_return_address(0)

#define PACED_INIT_C(symbol, count)                                                              \
    PACED_EXPORT int symbol(PACED_PARAMETERS(count)) {                                           \
        static Real real;                                                                        \
        Inside inside;                                                                           \
        const bool own = inside.enter();                                                         \
        if (own) before_start();                                                                 \
        const int result = call_c(real, #symbol, PACED_CALLER, PACED_ARGUMENTS(count));          \
        if (own && result == 0) start_process();                                                 \
        if (own) inside.leave();                                                                 \
        return result;                                                                           \
    }
#define PACED_INIT_FORTRAN(symbol, count)                                                        \
    PACED_EXPORT void symbol(PACED_PARAMETERS(count)) {                                          \
        static Real real;                                                                        \
        const word arguments[] = {PACED_ARGUMENTS(count)};                                       \
        const word ierror = arguments[count - 1];                                                \
        Inside inside;                                                                           \
        const bool own = inside.enter();                                                         \
        if (own) before_start();                                                                 \
        call_fortran(real, #symbol, PACED_CALLER, ierror, PACED_ARGUMENTS(count));               \
        if (own && succeeded(ierror)) start_process();                                           \
        if (own) inside.leave();                                                                 \
    }
#define PACED_INIT_FORTRAN_1(symbol, large) PACED_INIT_FORTRAN(symbol, 1)
#define PACED_INIT_FORTRAN_3(symbol, large) PACED_INIT_FORTRAN(symbol, 3)
PACED_INIT_C(MPI_Init, 2)
PACED_INIT_C(MPI_Init_thread, 4)
PACED_FORTRAN_SPELLINGS(init, INIT, 0, PACED_INIT_FORTRAN_1)
PACED_FORTRAN_SPELLINGS(init_thread, INIT_THREAD, 0, PACED_INIT_FORTRAN_3)

// The real one first: it ends, in both libraries, on no rank before all have come, so that after it the slots of
// this node are final and nobody waits for us.
PACED_EXPORT int MPI_Finalize() {
    static Real real;
    Inside inside;
    const bool own = inside.enter();
    if (own) finish_process();
    const int result = call_c(real, "MPI_Finalize", PACED_CALLER);
    if (own) after_finalize();
    if (own) inside.leave();
    return result;
}
#define PACED_FINALIZE_FORTRAN(symbol, large)                           \
    PACED_EXPORT void symbol(word a0) {                                 \
        static Real real;                                               \
        Inside inside;                                                  \
        const bool own = inside.enter();                                \
        if (own) finish_process();                                      \
        call_fortran(real, #symbol, PACED_CALLER, a0, a0);              \
        if (own) after_finalize();                                      \
        if (own) inside.leave();                                        \
    }
PACED_FORTRAN_SPELLINGS(finalize, FINALIZE, 0, PACED_FINALIZE_FORTRAN)

// Variadic in C: further integers and pointers are passed on to another tool that may want them, floating-point ones
// are not (no known tool takes any).
PACED_EXPORT int MPI_Pcontrol(word a0, word a1, word a2, word a3, word a4, word a5) {
    static Real real;
    control(static_cast<int>(a0));
    const auto function = reinterpret_cast<int (*)(int, ...)>(real.get("MPI_Pcontrol", PACED_CALLER));
    return function != nullptr ? function(static_cast<int>(a0), a1, a2, a3, a4, a5) : no_such_function;
}
#define PACED_PCONTROL_FORTRAN(symbol, large)                           \
    PACED_EXPORT void symbol(word a0, word a1) {                        \
        static Real real;                                               \
        control(*reinterpret_cast<const int*>(a0));                     \
        call_fortran(real, #symbol, PACED_CALLER, 0, a0, a1);           \
    }
PACED_FORTRAN_SPELLINGS(pcontrol, PCONTROL, 0, PACED_PCONTROL_FORTRAN)
