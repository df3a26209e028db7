// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/spank/state.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

#include "plugin/spank/options.h"

namespace paced::spank {

constinit State state;

namespace {
constexpr std::uint32_t speaking_nodes = 8;
constinit std::uint32_t node_index = 0;
constinit Name node_name;
}  // namespace

bool exists(const char* path) noexcept { return access(path, F_OK) == 0; }

bool own_variable(const char* name, Path& text) noexcept {
    const char* const value = std::getenv(name);
    return value != nullptr && text.assign(value);
}

void this_node_is(std::uint32_t index, std::string_view name) noexcept {
    node_index = index;
    node_name.assign(name);
}

void tell(const char* format, ...) noexcept {
    char line[1024];
    std::va_list values;
    va_start(values, format);
    std::vsnprintf(line, sizeof line, format, values);
    va_end(values);
    const char* const colon = node_name.empty() ? "" : ": ";
    if (node_index < speaking_nodes) slurm_spank_log("paced-fabric: %s%s%s", node_name.c_str(), colon, line);
    else slurm_info("paced-fabric: %s%s%s", node_name.c_str(), colon, line);
}

void start(spank_t spank, int count, char* const* words) noexcept {
    const bool registered = register_options(spank);
    const char* const unknown = parse_arguments(count, words, state.arguments);
    Path kill_switch;
    if (!registered) {
        tell("Slurm did not take the plugin's flags; the plugin does nothing");
    } else if (unknown != nullptr) {
        tell("plugstack.conf: \"%s\" is not understood; the plugin does nothing (it knows: %s)", unknown, known_arguments);
    } else if (state.arguments.kill_switch(kill_switch) && exists(kill_switch.c_str())) {
        slurm_debug("paced-fabric: %s is there; the plugin does nothing", kill_switch.c_str());
        state.switched_off = true;
    } else {
        state.active = true;
    }
}

}  // namespace paced::spank
