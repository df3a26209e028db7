// SPDX-License-Identifier: BSD-3-Clause
// A file's whole text.
#pragma once

#include <cstddef>
#include <string>

#include "policy/base/result.h"

namespace paced::io {

// "cannot read PATH: REASON" where it is missing, unreadable, not a regular file or larger than most_bytes.
Result<std::string> read_text_file(const std::string& path, std::size_t most_bytes = 64u << 20);

}  // namespace paced::io
