// SPDX-License-Identifier: BSD-3-Clause
// Reads the text of a site policy (etc/policy.toml shows all of it). Files are for policy/io/site_policy_file.h.
#pragma once

#include <string>
#include <string_view>

#include "policy/base/diagnostics.h"
#include "policy/config/site_policy.h"

namespace paced::io {

// Every mistake becomes an entry of diagnostics with its place; what is right around it is still read, but a policy
// with errors must not be used. file names the text in the places.
config::SitePolicy parse_site_policy(std::string_view text, const std::string& file, Diagnostics& diagnostics);

}  // namespace paced::io
