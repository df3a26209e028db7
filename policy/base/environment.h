// SPDX-License-Identifier: BSD-3-Clause
// The environment as a value: captured once at the edge, passed in, never read behind a caller's back, so that
// precedence rules are tested without setenv.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace paced {

class Environment {
public:
    Environment() = default;
    explicit Environment(std::map<std::string, std::string, std::less<>> values) : values_(std::move(values)) {}

    // A copy of this process's environment.
    static Environment capture();

    std::optional<std::string> get(std::string_view name) const;
    std::string get_or(std::string_view name, std::string_view fallback) const;
    void set(std::string name, std::string value) { values_[std::move(name)] = std::move(value); }
    const std::map<std::string, std::string, std::less<>>& values() const { return values_; }

private:
    std::map<std::string, std::string, std::less<>> values_;
};

}  // namespace paced
