// SPDX-License-Identifier: BSD-3-Clause
// The Gloo that the host's calls are forwarded to, found at run time. Nothing is linked, nothing is loaded.
#pragma once

#include <atomic>

namespace paced::interposer::gloo {

// The function that the caller would have reached without us.
class Real {
public:
    // symbol: mangled. caller: an address in the calling object. Never nullptr: where the symbol is nowhere else, the
    // program ends as the dynamic linker would have ended it.
    void* get(const char* symbol, const void* caller) {
        void* const known = function_.load(std::memory_order_acquire);
        return __builtin_expect(known != nullptr, 1) ? known : resolve(symbol, caller);
    }

private:
    void* resolve(const char* symbol, const void* caller);

    std::atomic<void*> function_{nullptr};
};

// The file's name where the function is one of Debian's libgloo ("libgloo.so.0"), whose layout is known; nullptr where not:
// Gloo within PyTorch's own wheels, say, may be of any age.
const char* name_of_known_library(const void* function);

}  // namespace paced::interposer::gloo
