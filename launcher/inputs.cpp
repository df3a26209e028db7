// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/inputs.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <unistd.h>

#include "launcher/commands.h"
#include "policy/base/diagnostics.h"
#include "policy/io/fabric_file.h"
#include "policy/io/hwloc_reader.h"
#include "policy/io/node_file.h"

namespace paced::launcher {

bool is_unreadable(const std::string& path) {
    if (access(path.c_str(), R_OK) == 0) return false;
    std::fprintf(stderr, "error: cannot read %s: %s\n", path.c_str(), std::strerror(errno));
    return true;
}

NodeInput this_machine() {
    auto node = io::read_this_machine();
    if (node) return {std::move(*node), exit_done};
    std::fprintf(stderr, "error: %s\n", node.error().message.c_str());
    return {std::nullopt, exit_surroundings_failed};
}

NodeInput node_from_file(const std::string& path) {
    if (is_unreadable(path)) return {std::nullopt, exit_surroundings_failed};
    Diagnostics diagnostics;
    auto node = io::read_node_file(path, diagnostics);
    std::fputs(format(diagnostics).c_str(), stderr);
    return {std::move(node), exit_wrong_input};
}

FabricInput fabric_from_file(const std::string& path) {
    if (is_unreadable(path)) return {std::nullopt, exit_surroundings_failed};
    Diagnostics diagnostics;
    auto fabric = io::read_fabric_file(path, diagnostics);
    std::fputs(format(diagnostics).c_str(), stderr);
    return {std::move(fabric), exit_wrong_input};
}

}  // namespace paced::launcher
