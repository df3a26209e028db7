// SPDX-License-Identifier: BSD-3-Clause
// Every line of functions.h as a function of that name. The options go on untouched. Gloo throws (a time-out, a peer that
// is gone), and the exception passes through these frames: they have unwind tables, nothing to destroy, and what was
// begun stays begun, as with a process that dies inside.
#include "plugin/interposer/gloo/functions.h"
#include "plugin/interposer/gloo/layout.h"
#include "plugin/interposer/gloo/library.h"
#include "plugin/interposer/mpi/operations.h"
#include "plugin/interposer/recorder.h"

namespace paced::interposer::gloo {
namespace {

template <class Options>
void collective(Operation operation, Options& options, void (*real)(Options&)) {
    Call call;
    if (!call.enter_unguarded()) return real(options);
    call.begin(static_cast<std::uint32_t>(operation), reinterpret_cast<word>(options.context));
    if (!call.is_known()) {
        call.count_only(segment::Counter::unknown_context);
        return real(options);
    }
    const std::uint64_t bytes = options.bytes(call.communicator().size, call.communicator().rank);
    real(options);
    call.returned();
    call.finish(bytes);
}

}  // namespace
}  // namespace paced::interposer::gloo

using namespace paced::interposer;

#define PACED_GLOO_COLLECTIVE(name, symbol, Options)                                                              \
    extern "C" __attribute__((visibility("default"))) void symbol(gloo::Options& options) {                       \
        static gloo::Real real;                                                                                   \
        using Function = void (*)(gloo::Options&);                                                                \
        gloo::collective(Operation::name, options, reinterpret_cast<Function>(real.get(#symbol, __builtin_return_address(0)))); \
    }
PACED_GLOO_COLLECTIVES(PACED_GLOO_COLLECTIVE)
