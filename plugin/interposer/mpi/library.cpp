// SPDX-License-Identifier: BSD-3-Clause
// How the real function is found. dlsym(RTLD_NEXT) first: it chains to another preloaded PMPI tool, or to the library.
// It finds nothing when MPI came in by a dlopen with RTLD_LOCAL (every Python extension module), although the calls of
// such a module do reach us; then the scope of the calling object is asked, then the mapped libraries by name.
#include "plugin/interposer/mpi/library.h"

#include <cstdio>
#include <cstring>

#include <dlfcn.h>
#include <link.h>

namespace paced::interposer {
namespace {

constexpr int object_limit = 8;

// Mapped objects whose name begins with libmpi: the C library and its Fortran parts.
struct Objects {
    struct {
        char path[512];
        word begin, end;
    } found[object_limit];
    int count = 0;
    word program_begin = 0, program_end = 0;
};

int collect(dl_phdr_info* info, std::size_t, void* into) {
    auto* const objects = static_cast<Objects*>(into);
    word begin = ~word{0}, end = 0;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
        const word from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        if (from < begin) begin = from;
        if (from + info->dlpi_phdr[i].p_memsz > end) end = from + info->dlpi_phdr[i].p_memsz;
    }
    const char* const path = info->dlpi_name;
    if (path == nullptr || *path == '\0') {
        if (objects->program_end == 0) {
            objects->program_begin = begin;
            objects->program_end = end;
        }
        return 0;
    }
    const char* const slash = std::strrchr(path, '/');
    if (std::strncmp(slash != nullptr ? slash + 1 : path, "libmpi", 6) != 0 || objects->count == object_limit) return 0;
    auto& object = objects->found[objects->count];
    if (std::strlen(path) >= sizeof object.path) return 0;
    std::strcpy(object.path, path);
    object.begin = begin;
    object.end = end;
    ++objects->count;
    return 0;
}

void* symbol_in(const char* path, const char* name) {
    void* const handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) return nullptr;
    void* const symbol = dlsym(handle, name);
    dlclose(handle);  // takes back our reference alone: the object was loaded before and stays
    return symbol;
}

// The MPI library proper defines PMPI_Init itself; its C++ and Fortran parts find it in the library.
bool defines_mpi(const char* path) {
    void* const symbol = symbol_in(path, "PMPI_Init");
    Dl_info info;
    if (symbol == nullptr || dladdr(symbol, &info) == 0 || info.dli_fname == nullptr) return false;
    return std::strcmp(info.dli_fname, path) == 0;
}

// "MPI_X" -> "PMPI_X", "mpi_x_" -> "pmpi_x_".
void profiling_name(const char* name, char (&result)[96]) { std::snprintf(result, sizeof result, "%c%s", *name == 'M' ? 'P' : 'p', name); }

void* lookup(const char* name, const void* caller, bool& ambiguous) {
    ambiguous = false;
    if (void* const next = dlsym(RTLD_NEXT, name)) return next;
    char profiling[96];
    profiling_name(name, profiling);
    Objects objects;
    dl_iterate_phdr(collect, &objects);
    int libraries = 0;
    for (int i = 0; i < objects.count; ++i) libraries += defines_mpi(objects.found[i].path) ? 1 : 0;
    ambiguous = libraries > 1;  // then the answer holds for this caller alone
    Dl_info info;
    if (dladdr(caller, &info) != 0 && info.dli_fname != nullptr)
        if (void* const symbol = symbol_in(info.dli_fname, profiling)) return symbol;
    for (int i = 0; i < objects.count && !ambiguous; ++i)
        if (void* const symbol = symbol_in(objects.found[i].path, profiling)) return symbol;
    return nullptr;
}

// "Open MPI v4.1.4, package: ..." -> "Open MPI 4.1.4"; "MPICH Version:\t4.0.2\n..." -> "MPICH 4.0.2".
void short_name(const char* text, char (&name)[64]) {
    std::size_t length = 0;
    for (const char* c = text; *c != '\0' && *c != ',' && *c != '\n' && length + 1 < sizeof name; ++c) {
        if (std::strncmp(c, " Version:", 9) == 0) {
            c += 8;
            continue;
        }
        if (*c == 'v' && c > text && c[-1] == ' ' && c[1] >= '0' && c[1] <= '9') continue;
        name[length++] = static_cast<unsigned char>(*c) < ' ' ? ' ' : *c;
    }
    name[length] = '\0';
}

template <class Function>
bool take(Function& function, const char* path, const char* name) {
    function = reinterpret_cast<Function>(symbol_in(path, name));
    return function != nullptr;
}

Library the_library;
std::atomic<const Library*> found_library{nullptr};

bool fill(Library& library, const char* path) {
    static char version[8192 + 1];  // MPICH's MPI_MAX_LIBRARY_VERSION_STRING, the largest known
    int (*get_version)(char*, int*) = nullptr;
    int length = 0;
    if (!take(get_version, path, "PMPI_Get_library_version") || get_version(version, &length) != 0) return false;
    short_name(version, library.name);
    // Its own address for a program that is not position-independent: ask in the program's order first.
    const auto data = [path](const char* name) {
        void* const global = dlsym(RTLD_DEFAULT, name);
        return reinterpret_cast<word>(global != nullptr ? global : symbol_in(path, name));
    };
    if (const word world = data("ompi_mpi_comm_world"); world != 0) {
        library.family = Family::open_mpi;
        library.world = world;
        library.no_comm = data("ompi_mpi_comm_null");
        library.no_type = data("ompi_mpi_datatype_null");
        if (!take(library.comm_f2c, path, "PMPI_Comm_f2c") || !take(library.comm_c2f, path, "PMPI_Comm_c2f") || !take(library.type_f2c, path, "PMPI_Type_f2c"))
            return false;
    } else if (std::strstr(version, "MPICH") != nullptr || std::strstr(version, "Intel(R) MPI") != nullptr || std::strstr(version, "MVAPICH") != nullptr) {
        library.family = Family::mpich;
        library.world = 0x44000000;
        library.no_comm = 0x04000000;
        library.no_type = 0x0c000000;
    } else {
        return false;
    }
    take(library.query_thread, path, "PMPI_Query_thread");
    return take(library.comm_rank, path, "PMPI_Comm_rank") && take(library.comm_size, path, "PMPI_Comm_size")
        && take(library.comm_group, path, "PMPI_Comm_group") && take(library.comm_test_inter, path, "PMPI_Comm_test_inter")
        && take(library.group_translate_ranks, path, "PMPI_Group_translate_ranks") && take(library.group_free, path, "PMPI_Group_free")
        && take(library.type_size, path, "PMPI_Type_size") && take(library.initialized, path, "PMPI_Initialized");
}

}  // namespace

const Library* library() { return found_library.load(std::memory_order_acquire); }

const Library* find_library(const char** reason) {
    *reason = nullptr;
    if (const Library* const known = library()) return known;
    Objects objects;
    dl_iterate_phdr(collect, &objects);
    int chosen = -1, libraries = 0;
    for (int i = 0; i < objects.count; ++i) {
        if (!defines_mpi(objects.found[i].path)) continue;
        chosen = i;
        ++libraries;
    }
    if (libraries == 0) return nullptr;
    if (libraries > 1) {
        *reason = "two MPI libraries in one process, nothing is recorded";
        return nullptr;
    }
    the_library.image_begin = objects.found[chosen].begin;
    the_library.image_end = objects.found[chosen].end;
    the_library.program_begin = objects.program_begin;
    the_library.program_end = objects.program_end;
    if (!fill(the_library, objects.found[chosen].path)) {
        *reason = "an MPI library of an unknown kind, nothing is recorded";
        return nullptr;
    }
    found_library.store(&the_library, std::memory_order_release);
    return &the_library;
}

void* Real::resolve(const char* name, const void* caller) {
    bool ambiguous = false;
    void* const found = lookup(name, caller, ambiguous);
    if (found != nullptr && !ambiguous) function_.store(found, std::memory_order_release);
    return found;
}

}  // namespace paced::interposer
