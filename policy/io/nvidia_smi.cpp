// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/nvidia_smi.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "policy/base/text.h"
#include "policy/io/nvidia_smi_text.h"
#include "policy/topology/device_kinds.h"
#include "policy/topology/host_list.h"

namespace paced::io {

namespace {

using namespace paced::topology;
using namespace nvidia_smi;

constexpr std::size_t most_devices = 1024;  // the table of relations grows with their square
constexpr char how_to_get_it[] = "the whole output of `nvidia-smi topo -m` is needed, from its head line (GPU0 GPU1 ...) on";

constexpr char one_node[] = "one node in each file";

class NvidiaSmiParser {
public:
    NvidiaSmiParser(std::string_view text, std::string file, Diagnostics& diagnostics)
        : file_(std::move(file)), text_(without_escapes(text)), lines_(lines_of(text_)), diagnostics_(diagnostics) {}

    std::optional<NodeTopology> parse();

private:
    Diagnostic& error(int line, int column, std::string message) {
        wrong_ = true;
        return diagnostics_.error({file_, line, column}, std::move(message));
    }
    bool read_head();
    void read_rows();
    bool is_row(const Line& line) const;
    void read_row(const Line& line);
    void read_affinity(const Line& line, std::size_t gpu, const std::vector<Cell>& cells);
    CpuSet read_cpus(const Line& line, std::size_t gpu, const Cell& cell);
    void rename(std::string_view line);
    void relate();
    void place_nics();
    void warn();

    std::string file_;
    std::string text_;
    std::vector<Line> lines_;
    Diagnostics& diagnostics_;
    std::size_t next_line_ = 0;
    int head_line_ = 0;
    Head head_;
    std::map<std::string, std::size_t, std::less<>> devices_;     // column by name
    std::vector<std::vector<std::optional<Relation>>> rows_;      // of each device; empty: no row
    std::vector<std::size_t> gpu_columns_, nic_columns_;          // column of each
    std::map<std::string, std::string, std::less<>> real_names_;  // of the NIC legend
    std::map<int, CpuSet> numa_nodes_;                            // their CPUs, as far as they are told
    std::vector<std::string> cut_;                                // GPUs whose list of CPUs is not whole
    NodeTopology node_;
    bool wrong_ = false;
};

bool NvidiaSmiParser::read_head() {
    std::optional<Head> head;
    while (next_line_ < lines_.size() && !head) {
        head = parse_head(lines_[next_line_].text);
        if (!head && is_row(lines_[next_line_])) {
            error(lines_[next_line_].number, 0, "a row of a matrix before its head line").hints.push_back(how_to_get_it);
            return false;
        }
        ++next_line_;
    }
    if (!head) {
        error(0, 0, "no head line of a matrix, which names GPUs and NICs").hints.push_back(how_to_get_it);
        return false;
    }
    head_ = std::move(*head);
    head_line_ = lines_[next_line_ - 1].number;
    if (head_.devices.size() > most_devices) {
        error(head_line_, 0, std::to_string(head_.devices.size()) + " devices, which no node has");
        return false;
    }
    for (std::size_t i = 0; i < head_.devices.size(); ++i) {
        const Cell& cell = head_.devices[i];
        if (!devices_.emplace(cell.text, i).second)
            error(head_line_, cell.column, "a second column '" + std::string(cell.text) + '\'').hints.push_back(one_node);
        if (is_numbered(cell.text, "GPU")) {
            gpu_columns_.push_back(i);
            Gpu& gpu = node_.gpus.emplace_back();
            gpu.name = cell.text;
            gpu.vendor = "NVIDIA";
        } else {
            nic_columns_.push_back(i);
        }
    }
    rows_.resize(head_.devices.size());
    return !wrong_;
}

// It begins with a device (before the head line is known: with a GPU), and half of what follows is what a matrix holds: other
// output may speak of GPU0 too.
bool NvidiaSmiParser::is_row(const Line& line) const {
    const auto cells = cells_of(line.text);
    if (cells.size() < 2) return false;
    const bool known = head_.devices.empty() ? is_numbered(cells[0].text, "GPU") : devices_.find(cells[0].text) != devices_.end();
    if (!known) return false;
    const auto last = cells.begin() +
                      static_cast<std::ptrdiff_t>(std::min(cells.size(), head_.devices.empty() ? cells.size() : head_.devices.size() + 1));
    const auto words = std::count_if(cells.begin() + 1, last, [](const Cell& cell) { return !cell.text.empty() && parse_cell(cell.text); });
    return words > 0 && 2 * words >= last - cells.begin() - 1;
}

void NvidiaSmiParser::read_rows() {
    bool in_matrix = true, in_legend = false;
    for (; next_line_ < lines_.size(); ++next_line_) {
        const Line& line = lines_[next_line_];
        const std::string_view text = trim(line.text);
        if (text == "Legend:" || text == "NIC Legend:") {
            in_matrix = false;
            in_legend = text.starts_with("NIC");
        } else if (parse_head(line.text)) {
            diagnostics_.warning({file_, line.number, 0}, "a second matrix, which is left out").hints.push_back(one_node);
            return;
        } else if (in_legend) {
            rename(text);
        } else if (in_matrix && is_row(line)) {
            read_row(line);
        }
    }
}

void NvidiaSmiParser::read_row(const Line& line) {
    const auto cells = cells_of(line.text);
    const std::size_t device = devices_.find(cells[0].text)->second;
    auto& row = rows_[device];
    if (!row.empty()) {
        error(line.number, cells[0].column, "a second row '" + std::string(cells[0].text) + '\'').hints.push_back(one_node);
        return;
    }
    row.resize(head_.devices.size());
    if (cells.size() < row.size() + 1) {
        error(line.number, static_cast<int>(line.text.size()) + 1,
              "row '" + std::string(cells[0].text) + "' has " + count_of(static_cast<long long>(cells.size()) - 1, "cell") +
                  ", the head line names " + count_of(static_cast<long long>(row.size()), "device"))
            .hints.push_back("a cell that is not known can hold '?'");
        return;
    }
    for (std::size_t i = 0; i < row.size(); ++i) {
        const Cell& cell = cells[i + 1];
        const auto word = parse_cell(cell.text);
        if (word) {
            row[i] = word->relation;
        } else {
            error(line.number, cell.column, '\'' + std::string(cell.text) + "' is no relation").hints =
                hints_for(cell.text, std::array<std::string_view, 8>{"X", "PIX", "PXB", "PHB", "NODE", "SYS", "NV12", "?"});
        }
    }
    const auto gpu = std::find(gpu_columns_.begin(), gpu_columns_.end(), device);
    if (gpu != gpu_columns_.end()) read_affinity(line, static_cast<std::size_t>(gpu - gpu_columns_.begin()), cells);
}

void NvidiaSmiParser::read_affinity(const Line& line, std::size_t gpu, const std::vector<Cell>& cells) {
    const auto cell_of = [&](int column) {
        const std::size_t at = head_.devices.size() + 1 + static_cast<std::size_t>(column);
        return column >= 0 && at < cells.size() ? cells[at] : Cell{};
    };
    const CpuSet cpus = read_cpus(line, gpu, cell_of(head_.cpu_column));
    node_.cpus |= cpus;
    const Cell numa = cell_of(head_.numa_column);
    const auto numbers = CpuSet::parse(numa.text);
    if (numbers && numbers->count() == 1) {  // several: no telling which
        node_.gpus[gpu].place.numa = numbers->first();
        numa_nodes_[numbers->first()] |= cpus;
    }
    if (!numbers && numa.text != "N/A" && numa.text != "?")
        error(line.number, numa.column, '\'' + std::string(numa.text) + "' is no NUMA node").hints.push_back("'N/A' where it is not known");
}

// As far as it goes.
CpuSet NvidiaSmiParser::read_cpus(const Line& line, std::size_t gpu, const Cell& cell) {
    std::string_view text = cell.text;
    if (text == "N/A" || text == "?") return {};
    const std::size_t whole = text.size();
    while (text.ends_with(',') || text.ends_with('.') || text.ends_with('-')) text.remove_suffix(1);
    const auto cpus = CpuSet::parse(text);
    if (!cpus) {
        error(line.number, cell.column, '\'' + std::string(cell.text) + "' is no list of CPUs").hints.push_back("as in '0-47,96-143'");
        return {};
    }
    // The tool prints no more than so many characters, which cuts the lists of machines that number their CPUs round-robin over the
    // packages: six CPUs, none beside another. To bind to these six alone would be wrong.
    bool apart = cpus->count() == 6;
    for (int cpu = cpus->first(), then; apart && (then = cpus->next(cpu)) >= 0; cpu = then) apart = then > cpu + 1;
    if (text.size() != whole || apart) {
        cut_.push_back(node_.gpus[gpu].name);
    } else {
        node_.gpus[gpu].place.local_cpus = *cpus;
    }
    return *cpus;
}

// "NIC0: mlx5_10"
void NvidiaSmiParser::rename(std::string_view line) {
    const auto colon = line.find(':');
    if (colon == std::string_view::npos || devices_.find(line.substr(0, colon)) == devices_.end()) return;
    const std::string_view name = trim(line.substr(colon + 1));
    if (!name.empty() && name.find_first_of(" \t") == std::string_view::npos) real_names_.emplace(line.substr(0, colon), name);
}

void NvidiaSmiParser::relate() {
    for (std::size_t column : nic_columns_) {
        Nic& nic = node_.nics.emplace_back();
        nic.alias = head_.devices[column].text;
        const auto real = real_names_.find(nic.alias);
        nic.name = real == real_names_.end() ? nic.alias : real->second;
        nic.kind = kind_of_name(nic.name).value_or(NicKind::rdma);  // the tool lists RDMA devices only
    }
    if (node_.nics.empty()) return;
    for (std::size_t gpu : gpu_columns_) {
        auto& stated = node_.stated_relations.emplace_back();
        for (std::size_t nic : nic_columns_) {
            std::optional<Relation> relation;
            if (!rows_[gpu].empty()) relation = rows_[gpu][nic];
            if (!relation && !rows_[nic].empty()) relation = rows_[nic][gpu];
            stated.push_back(relation);
        }
    }
}

void NvidiaSmiParser::place_nics() {
    for (std::size_t nic = 0; nic < node_.nics.size(); ++nic) {
        std::optional<int> numa;
        bool agreed = true;
        for (std::size_t gpu = 0; gpu < node_.gpus.size(); ++gpu) {
            const auto& relation = node_.stated_relations[gpu][nic];
            const auto& here = node_.gpus[gpu].place.numa;
            if (!relation || *relation > Relation::node || !here) continue;
            agreed = agreed && (!numa || numa == here);
            numa = here;
        }
        if (agreed) node_.nics[nic].place.numa = numa;
    }
}

void NvidiaSmiParser::warn() {
    std::vector<std::string> unknown;
    for (std::size_t gpu = 0; gpu < node_.stated_relations.size(); ++gpu) {
        const auto& stated = node_.stated_relations[gpu];
        if (std::none_of(stated.begin(), stated.end(), [](const auto& relation) { return relation.has_value(); }))
            unknown.push_back(node_.gpus[gpu].name);
    }
    if (!unknown.empty())
        diagnostics_.warning({file_, head_line_, 0}, "no row tells which NIC is near to " + compress_hosts(unknown))
            .hints.push_back("the rows of the NICs would do as well");
    if (!cut_.empty())
        diagnostics_.warning({file_, head_line_, 0},
                             "the list of CPUs is cut for " + compress_hosts(cut_) + ": not known which CPUs are near");
}

std::optional<NodeTopology> NvidiaSmiParser::parse() {
    if (text_.find('\0') != std::string::npos) {
        diagnostics_.error({file_, 0, 0}, "not a text file: it holds a NUL byte");
        return std::nullopt;
    }
    if (!read_head()) return std::nullopt;
    read_rows();
    if (std::all_of(rows_.begin(), rows_.end(), [](const auto& row) { return row.empty(); }))
        error(head_line_, 0, "the head line of a matrix, but no row").hints.push_back(how_to_get_it);
    if (wrong_) return std::nullopt;
    relate();
    place_nics();
    warn();
    node_.origin = "nvidia-smi topo " + file_;
    for (const auto& [number, cpus] : numa_nodes_) node_.numa_nodes.push_back({number, cpus, 0});
    for (int cpu : node_.cpus.members())
        node_.pus.push_back({.cpu = cpu, .core = static_cast<int>(node_.pus.size())});  // cores are not told
    locate_pus(node_);
    return std::move(node_);
}

}  // namespace

std::optional<NodeTopology> parse_nvidia_smi(std::string_view text, const std::string& file, Diagnostics& diagnostics) {
    return NvidiaSmiParser(text, file, diagnostics).parse();
}

}  // namespace paced::io
