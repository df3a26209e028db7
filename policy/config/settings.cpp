// SPDX-License-Identifier: BSD-3-Clause
#include "policy/config/settings.h"

#include <algorithm>
#include <span>

#include "policy/base/text.h"

namespace paced::config {

namespace {

using Names = std::span<const std::string_view>;

constexpr std::array<std::string_view, 4> pattern_names{"none", "ring", "alltoall", "tree"};  // a grid has no name
constexpr std::array<std::string_view, 3> bind_names{"none", "gpu-nic", "gpu-nic-cpu"};
constexpr std::array<std::string_view, 3> report_names{"none", "summary", "full"};

std::string quoted(std::string_view text) { return '\'' + std::string(text) + '\''; }

std::optional<std::size_t> position(Names names, std::string_view word) {
    const auto found = std::find(names.begin(), names.end(), word);
    if (found == names.end()) return std::nullopt;
    return static_cast<std::size_t>(found - names.begin());
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool is_axis_name(std::string_view text) {
    return !text.empty() && is_letter(text.front()) &&
           std::all_of(text.begin(), text.end(), [](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-'; });
}

Result<Order> parse_grid(std::string_view text) {
    Order order{Order::Pattern::grid, {}};
    long long ranks = 1;
    for (std::string_view axis : split(text, ',')) {
        const auto equals = axis.find('=');
        const std::string_view name = axis.substr(0, equals);
        std::string_view number = equals == std::string_view::npos ? std::string_view() : axis.substr(equals + 1);
        std::optional<long long> weight;
        const auto colon = number.find(':');
        if (colon != std::string_view::npos) {
            weight = parse_integer(number.substr(colon + 1)).value_or(-1);
            number = number.substr(0, colon);
        }
        const long long size = parse_integer(number).value_or(0);
        if (!is_axis_name(name) || size < 1)
            return fail("bad axis " + quoted(axis) + " in the grid " + quoted(text),
                        {"an axis is NAME=SIZE or NAME=SIZE:WEIGHT, such as 'tp=8' or 'tp=8:100'"});
        if (weight && (*weight < 0 || *weight > Order::most_weight))
            return fail("bad weight of axis " + quoted(axis) + " in the grid " + quoted(text),
                        {"a weight is a whole number from 0 to " + std::to_string(Order::most_weight)});
        if (std::any_of(order.axes.begin(), order.axes.end(), [&](const Axis& other) { return other.name == name; }))
            return fail("axis " + quoted(name) + " stands twice in the grid " + quoted(text));
        if (size > Order::most_ranks / ranks)
            return fail("the grid " + quoted(text) + " has more than " + std::to_string(Order::most_ranks) + " ranks");
        if (!order.axes.empty() && order.axes.front().weight.has_value() != weight.has_value())
            return fail("some axes of the grid " + quoted(text) + " have a weight and " + quoted(weight ? order.axes.front().name : name) + " has none",
                        {"give all axes a weight, or none"});
        ranks *= size;
        order.axes.push_back({std::string(name), static_cast<int>(size), weight ? std::optional(static_cast<int>(*weight)) : std::nullopt});
    }
    return order;
}

std::optional<Error> path_error(std::string_view path) {
    if (path.empty()) return Error{"the report's path is empty", {"leave out the comma, or write 'summary,report-%j.json'"}};
    for (std::size_t i = 0; i < path.size(); ++i) {
        if (static_cast<unsigned char>(path[i]) < ' ') return Error{"the report's path holds a control character", {}};
        if (path[i] != '%') continue;
        ++i;
        if (i == path.size() || std::string_view("js%").find(path[i]) == std::string_view::npos)
            return Error{"unknown placeholder " + quoted(path.substr(i - 1, 2)) + " in the report's path",
                         {"'%j' is the job, '%s' the step, '%%' a percent sign"}};
    }
    return std::nullopt;
}

}  // namespace

Result<Mode> parse_mode(std::string_view text) {
    if (const auto found = position(mode_names, text)) return static_cast<Mode>(*found);
    return fail("unknown mode " + quoted(text), hints_for(text, mode_names));
}

Result<Order> parse_order(std::string_view text) {
    if (const auto found = position(pattern_names, text)) return Order{static_cast<Order::Pattern>(*found), {}};
    if (text.find('=') != std::string_view::npos) return parse_grid(text);
    auto hints = hints_for(text, pattern_names);
    hints.back() += ", or a grid such as 'tp=8,pp=4,dp=16'";
    return fail("unknown order " + quoted(text), std::move(hints));
}

Result<Bind> parse_bind(std::string_view text) {
    if (const auto found = position(bind_names, text)) return static_cast<Bind>(*found);
    return fail("unknown binding " + quoted(text), hints_for(text, bind_names));
}

Result<Window> parse_window(std::string_view text) {
    if (text == "auto") return Window{};
    if (const auto longest = parse_duration(text)) return Window{false, *longest};
    std::vector<std::string> hints;
    if (parse_integer(text).value_or(-1) > 0)
        hints.push_back("a time needs its unit: '" + std::string(text) + "us' or '" + std::string(text) + "ms'");
    else if (did_you_mean(text, std::array<std::string_view, 1>{"auto"}))
        hints.push_back("did you mean 'auto'?");
    hints.push_back("valid: 'auto', '0', or a time of at most an hour in ns, us, ms or s, such as '500us' or '2ms'");
    return fail("bad window " + quoted(text), std::move(hints));
}

Result<Report> parse_report(std::string_view text) {
    const auto comma = text.find(',');
    const std::string_view word = text.substr(0, comma);
    const auto level = position(report_names, word);
    if (!level) {
        auto hints = hints_for(word, report_names);
        hints.back() += ", then optionally a comma and the path of the JSON report";
        return fail("unknown report level " + quoted(word), std::move(hints));
    }
    Report report{static_cast<Report::Level>(*level), {}};
    if (comma == std::string_view::npos) return report;
    report.path = text.substr(comma + 1);
    if (auto error = path_error(report.path)) return tl::unexpected<Error>(*std::move(error));
    return report;
}

std::string expand_path(const Report& report, std::string_view job, std::string_view step) {
    std::string path;
    for (std::size_t i = 0; i < report.path.size(); ++i) {
        const char c = report.path[i];
        if (c != '%' || i + 1 == report.path.size()) {
            path += c;
            continue;
        }
        switch (report.path[++i]) {
            case 'j': path += job; break;
            case 's': path += step; break;
            case '%': path += '%'; break;
            default: (path += c) += report.path[i];  // parse_report lets none through
        }
    }
    return path;
}

std::string to_string(Mode mode) { return std::string(mode_names[static_cast<std::size_t>(mode)]); }

std::string to_string(const Order& order) {
    if (order.pattern != Order::Pattern::grid) return std::string(pattern_names[static_cast<std::size_t>(order.pattern)]);
    std::string text;
    for (const Axis& axis : order.axes) {
        if (!text.empty()) text += ',';
        text += axis.name + '=' + std::to_string(axis.size);
        if (axis.weight) text += ':' + std::to_string(*axis.weight);
    }
    return text;
}

std::string to_string(Bind bind) { return std::string(bind_names[static_cast<std::size_t>(bind)]); }

std::string to_string(const Window& window) { return window.automatic ? "auto" : format_duration(window.longest); }

std::string to_string(const Report& report) {
    std::string text(report_names[static_cast<std::size_t>(report.level)]);
    if (!report.path.empty()) text += ',' + report.path;
    return text;
}

}  // namespace paced::config
