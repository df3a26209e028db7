// SPDX-License-Identifier: BSD-3-Clause
// Host lists in Slurm's bracket form: "n[1-4,7],login" is n1 n2 n3 n4 n7 login; "rack[1-2]-[0-3]" is every pair.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paced::topology {

// A list may come from anybody: more hosts than this are refused before they are made.
inline constexpr std::size_t host_list_limit = 1'000'000;

struct HostListError {
    std::size_t position = 0;  // of the offending character in the text, from 0
    std::string message;
};

// The hosts in the order of the text; doubles stay. A number keeps the width that the first number of its range has:
// "[08-10]" is 08 09 10. Blanks around commas are skipped. On a mistake the list is empty and error says what and where.
struct HostList {
    std::vector<std::string> hosts;
    std::vector<HostListError> errors;  // none or one
};
HostList expand_hosts(std::string_view text);

// The short form, in the same order: n1 n2 n3 n7 m1 n8 is "n[1-3,7],m1,n8".
std::string compress_hosts(std::span<const std::string> hosts);

}  // namespace paced::topology
