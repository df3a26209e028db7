// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/helper/site_policy.h"

#include <utility>

#include <unistd.h>

#include "policy/base/text.h"
#include "policy/io/site_policy_file.h"

namespace paced::helper {

SitePolicyOrReason read_policy(const std::string& path) {
    SitePolicyOrReason policy;
    if (const auto file = io::kill_switch(path)) {
        policy.off_because = "switched off by " + *file;
        return policy;
    }
    // The user's own file rules over nobody but him.
    if (const auto reason = io::why_untrusted(path, geteuid())) {
        policy.off_because = "off: the site policy cannot be trusted, " + *reason;
        return policy;
    }
    Diagnostics diagnostics;
    Result<config::SitePolicy> site = io::read_site_policy(path, diagnostics);
    if (!site) {
        policy.off_because = "off: " + site.error().message;
        return policy;
    }
    std::size_t errors = 0;
    for (const Diagnostic& entry : diagnostics.entries()) {
        if (entry.severity != Severity::error) continue;
        if (errors++ == 0) policy.off_because = "off: " + to_string(entry.location) + ": error: " + entry.message;
    }
    if (errors > 1) policy.off_because += " (and " + count_of(static_cast<long long>(errors) - 1, "more mistake") + ")";
    policy.site = std::move(*site);
    return policy;
}

}  // namespace paced::helper
