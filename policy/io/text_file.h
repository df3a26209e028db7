// SPDX-License-Identifier: BSD-3-Clause
// Whole texts, in and out.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "policy/base/result.h"

namespace paced::io {

// "cannot read PATH: REASON" where it is missing, unreadable, not a regular file or larger than most_bytes.
Result<std::string> read_text_file(const std::string& path, std::size_t most_bytes = 64u << 20);

// Writes all of it, through short writes and interruptions; false on an error, with errno set.
bool write_all(int descriptor, std::string_view text);

}  // namespace paced::io
