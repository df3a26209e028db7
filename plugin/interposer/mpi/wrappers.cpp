// SPDX-License-Identifier: BSD-3-Clause
// Every line of functions.h as C and Fortran functions. Fortran goes to the Fortran function of the same spelling with
// its arguments untouched: converting them to C would lose MPI_IN_PLACE and the like, and in Open MPI the C function is
// never reached from Fortran. Where it is (MPICH), Call::enter() sees that the thread is inside already.
#include "plugin/interposer/mpi/bytes.h"
#include "plugin/interposer/mpi/functions.h"
#include "plugin/interposer/mpi/operations.h"
#include "plugin/interposer/mpi/wrapper.h"
#include "plugin/interposer/recorder.h"
#include "plugin/interposer/shared.h"

namespace paced::interposer {
namespace {

template <Language L>
word comm_key(const Library& mpi, word argument) {
    if constexpr (is_fortran(L)) return key_of_fortran(mpi, *reinterpret_cast<const int*>(argument));
    return key_of_handle(mpi.handle(argument));
}

template <Shape S, Language L>
void before_collective(Call& call, Operation operation, const word* arguments) {
    call.begin(static_cast<std::uint32_t>(operation), comm_key<L>(call.mpi(), arguments[S.communicator]));
}

template <Shape S, Language L>
void after_collective(Call& call, bool success, const word* arguments) {
    call.returned();
    if (!call.is_known() && success) {
        const word argument = arguments[S.communicator];
        call.meet(comm_key<L>(call.mpi(), argument), comm_handle<L>(call.mpi(), argument));
    }
    if (call.is_known())
        call.finish(success ? bytes_of<S, L>(call.mpi(), arguments, call.communicator().size, call.communicator().rank) : 0);
    call.leave();
}

// A host whose MPI_Init went past us (linked statically into one of its libraries, say) is met here.
void after_unseen(bool success) {
    if (success && is_untried()) start_process();
}

void count(Call& call, segment::Counter counter) {
    fetch_add(call.rank().not_recorded[static_cast<std::uint32_t>(counter)], std::uint64_t{1});
}

template <Language L>
void after_create(Call& call, bool success, word parent, word created) {
    if (success) {
        const Library& mpi = call.mpi();
        const word handle = is_fortran(L) ? mpi.comm_from_fortran(*reinterpret_cast<const int*>(created)) : mpi.handle_at(reinterpret_cast<const void*>(created));
        if (handle != mpi.no_comm) {
            const Tracked* const from = track(mpi, comm_handle<L>(mpi, parent), 0);
            track(mpi, handle, from != nullptr ? from->id : 0);
        }
    }
    call.leave();
}

// Before the library frees it: afterwards its handle may at once be another thread's new communicator.
template <Language L>
void before_release(Call& call, word argument) {
    const Library& mpi = call.mpi();
    const word key = key_of_handle(is_fortran(L) ? mpi.comm_from_fortran(*reinterpret_cast<const int*>(argument)) : mpi.handle_at(reinterpret_cast<const void*>(argument)));
    if (const Tracked* const tracked = find_tracked(key); tracked != nullptr) call.release(*tracked);
    forget(key);
}

}  // namespace
}  // namespace paced::interposer

using namespace paced;
using namespace paced::interposer;

#define PACED_CALLER __builtin_return_address(0)

#define PACED_RECORD_C(symbol, count, operation, shape, language)                                          \
    PACED_EXPORT int symbol(PACED_PARAMETERS(count)) {                                                     \
        static Real real;                                                                                  \
        const word arguments[] = {PACED_ARGUMENTS(count)};                                                 \
        Call call;                                                                                         \
        const bool own = call.enter();                                                                     \
        if (own) before_collective<shape, language>(call, operation, arguments);                           \
        const int result = call_c(real, #symbol, PACED_CALLER, PACED_ARGUMENTS(count));                    \
        if (own) {                                                                                         \
            after_collective<shape, language>(call, result == 0, arguments);                               \
        } else if (__builtin_expect(is_untried(), 0)) {                                                    \
            after_unseen(result == 0);                                                                     \
        }                                                                                                  \
        return result;                                                                                     \
    }
#define PACED_RECORD_FORTRAN_(symbol, count, operation, shape, language)                                   \
    PACED_EXPORT void symbol(PACED_PARAMETERS(count)) {                                                    \
        static Real real;                                                                                  \
        const word arguments[] = {PACED_ARGUMENTS(count)};                                                 \
        const word ierror = arguments[count - 1];                                                          \
        Call call;                                                                                         \
        const bool own = call.enter();                                                                     \
        if (own) before_collective<shape, language>(call, operation, arguments);                           \
        call_fortran(real, #symbol, PACED_CALLER, ierror, PACED_ARGUMENTS(count));                         \
        if (own) {                                                                                         \
            after_collective<shape, language>(call, succeeded(ierror), arguments);                         \
        } else if (__builtin_expect(is_untried(), 0)) {                                                    \
            after_unseen(succeeded(ierror));                                                               \
        }                                                                                                  \
    }
#define PACED_LANGUAGE_0 Language::fortran
#define PACED_LANGUAGE_1 Language::fortran_large

#define PACED_RECORD(Name, name, NAME, arity, large, shape)                                                \
    PACED_RECORD_C(MPI_##Name, arity, Operation::name, shape, Language::c)                                 \
    PACED_IF_##large(PACED_RECORD_C(MPI_##Name##_c, arity, Operation::name, shape, Language::c_large))     \
    PACED_RECORD_FORTRAN(mpi_##name##_, arity, name, shape, 0)                                             \
    PACED_RECORD_FORTRAN(mpi_##name, arity, name, shape, 0)                                                \
    PACED_RECORD_FORTRAN(mpi_##name##__, arity, name, shape, 0)                                            \
    PACED_RECORD_FORTRAN(MPI_##NAME, arity, name, shape, 0)                                                \
    PACED_RECORD_FORTRAN(mpi_##name##_f08_, arity, name, shape, 0)                                         \
    PACED_RECORD_FORTRAN(mpi_##name##_f08ts_, arity, name, shape, 0)                                       \
    PACED_IF_##large(PACED_RECORD_FORTRAN(mpi_##name##_f08ts_large_, arity, name, shape, 1))
#define PACED_RECORD_FORTRAN(symbol, arity, name, shape, large) \
    PACED_RECORD_FORTRAN_(symbol, PACED_CAT(PACED_NEXT_, arity), Operation::name, shape, PACED_LANGUAGE_##large)
PACED_RECORDED_FUNCTIONS(PACED_RECORD)

#define PACED_COUNT_C(symbol, count_, counter)                                          \
    PACED_EXPORT int symbol(PACED_PARAMETERS(count_)) {                                 \
        static Real real;                                                               \
        Call call;                                                                      \
        const bool own = call.enter();                                                  \
        if (own) count(call, segment::Counter::counter);                                \
        const int result = call_c(real, #symbol, PACED_CALLER, PACED_ARGUMENTS(count_)); \
        if (own) call.leave();                                                          \
        return result;                                                                  \
    }
#define PACED_COUNT_FORTRAN_(symbol, count_, counter)                                                       \
    PACED_EXPORT void symbol(PACED_PARAMETERS(count_)) {                                                    \
        static Real real;                                                                                   \
        const word arguments[] = {PACED_ARGUMENTS(count_)};                                                 \
        Call call;                                                                                          \
        const bool own = call.enter();                                                                      \
        if (own) count(call, segment::Counter::counter);                                                    \
        call_fortran(real, #symbol, PACED_CALLER, arguments[count_ - 1], PACED_ARGUMENTS(count_));          \
        if (own) call.leave();                                                                              \
    }
#define PACED_COUNT_FORTRAN(symbol, arity, counter) PACED_COUNT_FORTRAN_(symbol, PACED_CAT(PACED_NEXT_, arity), counter)
#define PACED_COUNT(Name, name, NAME, arity, large)                         \
    PACED_COUNT_C(MPI_##Name, arity, Name)                                  \
    PACED_IF_##large(PACED_COUNT_C(MPI_##Name##_c, arity, Name))            \
    PACED_COUNT_FORTRAN(mpi_##name##_, arity, Name)                         \
    PACED_COUNT_FORTRAN(mpi_##name, arity, Name)                            \
    PACED_COUNT_FORTRAN(mpi_##name##__, arity, Name)                        \
    PACED_COUNT_FORTRAN(MPI_##NAME, arity, Name)                            \
    PACED_COUNT_FORTRAN(mpi_##name##_f08_, arity, Name)                     \
    PACED_COUNT_FORTRAN(mpi_##name##_f08ts_, arity, Name)                   \
    PACED_IF_##large(PACED_COUNT_FORTRAN(mpi_##name##_f08ts_large_, arity, Name))
PACED_COUNTED_WRAPPERS(PACED_COUNT)

#define PACED_CREATE_C(symbol, count)                                                          \
    PACED_EXPORT int symbol(PACED_PARAMETERS(count)) {                                         \
        static Real real;                                                                      \
        const word arguments[] = {PACED_ARGUMENTS(count)};                                     \
        Call call;                                                                             \
        const bool own = call.enter();                                                         \
        const int result = call_c(real, #symbol, PACED_CALLER, PACED_ARGUMENTS(count));        \
        if (own) after_create<Language::c>(call, result == 0, a0, arguments[count - 1]);       \
        return result;                                                                         \
    }
#define PACED_CREATE_FORTRAN_(symbol, count)                                                                  \
    PACED_EXPORT void symbol(PACED_PARAMETERS(count)) {                                                       \
        static Real real;                                                                                     \
        const word arguments[] = {PACED_ARGUMENTS(count)};                                                    \
        const word ierror = arguments[count - 1];                                                             \
        Call call;                                                                                            \
        const bool own = call.enter();                                                                        \
        call_fortran(real, #symbol, PACED_CALLER, ierror, PACED_ARGUMENTS(count));                            \
        if (own) after_create<Language::fortran>(call, succeeded(ierror), a0, arguments[count - 2]);          \
    }
#define PACED_CREATE_FORTRAN(symbol, arity) PACED_CREATE_FORTRAN_(symbol, PACED_CAT(PACED_NEXT_, arity))
#define PACED_CREATE(Name, name, NAME, arity)            \
    PACED_CREATE_C(MPI_##Name, arity)                    \
    PACED_CREATE_FORTRAN(mpi_##name##_, arity)           \
    PACED_CREATE_FORTRAN(mpi_##name, arity)              \
    PACED_CREATE_FORTRAN(mpi_##name##__, arity)          \
    PACED_CREATE_FORTRAN(MPI_##NAME, arity)              \
    PACED_CREATE_FORTRAN(mpi_##name##_f08_, arity)
PACED_CREATING_FUNCTIONS(PACED_CREATE)

#define PACED_RELEASE_C(symbol)                                              \
    PACED_EXPORT int symbol(word a0) {                                       \
        static Real real;                                                    \
        Call call;                                                           \
        const bool own = call.enter();                                       \
        if (own) before_release<Language::c>(call, a0);                      \
        const int result = call_c(real, #symbol, PACED_CALLER, a0);          \
        if (own) call.leave();                                               \
        return result;                                                       \
    }
#define PACED_RELEASE_FORTRAN(symbol)                                        \
    PACED_EXPORT void symbol(word a0, word a1) {                             \
        static Real real;                                                    \
        Call call;                                                           \
        const bool own = call.enter();                                       \
        if (own) before_release<Language::fortran>(call, a0);                \
        call_fortran(real, #symbol, PACED_CALLER, a1, a0, a1);               \
        if (own) call.leave();                                               \
    }
#define PACED_RELEASE(Name, name, NAME, arity)   \
    PACED_RELEASE_C(MPI_##Name)                  \
    PACED_RELEASE_FORTRAN(mpi_##name##_)         \
    PACED_RELEASE_FORTRAN(mpi_##name)            \
    PACED_RELEASE_FORTRAN(mpi_##name##__)        \
    PACED_RELEASE_FORTRAN(MPI_##NAME)            \
    PACED_RELEASE_FORTRAN(mpi_##name##_f08_)
PACED_RELEASING_FUNCTIONS(PACED_RELEASE)
