// SPDX-License-Identifier: BSD-3-Clause
// NodeTopology by hwloc: of this machine, or of an XML file that hwloc wrote (v1 and v2). Always the whole node: also CPUs
// that this process may not use, also devices without a driver; the task's mask is somebody else's business.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "policy/base/diagnostics.h"
#include "policy/base/result.h"
#include "policy/topology/node_topology.h"

namespace paced::io {

// This machine, from sysfs alone: hwloc's plugins (CUDA, NVML, OpenCL, ROCm, X11, ...) can hang, and are not loaded
// unless asked for. While it runs, HWLOC_* variables are out of the environment, through which a user could tell hwloc of
// another machine: call it (and parse_hwloc_xml) while the process has one thread.
struct LiveOptions {
    bool with_plugins = false;
};
Result<topology::NodeTopology> read_this_machine(const LiveOptions& options = {});

// An XML text; file is its name for diagnostics. nullopt, with at least one error: it cannot be used.
std::optional<topology::NodeTopology> parse_hwloc_xml(const std::string& text, const std::string& file, Diagnostics& diagnostics);

// "hwloc 2.9.0", the library that runs.
std::string hwloc_version();

}  // namespace paced::io
