// SPDX-License-Identifier: BSD-3-Clause
// Many ranks or hosts in few characters.
#pragma once

#include <span>
#include <string>

#include "policy/topology/host_list.h"

namespace paced::report {

using topology::compress_hosts;

// 0 1 2 3 7 is "0-3,7"; at most `ranges_max` ranges, then "...". The numbers are sorted.
std::string compress_numbers(std::span<const int> numbers, std::size_t ranges_max = 12);

}  // namespace paced::report
