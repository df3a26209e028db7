// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/site_policy_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/io/toml_policy.h"

namespace paced::io {

namespace {

constexpr off_t most_bytes = 1 << 20;  // of a policy: no person writes more

tl::unexpected<Error> cannot_read(const std::string& path, const std::string& why) { return fail("cannot read " + path + ": " + why); }

std::string folder_of(const std::string& path) {
    const std::string folder = std::filesystem::path(path).parent_path().string();
    return folder.empty() ? "." : folder;
}

// "is owned by uid 1000, not by root"
std::optional<std::string> why_writable(const std::string& path, const struct stat& status, uid_t owner) {
    if (status.st_uid != 0 && status.st_uid != owner)
        return path + " is owned by uid " + std::to_string(status.st_uid) + ", not by " + (owner == 0 ? "root" : "uid " + std::to_string(owner));
    // a sticky folder (/tmp) lets nobody replace what is not theirs
    if (S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0) return std::nullopt;
    if ((status.st_mode & S_IWOTH) != 0) return path + " can be written by everybody";
    if ((status.st_mode & S_IWGRP) != 0 && status.st_gid != 0) return path + " can be written by group " + std::to_string(status.st_gid);
    return std::nullopt;
}

}  // namespace

Result<config::SitePolicy> read_site_policy(const std::string& path, Diagnostics& diagnostics) {
    // O_NONBLOCK: a FIFO in its place must not hold us
    const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0) {
        if (errno == ENOENT) return config::SitePolicy{};
        return cannot_read(path, std::strerror(errno));
    }
    struct Closer {
        int descriptor;
        ~Closer() { close(descriptor); }
    } const closer{descriptor};

    struct stat status {};
    if (fstat(descriptor, &status) != 0) return cannot_read(path, std::strerror(errno));
    if (!S_ISREG(status.st_mode)) return cannot_read(path, "it is not a regular file");
    if (status.st_size > most_bytes) return cannot_read(path, "it is larger than 1 MiB");
    std::string text(static_cast<std::size_t>(status.st_size), '\0');
    std::size_t length = 0;
    while (length < text.size()) {
        const ssize_t got = read(descriptor, text.data() + length, text.size() - length);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return cannot_read(path, std::strerror(errno));
        if (got == 0) break;
        length += static_cast<std::size_t>(got);
    }
    text.resize(length);
    return parse_site_policy(text, path, diagnostics);
}

std::optional<std::string> why_untrusted(const std::string& path, uid_t owner) {
    struct stat status {};
    if (stat(path.c_str(), &status) != 0) return std::nullopt;
    if (auto why = why_writable(path, status, owner)) return why;
    const std::string folder = folder_of(path);
    if (stat(folder.c_str(), &status) != 0) return std::nullopt;
    return why_writable(folder, status, owner);
}

std::optional<std::string> kill_switch(const std::string& policy_path) {
    const std::string path = folder_of(policy_path) + "/disabled";
    struct stat status {};
    if (lstat(path.c_str(), &status) != 0) return std::nullopt;
    return path;
}

}  // namespace paced::io
