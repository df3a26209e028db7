// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/nvidia_smi_text.h"

#include "policy/base/text.h"
#include "policy/io/nvidia_smi.h"

namespace paced::io {

namespace nvidia_smi {

namespace {

bool is_blank(char c) {
    return c == ' ' || c == '\r';
}

Cell trimmed(std::string_view line, std::size_t start, std::size_t end) {
    while (start < end && is_blank(line[start])) ++start;
    while (end > start && is_blank(line[end - 1])) --end;
    return {line.substr(start, end - start), static_cast<int>(start) + 1};
}

}  // namespace

std::vector<Line> lines_of(std::string_view text) {
    std::vector<Line> lines;
    int number = 0;
    for (std::string_view line : split(text, '\n')) {
        ++number;
        if (!trim(line).starts_with('#')) lines.push_back({line, number});
    }
    return lines;
}

std::string without_escapes(std::string_view text) {
    std::string plain(text);
    for (std::size_t at = 0; (at = plain.find('\x1b', at)) != std::string::npos;) {
        plain[at++] = ' ';
        if (at == plain.size() || plain[at] != '[') continue;
        while (at < plain.size() && plain[at] != '\n') {
            const bool last = plain[at] >= '@' && plain[at] <= '~' && plain[at] != '[';
            plain[at++] = ' ';
            if (last) break;
        }
    }
    return plain;
}

std::vector<Cell> cells_of(std::string_view line) {
    std::vector<Cell> cells;
    const bool tabs = trim(line).find('\t') != std::string_view::npos;
    for (std::size_t start = 0; start <= line.size();) {
        std::size_t end = start;
        while (end < line.size() && line[end] != '\t' && (tabs || line[end] != ' ')) ++end;
        const Cell cell = trimmed(line, start, end);
        if (tabs || !cell.text.empty()) cells.push_back(cell);
        start = end + 1;
    }
    return cells;
}

bool is_numbered(std::string_view text, std::string_view word) {
    return text.starts_with(word) && parse_integer(text.substr(word.size())).value_or(-1) >= 0;
}

std::optional<CellWord> parse_cell(std::string_view text) {
    if (text.empty() || text == "?" || text == "-" || text == "N/A" || text == "X") return CellWord{};
    if (text == "SOC") return CellWord{topology::Relation::sys};  // the word of older tools
    const auto relation = topology::parse_relation(text);
    if (relation && *relation != topology::Relation::pkg) return CellWord{relation};
    if (is_numbered(text, "NV")) return CellWord{};
    return std::nullopt;
}

std::optional<Head> parse_head(std::string_view line) {
    Head head;
    std::vector<Cell> cells = cells_of(line);
    if (!cells.empty() && cells.front().text.empty()) cells.erase(cells.begin());
    if (cells.empty() || !is_numbered(cells.front().text, "GPU")) return std::nullopt;
    std::string rest;
    for (const Cell& cell : cells) {
        if (cell.text.empty()) continue;
        if (!rest.empty() || cell.text.starts_with("CPU") || cell.text.starts_with("NUMA")) {
            rest += rest.empty() ? "" : " ";
            rest += cell.text;
            continue;
        }
        if (parse_cell(cell.text)) return std::nullopt;                             // a row
        if (cell.text.back() < '0' || cell.text.back() > '9') return std::nullopt;  // a sentence: every device has a number at its end
        head.devices.push_back(cell);
    }
    const bool cpus = rest.find("CPU Affinity") != std::string::npos;
    if (cpus) head.cpu_column = 0;
    if (rest.find("NUMA Affinity") != std::string::npos) head.numa_column = cpus ? 1 : 0;
    // "GPU0" alone on a line is little; another matrix of the tool (topo -p2p) has no affinity.
    return cpus || head.devices.size() > 1 ? std::optional(head) : std::nullopt;
}

}  // namespace nvidia_smi

bool looks_like_nvidia_smi(std::string_view text) {
    for (auto gpu = text.find("GPU"); gpu != std::string_view::npos; gpu = text.find("GPU", gpu + 1))
        if (gpu + 3 < text.size() && text[gpu + 3] >= '0' && text[gpu + 3] <= '9')
            return text.find("CPU Affinity") != std::string_view::npos || text.find("Legend:") != std::string_view::npos;
    return false;
}

}  // namespace paced::io
