// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/compute_replay.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "policy/base/text.h"
#include "policy/io/text_file.h"
#include "policy/io/text_lines.h"
#include "policy/report/report.h"

namespace paced::io {

namespace {

constexpr std::size_t most_errors = 20;
constexpr std::size_t most_values = 100'000'000;

std::optional<double> number_of(std::string_view text) {
    text = trim(text);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
    return value;
}

// A line of CSV; a cell in double quotes may hold commas.
std::vector<std::string_view> cells_of(std::string_view line) {
    std::vector<std::string_view> cells;
    for (;;) {
        std::size_t end = 0, skipped = 0;
        if (line.starts_with('"')) {
            const std::size_t closing = line.find('"', 1);
            if (closing != std::string_view::npos) {
                skipped = 1;
                end = closing;
            }
        }
        const std::size_t comma = line.find(',', end);
        cells.push_back(line.substr(skipped, (skipped > 0 ? end : std::min(comma, line.size())) - skipped));
        if (comma == std::string_view::npos) return cells;
        line.remove_prefix(comma + 1);
    }
}

std::optional<simulation::Replay> table_of(std::string_view text, const std::string& file, Diagnostics& found) {
    simulation::Replay replay;
    TextLines lines(text);
    for (std::string_view line; lines.next(line) && found.entries().size() < most_errors;) {
        line = line.substr(0, line.find('#'));
        if (trim(line).empty()) continue;
        const auto cells = split(line, ',');
        if (replay.ranks == 0) replay.ranks = static_cast<std::uint32_t>(cells.size());
        if (cells.size() != replay.ranks) {
            found.error({file, lines.number(), 1}, "this line has " + count_of(static_cast<long long>(cells.size()), "number") + ", the first one has " + std::to_string(replay.ranks));
            continue;
        }
        for (const std::string_view cell : cells) {
            const auto value = number_of(cell);
            if (value && *value > 0) {
                replay.compute_s.push_back(static_cast<float>(*value));
                continue;
            }
            found.error({file, lines.number(), static_cast<int>(cell.data() - line.data()) + 1}, "'" + std::string(trim(cell)) + "' is no time above 0, in seconds");
            break;
        }
        if (replay.compute_s.size() > most_values) found.error({file, lines.number(), 1}, "there are more than " + std::to_string(most_values) + " times");
    }
    if (replay.ranks == 0) found.error({file, 1, 1}, "there is no time in this file");
    return replay;
}

// Steps in the order of their numbers, ranks in that of process and thread; a rank without compute in a step would leave a hole.
std::optional<simulation::Replay> timeline_of(std::string_view text, const std::string& file, Diagnostics& found) {
    struct Columns {
        std::size_t process = 0, tid = 0, thread = 0, step = 0, duration = 0;
    } at;
    std::map<long long, std::map<std::pair<long long, long long>, double>> steps;
    std::size_t columns = 0;
    TextLines lines(text);
    for (std::string_view line; lines.next(line) && found.entries().size() < most_errors;) {
        if (trim(line).empty()) continue;
        const auto cells = cells_of(trim(line));
        if (columns == 0) {
            columns = cells.size();
            const std::pair<std::string_view, std::size_t*> wanted[] = {
                {"pid", &at.process}, {"tid", &at.tid}, {"thread", &at.thread}, {"step", &at.step}, {"duration_us", &at.duration}};
            for (const auto& [name, place] : wanted) {
                while (*place < columns && cells[*place] != name) ++*place;
                if (*place == columns) found.error({file, lines.number(), 1}, "this timeline has no column '" + std::string(name) + "'");
            }
            if (found.has_errors()) return std::nullopt;
            continue;
        }
        if (cells.size() != columns) {
            found.error({file, lines.number(), 1}, "this line has " + count_of(static_cast<long long>(cells.size()), "cell") + ", the head " + std::to_string(columns));
            continue;
        }
        if (!cells[at.thread].ends_with("compute")) continue;
        const auto process = parse_integer(cells[at.process]), tid = parse_integer(cells[at.tid]), step = parse_integer(cells[at.step]);
        const auto duration = number_of(cells[at.duration]);
        if (!process || !tid || !step || !duration || *duration < 0) {
            found.error({file, lines.number(), 1}, "pid, tid, step and duration_us must be numbers");
            continue;
        }
        steps[*step][{*process, *tid}] += *duration / 1e6;
    }
    simulation::Replay replay;
    if (steps.empty()) {
        found.error({file, 1, 1}, "there is no compute in this timeline");
        return std::nullopt;
    }
    for (const auto& [step, ranks] : steps) replay.ranks = std::max(replay.ranks, static_cast<std::uint32_t>(ranks.size()));
    for (const auto& [step, ranks] : steps) {
        if (ranks.size() != replay.ranks) {
            found.warning({file, 0, 0}, "step " + std::to_string(step) + " is left out: " + std::to_string(ranks.size()) + " of " + std::to_string(replay.ranks) + " ranks compute in it");
            continue;
        }
        for (const auto& [rank, seconds] : ranks) replay.compute_s.push_back(static_cast<float>(seconds));
    }
    return replay;
}

std::optional<simulation::Replay> report_of(std::string_view text, const std::string& file, Diagnostics& found) {
    const Result<report::Report> read = report::parse_report(text);
    if (!read) {
        found.error({file, 0, 0}, read.error().message);
        return std::nullopt;
    }
    const report::Compute& compute = read->compute;
    if (compute.ms.empty()) {
        found.error({file, 0, 0}, "this report does not say what its ranks computed").hints.push_back(
            "reports do where iterations were found and every call of theirs was kept: run the job for some hundred iterations");
        return std::nullopt;
    }
    simulation::Replay replay;
    replay.ranks = static_cast<std::uint32_t>(compute.ranks.size());
    constexpr double least_ms = 1e-3;  // the resolution of a report; a table must have times above 0
    for (const double ms : compute.ms) replay.compute_s.push_back(static_cast<float>(std::max(ms, least_ms) / 1e3));
    return replay;
}

}  // namespace

std::optional<simulation::Replay> parse_compute_replay(std::string_view text, const std::string& file, Diagnostics& diagnostics) {
    Diagnostics found;
    std::optional<simulation::Replay> replay;
    if (text.starts_with("\x1f\x8b"))
        found.error({file, 0, 0}, "this file is compressed").hints.push_back("gunzip it first");
    else if (trim(text.substr(0, 64)).starts_with("{"))
        replay = report_of(text, file, found);
    else if (text.starts_with("pid,"))
        replay = timeline_of(text, file, found);
    else
        replay = table_of(text, file, found);
    if (replay) replay->origin = file;
    diagnostics.append(found);
    return found.has_errors() ? std::nullopt : std::move(replay);
}

std::optional<simulation::Replay> read_compute_replay(const std::string& path, Diagnostics& diagnostics) {
    const auto text = read_text_file(path);
    if (text) return parse_compute_replay(*text, path, diagnostics);
    diagnostics.error({}, text.error().message);
    return std::nullopt;
}

}  // namespace paced::io
