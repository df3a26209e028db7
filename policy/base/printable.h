// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace paced {

// For a terminal: '?' for each control character but newline and tab, C1 ones in UTF-8 included. Names come from files and
// devices, and an escape sequence in one must not reach the terminal as such.
std::string printable(std::string_view text);

}  // namespace paced
