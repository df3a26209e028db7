// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/spank/arguments.h"

namespace paced::spank {
namespace {

bool take_path(std::string_view word, std::string_view key, Path& path, bool& good) noexcept {
    if (!cut_prefix(word, key)) return false;
    good = !word.empty() && word.front() == '/' && path.assign(word);
    return true;
}

bool take(std::string_view word, Arguments& arguments) noexcept {
    bool good = false;
    if (take_path(word, "config=", arguments.config, good)) return good;
    if (take_path(word, "node_topology=", arguments.node_topology, good)) return good;
    if (take_path(word, "topology=", arguments.topology, good)) return good;
    if (take_path(word, "helper_dir=", arguments.helper_dir, good)) return good;
    std::uint32_t deadline_ms = 0;
    if (!cut_prefix(word, "deadline_ms=") || !parse_number(word, deadline_ms)) return false;
    if (deadline_ms < 50 || deadline_ms > 60'000) return false;
    arguments.deadline_ms = static_cast<int>(deadline_ms);
    return true;
}

}  // namespace

const char* parse_arguments(int count, char* const* words, Arguments& arguments) noexcept {
    arguments.config.assign(default_config);
    arguments.deadline_ms = default_deadline_ms;
    for (int i = 0; i < count; ++i) {
        if (words[i] != nullptr && !take(words[i], arguments)) return words[i];
    }
    return nullptr;
}

bool Arguments::kill_switch(Path& path) const noexcept {
    const std::size_t slash = config.view().rfind('/');
    if (slash == std::string_view::npos) return false;
    return path.assign({config.c_str(), slash + 1}) && path.append("disabled");
}

}  // namespace paced::spank
