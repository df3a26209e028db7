// SPDX-License-Identifier: BSD-3-Clause
#include "policy/base/environment.h"

#include <unistd.h>

namespace paced {

Environment Environment::capture() {
    Environment captured;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        const auto equals = text.find('=');
        if (equals == std::string_view::npos) continue;
        captured.values_.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
    return captured;
}

std::optional<std::string> Environment::get(std::string_view name) const {
    const auto found = values_.find(name);
    if (found == values_.end()) return std::nullopt;
    return found->second;
}

std::string Environment::get_or(std::string_view name, std::string_view fallback) const {
    return get(name).value_or(std::string(fallback));
}

}  // namespace paced
