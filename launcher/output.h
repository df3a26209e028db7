// SPDX-License-Identifier: BSD-3-Clause
// Results go to standard output, whole or with a line that says why not.
#pragma once

#include <string_view>

namespace paced::launcher {

// The exit code: a full disk or a closed pipe is no success.
int print_result(std::string_view text);
// Text for people: control characters, which may stand in names from files and devices, are shown as '?'.
int print_text(std::string_view text);

}  // namespace paced::launcher
