// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/site_policy_file.h"

#include <cerrno>
#include <filesystem>

#include <sys/stat.h>

#include "policy/io/text_file.h"
#include "policy/io/toml_policy.h"

namespace paced::io {

namespace {

constexpr std::size_t most_bytes = 1 << 20;  // of a policy: no person writes more

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
    struct stat status {};
    if (stat(path.c_str(), &status) != 0 && errno == ENOENT) return config::SitePolicy{};
    const auto text = read_text_file(path, most_bytes);
    if (!text) return tl::unexpected<Error>(text.error());
    return parse_site_policy(*text, path, diagnostics);
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
