// SPDX-License-Identifier: BSD-3-Clause
// LD_PRELOAD, whose entries are separated by blanks or colons and cannot be quoted.
#pragma once

#include <string>
#include <string_view>

#include "policy/base/result.h"

namespace paced::step {

// The library in front of what the user preloads; once, if it is there already.
std::string prepend_preload(std::string_view library, std::string_view current);

// A path of the library that can stand in LD_PRELOAD: its own, or a link in run_dir where it holds a blank or a colon.
Result<std::string> preloadable_path(const std::string& library, const std::string& run_dir);

}  // namespace paced::step
