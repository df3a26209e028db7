// SPDX-License-Identifier: BSD-3-Clause
// The node that merges, as the interposer needs it: a numeric address.
#pragma once

#include <chrono>
#include <string>

#include "policy/base/result.h"

namespace paced::step {

// "self" where host is this node (named so, or at one of its own addresses), else the address that it resolves to
// within the deadline; a name server that is away must not hold up a launch.
Result<std::string> find_leader(const std::string& host, const std::string& node, std::chrono::milliseconds deadline = std::chrono::seconds(1));

}  // namespace paced::step
