// SPDX-License-Identifier: BSD-3-Clause
// Whose step a process belongs to, in the words of PACED_FABRIC_STEP_STAMP (plugin/step_environment.h).
#pragma once

#include <string>
#include <string_view>

#include <unistd.h>

#include "policy/base/environment.h"

namespace paced::step {

// The process at the other end of the socket that PMI_FD names: Hydra's proxy, one for all ranks of a node. 0: no
// such socket.
pid_t pmi_proxy(const Environment& environment);

// Whether the stamp is that of this process's own step, and not one that it inherited from a step around it.
bool stamp_holds(std::string_view stamp, const Environment& environment);

}  // namespace paced::step
