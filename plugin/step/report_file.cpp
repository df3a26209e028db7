// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/step/report_file.h"

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/io/text_file.h"

namespace paced::step {

std::string report_path(std::string_view pattern, const std::string& job, const std::string& step, const std::string& folder) {
    std::string path;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        const char next = pattern[i] == '%' && i + 1 < pattern.size() ? pattern[i + 1] : '\0';
        if (next == 'j') path += job;
        else if (next == 's') path += step;
        else if (next == '%') path += '%';
        else {
            path += pattern[i];
            continue;
        }
        ++i;
    }
    if (path.empty() || path.front() == '/') return path;
    return folder + (folder.ends_with('/') ? "" : "/") + path;
}

std::optional<std::string> replace_file(const std::string& path, std::string_view text, unsigned mode) {
    const auto failed = [&](const char* why) { return "cannot write " + path + ": " + why; };
    std::string target = path;
    struct stat found {};
    if (stat(path.c_str(), &found) == 0) {
        if (!S_ISREG(found.st_mode)) return failed(S_ISDIR(found.st_mode) ? std::strerror(EISDIR) : "it is not a regular file");
        char real[PATH_MAX];
        if (realpath(path.c_str(), real) != nullptr) target = real;
    }
    std::string beside = target + ".XXXXXX";
    const int descriptor = mkostemp(beside.data(), O_CLOEXEC);
    if (descriptor < 0) return failed(std::strerror(errno));
    const mode_t mask = umask(0);
    umask(mask);
    bool good = fchmod(descriptor, mode & ~mask) == 0 && io::write_all(descriptor, text);
    int error = good ? 0 : errno;
    if (close(descriptor) != 0 && good) {
        good = false;
        error = errno;
    }
    if (good && std::rename(beside.c_str(), target.c_str()) == 0) return std::nullopt;
    if (good) error = errno;
    unlink(beside.c_str());
    return failed(std::strerror(error));
}

}  // namespace paced::step
