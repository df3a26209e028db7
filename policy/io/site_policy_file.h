// SPDX-License-Identifier: BSD-3-Clause
// The site policy as a file: reading it, whether it can be trusted, and the switch beside it that turns us off.
#pragma once

#include <optional>
#include <string>

#include <sys/types.h>

#include "policy/base/diagnostics.h"
#include "policy/base/result.h"
#include "policy/config/site_policy.h"

namespace paced::io {

inline constexpr char default_policy_path[] = "/etc/paced-fabric/policy.toml";

// No file at path: the built-in policy, whose `file` is empty. The error: the file is there and cannot be read.
// Mistakes in it become diagnostics, and the policy must then not be used.
Result<config::SitePolicy> read_site_policy(const std::string& path, Diagnostics& diagnostics);

// Why the file at path must not rule over other people's jobs: somebody but owner (and root) could have changed it or
// replaced it in its folder. nullopt: it may, or there is none.
std::optional<std::string> why_untrusted(const std::string& path, uid_t owner = 0);

// The kill switch, the file `disabled` in the folder of the policy file: its path where it is there.
std::optional<std::string> kill_switch(const std::string& policy_path);

}  // namespace paced::io
