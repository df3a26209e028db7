// SPDX-License-Identifier: BSD-3-Clause
// How the real function is found: as the dynamic linker would have found it without us, first in the global scope, then
// in that of the calling object. Python loads PyTorch, and with it libgloo, by a dlopen with RTLD_LOCAL, so the global scope
// has nothing (RTLD_NEXT), although the calls do reach us. Last, the mapped libgloo by its name.
#include "plugin/interposer/gloo/library.h"

#include <cstring>

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include "plugin/interposer/report_line.h"

namespace paced::interposer::gloo {
namespace {

constexpr char known_name[] = "libgloo.so";

const char* file_of(const char* path) {
    const char* const slash = std::strrchr(path, '/');
    return slash != nullptr ? slash + 1 : path;
}

bool is_known(const char* path) { return path != nullptr && std::strncmp(file_of(path), known_name, sizeof known_name - 1) == 0; }

struct Objects {
    char path[512] = "";
    int count = 0;
};

int collect(dl_phdr_info* info, std::size_t, void* into) {
    auto* const objects = static_cast<Objects*>(into);
    if (!is_known(info->dlpi_name)) return 0;
    ++objects->count;
    if (std::strlen(info->dlpi_name) < sizeof objects->path) std::strcpy(objects->path, info->dlpi_name);
    return 0;
}

bool is_ours(const void* symbol) {
    Dl_info theirs, ours;
    return dladdr(symbol, &theirs) != 0 && dladdr(reinterpret_cast<const void*>(&is_ours), &ours) != 0 && theirs.dli_fbase == ours.dli_fbase;
}

void* symbol_in(const char* path, const char* symbol) {
    void* const handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) return nullptr;
    void* const found = dlsym(handle, symbol);
    dlclose(handle);  // takes back our reference alone: the object was loaded before and stays
    return found != nullptr && !is_ours(found) ? found : nullptr;
}

}  // namespace

const char* name_of_known_library(const void* function) {
    Dl_info info;
    return dladdr(function, &info) != 0 && is_known(info.dli_fname) ? file_of(info.dli_fname) : nullptr;
}

void* Real::resolve(const char* symbol, const void* caller) {
    Objects objects;
    dl_iterate_phdr(collect, &objects);
    void* found = dlsym(RTLD_NEXT, symbol);
    Dl_info info;
    if (found == nullptr && dladdr(caller, &info) != 0 && info.dli_fname != nullptr) found = symbol_in(info.dli_fname, symbol);
    if (found == nullptr && objects.count == 1) found = symbol_in(objects.path, symbol);
    if (found == nullptr) {
        report_line(nullptr, Notice::library, "a Gloo function is called that no library of this process has: symbol lookup error");
        _exit(127);
    }
    // With several of them, or one within another library, the answer holds for this caller alone.
    if (objects.count == 1 && name_of_known_library(found) != nullptr) function_.store(found, std::memory_order_release);
    return found;
}

}  // namespace paced::interposer::gloo
