// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/lingjun_csv.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>
#include <vector>

#include "policy/base/text.h"
#include "policy/io/slurm_conf.h"
#include "policy/io/text_lines.h"

namespace paced::io {

namespace {

using namespace paced::topology;

constexpr std::array<std::string_view, 4> columns{"ip", "DSW", "PSW", "ASW"};

class Reader {
public:
    Reader(const std::string& file, Diagnostics& diagnostics) : file_(file), diagnostics_(diagnostics) {}

    void read_row(std::string_view line, int number) {
        const auto cells = split(line, ',');
        std::string name;
        const Location where{file_, number, 1};
        if (cells.size() != columns.size()) {
            diagnostics_.error(where, "this line has " + count_of(static_cast<long long>(cells.size()), "column") + ", not 4: ip,DSW,PSW,ASW");
            return;
        }
        for (std::size_t i = 0; i < cells.size(); ++i) {
            if (!trim(cells[i]).empty()) continue;
            diagnostics_.error({file_, number, static_cast<int>(cells[i].data() - line.data()) + 1}, std::string(columns[i]) + " is empty");
            return;
        }
        std::optional<std::size_t> above;
        for (std::size_t level = 1; level < cells.size(); ++level) {
            if (level > 1) name += '-';
            name += trim(cells[level]);
            const auto [found, is_new] = index_of_.try_emplace(name, switches_.size());
            if (is_new) {
                switches_.push_back({name, {}, {}, {file_, number, 1}});
                if (above) switches_[*above].children.push_back(name);
            }
            above = found->second;
        }
        switches_[*above].hosts.emplace_back(trim(cells[0]));
    }

    FabricTopology finish() {
        FabricBuilder builder;
        for (Known& each : switches_) builder.add_switch(std::move(each.name), std::move(each.hosts), std::move(each.children), std::move(each.where));
        return std::move(builder).build(diagnostics_);
    }

private:
    struct Known {
        std::string name;
        std::vector<std::string> hosts, children;
        Location where;
    };

    const std::string& file_;
    Diagnostics& diagnostics_;
    std::vector<Known> switches_;
    std::unordered_map<std::string, std::size_t> index_of_;
};

}  // namespace

bool is_lingjun_head(std::string_view line) {
    const auto cells = split(line, ',');
    return cells.size() == columns.size() &&
           std::equal(cells.begin(), cells.end(), columns.begin(), [](auto cell, auto column) { return same_key(trim(cell), column); });
}

std::optional<FabricTopology> parse_lingjun_csv(std::string_view text, const std::string& file, Diagnostics& diagnostics) {
    Diagnostics own;
    Reader reader(file, own);
    TextLines lines(text);
    bool head = false;
    for (std::string_view line; lines.next(line) && own.entries().size() < 20;) {
        if (trim(line).empty()) continue;
        if (head) {
            reader.read_row(line, lines.number());
            continue;
        }
        head = is_lingjun_head(line);
        if (!head) own.error({file, lines.number(), 1}, "the first line must be: ip,DSW,PSW,ASW");
    }
    FabricTopology fabric = reader.finish();
    fabric.origin = file + " (Lingjun host table)";
    if (!own.has_errors() && fabric.switches().empty()) own.error({file, 1, 1}, "there is no host in this table");
    const bool wrong = own.has_errors();
    diagnostics.append(own);
    return wrong ? std::nullopt : std::optional(std::move(fabric));
}

}  // namespace paced::io
