// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/step/preload.h"

#include <cerrno>
#include <cstring>

#include <unistd.h>

namespace paced::step {

namespace {

constexpr std::string_view separators = " \t\n:";

}  // namespace

std::string prepend_preload(std::string_view library, std::string_view current) {
    std::string value(library);
    while (!current.empty()) {
        const auto end = current.find_first_of(separators);
        const std::string_view entry = current.substr(0, end);
        if (!entry.empty() && entry != library) (value += ':') += entry;
        if (end == std::string_view::npos) break;
        current.remove_prefix(end + 1);
    }
    return value;
}

Result<std::string> preloadable_path(const std::string& library, const std::string& run_dir) {
    if (library.find_first_of(separators) == std::string::npos) return library;
    const std::string link = run_dir + "/libpaced_fabric.so";
    // every rank of the node comes by
    if (symlink(library.c_str(), link.c_str()) != 0 && errno != EEXIST) return fail("cannot make " + link + ": " + std::strerror(errno));
    return link;
}

}  // namespace paced::step
