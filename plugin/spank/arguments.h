// SPDX-License-Identifier: BSD-3-Clause
// The words behind the plugin's path in plugstack.conf. Pure: no Slurm in it.
#pragma once

#include "plugin/spank/text.h"

namespace paced::spank {

struct Arguments {
    Path config;         // config=: the site's policy
    Path node_topology;  // node_topology=: a file that stands for this node's hardware; empty: look at the hardware
    Path topology;       // topology=: a file of the fabric, in any form that is read; empty: the helper looks in the usual places
    Path helper_dir;     // helper_dir=: folder of the helper programs; empty: beside this plugin
    int deadline_ms = 0;   // deadline_ms=: for an answer of the helper

    // A file "disabled" beside the policy switches the plugin off at once, without a reload.
    bool kill_switch(Path& path) const noexcept;
};

inline constexpr char default_config[] = "/etc/paced-fabric/policy.toml";
inline constexpr int default_deadline_ms = 2000;
inline constexpr char known_arguments[] = "config=PATH node_topology=FILE topology=FILE helper_dir=DIR deadline_ms=N";

// nullptr, or the first word that is not understood. Paths must be absolute; the deadline from 50 to 60000 ms.
const char* parse_arguments(int count, char* const* words, Arguments& arguments) noexcept;

}  // namespace paced::spank
