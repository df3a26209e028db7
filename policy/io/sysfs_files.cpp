// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/sysfs_files.h"

#include <algorithm>
#include <system_error>

#include "policy/base/text.h"
#include "policy/io/text_file.h"

namespace paced::io {

using std::filesystem::path;

std::string read_value(const path& file) {
    const auto text = read_text_file(file.string(), 1 << 16);
    return text ? std::string(trim(*text)) : std::string();
}

std::vector<std::string> entries(const path& folder) {
    std::vector<std::string> names;
    std::error_code error;
    for (std::filesystem::directory_iterator each(folder, error), end; !error && each != end; each.increment(error))
        names.push_back(each->path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace paced::io
