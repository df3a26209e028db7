// SPDX-License-Identifier: BSD-3-Clause
// The five things a job can ask for, as values, and how their texts are read. One place for flags, environment
// and policy file: the same words, the same errors.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/base/duration.h"
#include "policy/base/result.h"

namespace paced::config {

// How a setting is called in each place where it can stand.
struct SettingNames {
    std::string_view key;       // in a policy file
    std::string_view flag;      // on a command line
    std::string_view variable;  // in the environment
};
inline constexpr SettingNames mode_setting{"mode", "--paced-fabric", "PACED_FABRIC"};
inline constexpr SettingNames order_setting{"order", "--paced-fabric-order", "PACED_FABRIC_ORDER"};
inline constexpr SettingNames bind_setting{"bind", "--paced-fabric-bind", "PACED_FABRIC_BIND"};
inline constexpr SettingNames window_setting{"window", "--paced-fabric-window", "PACED_FABRIC_WINDOW"};
inline constexpr SettingNames report_setting{"report", "--paced-fabric-report", "PACED_FABRIC_REPORT"};
inline constexpr std::array settings{mode_setting, order_setting, bind_setting, window_setting, report_setting};

enum class Mode { off, observe, pace, explain };
inline constexpr std::array<std::string_view, 4> mode_names{"off", "observe", "pace", "explain"};

// One axis of a grid of ranks: tp=8, or tp=8:100 with a weight.
struct Axis {
    std::string name;
    int size = 1;
    std::optional<int> weight = std::nullopt;  // of a message along it, 0 to Order::most_weight; all axes of a grid have one, or none

    friend bool operator==(const Axis&, const Axis&) = default;
};

// The traffic that the rank order is chosen for.
struct Order {
    enum class Pattern { none, ring, alltoall, tree, grid };
    Pattern pattern = Pattern::none;
    std::vector<Axis> axes;  // of a grid, fastest first as written: tp=8,pp=4,dp=16
    static constexpr long long most_ranks = 1LL << 24;  // of a grid; more is a slip
    static constexpr int most_weight = 1'000'000;

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

// Each refuses what it does not know. The error's hints name the valid values and, where a word is near, what was
// probably meant.
Result<Mode> parse_mode(std::string_view text);
Result<Order> parse_order(std::string_view text);
Result<Bind> parse_bind(std::string_view text);
Result<Window> parse_window(std::string_view text);
Result<Report> parse_report(std::string_view text);

// What stands for %j (job), %s (step) and %% in a report's path is put in.
std::string expand_path(const Report& report, std::string_view job, std::string_view step);

std::string to_string(Mode mode);
std::string to_string(const Order& order);
std::string to_string(Bind bind);
std::string to_string(const Window& window);
std::string to_string(const Report& report);

}  // namespace paced::config
