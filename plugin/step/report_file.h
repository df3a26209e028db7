// SPDX-License-Identifier: BSD-3-Clause
// Small files that others read: whole or not at all.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace paced::step {

// Slurm's %j (job) and %s (step) replaced, %% is %; relative paths are below folder.
std::string report_path(std::string_view pattern, const std::string& job, const std::string& step, const std::string& folder);

// Writes beside it and renames; a symbolic link is followed, what is there and is no regular file is left alone.
// nullopt: done; else what went wrong, "cannot write PATH: Read-only file system".
std::optional<std::string> replace_file(const std::string& path, std::string_view text, unsigned mode);

}  // namespace paced::step
