// SPDX-License-Identifier: BSD-3-Clause
// What of a binding somebody else has settled already, the user or the site. Both ways to launch keep it.
#pragma once

#include <string>
#include <string_view>

#include "policy/base/environment.h"

namespace paced::step {

inline constexpr char ucx_conf[] = "/etc/ucx/ucx.conf";

// Whether UCX's own file sets UCX_NET_DEVICES; a variable would go over it.
bool site_has_ucx_list(const std::string& path = ucx_conf);

// Whether a variable of placement::library_variables is to be left alone: it is set, or something else is that changes its meaning.
bool is_settled(std::string_view name, const Environment& environment);

// Who has bound the cores, in words; empty: nobody that the environment tells of.
std::string cores_bound_by(const Environment& environment);

}  // namespace paced::step
