// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/spank/programs.h"

#include <climits>
#include <cstdlib>
#include <dlfcn.h>
#include <sys/stat.h>

#include "plugin/spank/state.h"

namespace paced::spank {
namespace {

constexpr char library[] = "libpaced_fabric.so";
// Folders are tried in order; the first that holds the file wins. realpath: a drop-in may point at a symbolic link.
bool plugin_folder(Path& folder) noexcept {
    Dl_info found{};
    char resolved[PATH_MAX];
    if (dladdr(&state, &found) == 0 || realpath(found.dli_fname, resolved) == nullptr) return false;
    const std::string_view path = resolved;
    return folder.assign({path.data(), path.rfind('/')});
}

bool is_file(const Path& path) noexcept {
    struct stat found{};
    return stat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode);
}

bool in_folder(std::string_view folder, std::string_view below, std::string_view name, Path& path) noexcept {
    return path.assign(folder) && path.append(below) && path.append(name) && is_file(path);
}

}  // namespace

bool find_program(const char* name, Path& path) noexcept {
    if (!state.arguments.helper_dir.empty()) return in_folder(state.arguments.helper_dir.view(), "/", name, path);
    Path folder;
    return (plugin_folder(folder) && in_folder(folder.view(), "/../bin/", name, path)) ||
           in_folder(PACED_FABRIC_LIBEXEC_DIR, "/", name, path);
}

bool find_library(Path& path) noexcept {
    Path folder;
    return plugin_folder(folder) && (in_folder(folder.view(), "/", library, path) || in_folder(folder.view(), "/../", library, path));
}

}  // namespace paced::spank
