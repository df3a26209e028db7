// SPDX-License-Identifier: BSD-3-Clause
// The five things a job can ask for, as values, and how their texts are read. One place for flags, environment
// and policy file: the same words, the same errors.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/base/duration.h"
#include "policy/base/result.h"

namespace paced::config {

enum class Mode { off, observe, pace, explain };
inline constexpr std::array<std::string_view, 4> mode_names{"off", "observe", "pace", "explain"};

// The traffic that the rank order is chosen for.
struct Order {
    enum class Pattern { none, ring, alltoall, tree, grid };
    Pattern pattern = Pattern::none;
    std::vector<std::pair<std::string, int>> axes;  // of a grid, fastest first as written: tp=8,pp=4,dp=16

    friend bool operator==(const Order&, const Order&) = default;
};

enum class Bind { none, gpu_nic, gpu_nic_cpu };

// Longest delay of one collective.
struct Window {
    bool automatic = true;
    Nanoseconds longest{0};  // where not automatic

    friend bool operator==(const Window&, const Window&) = default;
};

struct Report {
    enum class Level { none, summary, full };
    Level level = Level::summary;
    std::string path;  // of the JSON report, with %j and %s still in it; empty: none asked for

    friend bool operator==(const Report&, const Report&) = default;
};

// Each refuses what it does not know with the valid values named and, where a word is near, a "did you mean".
Result<Mode> parse_mode(std::string_view text);
Result<Order> parse_order(std::string_view text);
Result<Bind> parse_bind(std::string_view text);
Result<Window> parse_window(std::string_view text);
Result<Report> parse_report(std::string_view text);

std::string to_string(Mode mode);
std::string to_string(const Order& order);
std::string to_string(Bind bind);
std::string to_string(const Window& window);
std::string to_string(const Report& report);

}  // namespace paced::config
