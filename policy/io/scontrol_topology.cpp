// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/scontrol_topology.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "policy/base/text.h"
#include "policy/io/slurm_conf.h"
#include "policy/io/text_lines.h"
#include "policy/topology/host_list.h"

namespace paced::io {

namespace {

using namespace paced::topology;

constexpr std::array<std::string_view, 3> heads{"SwitchName=", "BlockName=", "AggregatedBlock="};
constexpr std::array<std::string_view, 6> keys{"Level=", "LinkSpeed=", "Nodes=", "Switches=", "BlockIndex=", "BlockSize="};

bool starts_with_one_of(std::string_view line, std::span<const std::string_view> words) {
    return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return same_key(line.substr(0, word.size()), word); });
}

// Joins wrapped lines with a backslash, which the reader of "Key=Value" lines takes for a continuation; places stay true.
std::string unwrapped(std::string_view text) {
    std::string joined;
    joined.reserve(text.size() + text.size() / 16);
    TextLines lines(text);
    for (std::string_view line; lines.next(line);) {
        const std::string_view content = trim(line);
        if (lines.number() > 1) {
            if (content.empty() || content.front() == '#' || starts_with_one_of(content, heads))
                joined += '\n';
            else
                joined += starts_with_one_of(content, keys) ? " \\\n" : "\\\n";
        }
        joined += line;
    }
    return joined;
}

struct Record {
    std::string name;
    std::vector<std::string> hosts, children;
    Location where;
    bool is_block = false;
};

class Reader {
public:
    Reader(const std::string& file, Diagnostics& diagnostics) : file_(file), diagnostics_(diagnostics) {}

    FabricTopology read(std::string_view text) {
        for (const SlurmConfLine& line : parse_slurm_conf(unwrapped(text), file_, diagnostics_)) read_line(line);
        const bool blocks = std::any_of(records_.begin(), records_.end(), [](const Record& each) { return each.is_block; });
        if (blocks && !std::all_of(records_.begin(), records_.end(), [](const Record& each) { return each.is_block; }))
            diagnostics_.error(records_.front().where, "blocks and switches in one text; Slurm prints either");
        if (diagnostics_.has_errors()) records_.clear();  // the builder would miss what was not read
        keep_direct_hosts();
        FabricBuilder builder;
        for (Record& each : records_)
            builder.add_switch(std::move(each.name), std::move(each.hosts), std::move(each.children), std::move(each.where));
        const bool was_right = !diagnostics_.has_errors();
        FabricTopology fabric = std::move(builder).build(diagnostics_);
        if (was_right && diagnostics_.has_errors())
            diagnostics_.warning({file_, 0, 0}, "this may be a part of what scontrol show topology prints")
                .hints.push_back("give all of it");
        fabric.kind = blocks ? FabricKind::blocks : FabricKind::tree;
        fabric.origin = file_ + " (scontrol show topology)";
        return fabric;
    }

private:
    Location value_place(const SlurmConfPair& pair, std::size_t position = 0) const {
        return {file_, pair.value_positions[position].line, pair.value_positions[position].column};
    }

    void read_line(const SlurmConfLine& line) {
        const SlurmConfPair& head = line.front();
        if (same_key(head.key, "AggregatedBlock")) return;
        Record record;
        record.is_block = same_key(head.key, "BlockName");
        if (!record.is_block && !same_key(head.key, "SwitchName")) {
            diagnostics_.error({file_, head.key_position.line, head.key_position.column},
                               "a line of scontrol show topology starts with SwitchName= or BlockName=, not with '" + head.key + "'");
            return;
        }
        record.name = head.value;
        record.where = value_place(head);
        for (std::size_t i = 1; i < line.size(); ++i) {
            if (same_key(line[i].key, "Nodes"))
                record.hosts = read_list(line[i]);
            else if (same_key(line[i].key, "Switches"))
                record.children = read_list(line[i]);
        }
        records_.push_back(std::move(record));
    }

    std::vector<std::string> read_list(const SlurmConfPair& pair) {
        HostList list = expand_hosts(pair.value);
        for (const HostListError& error : list.errors)
            diagnostics_.error(value_place(pair, error.position), error.message)
                .hints.push_back("scontrol cuts lines where SLURM_TOPO_LEN is set; unset it and print again");
        return std::move(list.hosts);
    }

    void keep_direct_hosts() {
        std::unordered_map<std::string_view, std::size_t> index_of;
        for (std::size_t i = 0; i < records_.size(); ++i) index_of.try_emplace(records_[i].name, i);
        std::vector<std::vector<std::string>> direct(records_.size());
        for (std::size_t i = 0; i < records_.size(); ++i) {
            std::unordered_set<std::string_view> below;
            for (const std::string& child : records_[i].children)
                if (const auto found = index_of.find(child); found != index_of.end())
                    below.insert(records_[found->second].hosts.begin(), records_[found->second].hosts.end());
            for (const std::string& host : records_[i].hosts)
                if (!below.contains(host)) direct[i].push_back(host);
        }
        for (std::size_t i = 0; i < records_.size(); ++i) records_[i].hosts = std::move(direct[i]);
    }

    const std::string& file_;
    Diagnostics& diagnostics_;
    std::vector<Record> records_;
};

}  // namespace

std::optional<FabricTopology> parse_scontrol_topology(std::string_view text, const std::string& file, Diagnostics& diagnostics) {
    Diagnostics own;
    FabricTopology fabric = Reader(file, own).read(text);
    if (!own.has_errors() && fabric.switches().empty()) own.error({file, 0, 0}, "no switch in this text");
    const bool wrong = own.has_errors();
    diagnostics.append(own);
    return wrong ? std::nullopt : std::optional(std::move(fabric));
}

}  // namespace paced::io
