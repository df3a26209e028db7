// SPDX-License-Identifier: BSD-3-Clause
// Small files and folders of /sys and /proc. What is missing or cannot be read is empty.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace paced::io {

// One line, without its newline and blanks around it.
std::string read_value(const std::filesystem::path& file);
// The names in a folder, sorted.
std::vector<std::string> entries(const std::filesystem::path& folder);

}  // namespace paced::io
