// SPDX-License-Identifier: BSD-3-Clause
#include <string>

#include <unistd.h>

#include "plugin/helper/answer.h"
#include "plugin/helper/verbs.h"
#include "policy/config/effective.h"
#include "policy/io/site_policy_file.h"
#include "policy/io/text_file.h"

namespace paced::helper {

int check_flag(const Environment& environment, std::string_view name, std::string_view value) {
    const std::string path = environment.get_or("PACED_FABRIC_HELPER_CONFIG", io::default_policy_path);
    Diagnostics mistakes;
    Result<config::SitePolicy> policy = io::read_site_policy(path, mistakes);
    // The site's own mistake: names of policies are not known, and the step will tell.
    if (!policy || mistakes.has_errors()) return 3;

    Diagnostics diagnostics;
    config::check_flag(*policy, name, {true, std::string(value)}, diagnostics);
    io::write_all(STDERR_FILENO, format(diagnostics));
    return diagnostics.has_errors() ? 1 : 0;
}

}  // namespace paced::helper
