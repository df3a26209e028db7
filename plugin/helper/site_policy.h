// SPDX-License-Identifier: BSD-3-Clause
// The site's policy as every verb of the helper takes it.
#pragma once

#include <string>

#include "policy/config/site_policy.h"

namespace paced::helper {

// The policy that holds, or why none does: then everything is as if we were not there.
struct SitePolicyOrReason {
    config::SitePolicy site;
    std::string off_because;
};
SitePolicyOrReason read_policy(const std::string& path);

}  // namespace paced::helper
