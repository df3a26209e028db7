// SPDX-License-Identifier: BSD-3-Clause
// A look at an XML text before hwloc gets it: what format and version it is, and whether its tags fit together, since
// hwloc itself says neither what is wrong nor where.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "policy/base/diagnostics.h"

namespace paced::io {

// The version of an hwloc XML: "1" for v1, else what its topology tag says ("2.0"). nullopt, with an error: not an
// hwloc XML, of a version that hwloc 2 cannot read, or broken.
std::optional<std::string> check_hwloc_xml(std::string_view text, const std::string& file, Diagnostics& diagnostics);

}  // namespace paced::io
