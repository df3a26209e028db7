// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/topology_conf.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>
#include <vector>

#include "policy/base/text.h"
#include "policy/io/slurm_conf.h"
#include "policy/io/text_file.h"
#include "policy/topology/host_list.h"

namespace paced::io {

namespace {

using namespace paced::topology;

constexpr int deepest_include = 8;
constexpr std::array<std::string_view, 5> line_keys{"SwitchName", "BlockName", "BlockSizes", "BlockLevels", "Include"};
constexpr std::array<std::string_view, 3> switch_keys{"Nodes", "Switches", "LinkSpeed"};
constexpr std::array<std::string_view, 1> block_keys{"Nodes"};

// The part of a list's element before its numbers: "dgx-n" of "dgx-n[001-016]" and of "dgx-n7".
std::string_view prefix_of(std::string_view element) {
    return element.substr(0, std::min(element.find('['), element.find_last_not_of("0123456789") + 1));
}

// Splits at the commas outside brackets.
std::vector<std::string_view> elements_of(std::string_view list) {
    std::vector<std::string_view> elements;
    std::size_t start = 0;
    bool in_brackets = false;
    for (std::size_t i = 0; i <= list.size(); ++i) {
        if (i == list.size() || (list[i] == ',' && !in_brackets)) {
            elements.push_back(list.substr(start, i - start));
            start = i + 1;
        } else if (list[i] == '[' || list[i] == ']') {
            in_brackets = list[i] == '[';
        }
    }
    return elements;
}

bool names_guids(const FabricTopology& fabric) {
    const auto is_guid = [](const std::string& host) {
        return host.size() > 10 && host.starts_with("0x") && host.find_first_not_of("0123456789abcdefABCDEF", 2) == std::string::npos;
    };
    return fabric.host_count() > 0 && std::all_of(fabric.switches().begin(), fabric.switches().end(), [&](const Switch& each) {
               return std::all_of(each.hosts.begin(), each.hosts.end(), is_guid);
           });
}

class Reader {
public:
    explicit Reader(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

    void read(std::string_view text, const std::string& file, int depth) {
        for (const SlurmConfLine& line : parse_slurm_conf(text, file, diagnostics_)) {
            const SlurmConfPair& head = line.front();
            if (same_key(head.key, "SwitchName")) {
                read_switch(line, file, switch_keys);
            } else if (same_key(head.key, "BlockName")) {
                read_switch(line, file, block_keys);
                if (!first_block_) first_block_ = key_place(head, file);
            } else if (same_key(head.key, "Include")) {
                include(head, file, depth);
            } else if (!same_key(head.key, "BlockSizes") && !same_key(head.key, "BlockLevels")) {  // how Slurm groups blocks: not ours
                refuse_key(head, file, "a line of topology.conf starts with SwitchName= or BlockName=, not with '" + head.key + "'",
                           line_keys);
            }
        }
    }

    std::optional<FabricTopology> finish(const std::string& file) {
        if (first_block_ && first_switch_) diagnostics_.error(*first_block_, "blocks and switches in one file; Slurm takes either");
        FabricTopology fabric = std::move(builder_).build(diagnostics_);
        fabric.kind = first_block_ ? FabricKind::blocks : FabricKind::tree;
        fabric.origin = file;
        if (diagnostics_.has_errors()) return std::nullopt;
        if (fabric.switches().empty()) diagnostics_.warning({file, 0, 0}, "no switch in this file: no host's place is known");
        if (names_guids(fabric))
            diagnostics_.warning({file, 0, 0}, "the nodes in this file are GUIDs of ports: no host's place is known")
                .hints.push_back("sharp_cmd writes it so; replace each GUID by the name of its host");
        return fabric;
    }

private:
    static Location key_place(const SlurmConfPair& pair, const std::string& file) {
        return {file, pair.key_position.line, pair.key_position.column};
    }
    static Location value_place(const SlurmConfPair& pair, const std::string& file, std::size_t position = 0) {
        return {file, pair.value_positions[position].line, pair.value_positions[position].column};
    }

    void refuse_key(const SlurmConfPair& pair, const std::string& file, std::string message, std::span<const std::string_view> valid) {
        auto& hints = diagnostics_.error(key_place(pair, file), std::move(message)).hints;
        if (const auto near = did_you_mean(pair.key, valid)) hints.push_back("did you mean '" + *near + "'?");
    }

    std::vector<std::string> read_hosts(const SlurmConfPair& pair, const std::string& file) {
        HostList list = expand_hosts(pair.value);
        for (const HostListError& error : list.errors) diagnostics_.error(value_place(pair, file, error.position), error.message);
        return std::move(list.hosts);
    }

    // "dgx-n[001-016],n[019-020]": a prefix forgotten after a comma makes hosts that do not exist.
    void check_prefixes(const SlurmConfPair& pair, const std::string& file) {
        const auto elements = elements_of(pair.value);
        for (std::size_t i = 1; i < elements.size(); ++i) {
            const std::string_view prefix = prefix_of(elements[i]), before = prefix_of(elements[i - 1]);
            if (prefix.size() >= before.size() || !before.ends_with(prefix)) continue;
            if (prefix.empty() && elements[i].find('[') == std::string_view::npos) continue;
            diagnostics_
                .warning(value_place(pair, file, static_cast<std::size_t>(elements[i].data() - pair.value.data())),
                         "'" + std::string(elements[i]) + "' lacks the prefix of '" + std::string(elements[i - 1]) + "' before it")
                .hints.push_back("did you mean '" + std::string(before) + std::string(elements[i].substr(prefix.size())) + "'?");
        }
    }

    // A switch, or a block: a switch without others below.
    void read_switch(const SlurmConfLine& line, const std::string& file, std::span<const std::string_view> keys) {
        const SlurmConfPair& head = line.front();
        const bool is_block = keys.size() == block_keys.size();
        if (!is_block && !first_switch_) first_switch_ = key_place(head, file);
        std::vector<std::string> hosts, children;
        std::vector<std::string_view> seen;
        for (std::size_t i = 1; i < line.size(); ++i) {
            const SlurmConfPair& pair = line[i];
            const auto key = std::find_if(keys.begin(), keys.end(), [&](std::string_view each) { return same_key(each, pair.key); });
            if (key == keys.end()) {
                refuse_key(pair, file, "unknown key '" + pair.key + "' of a " + (is_block ? "block" : "switch"), keys);
                continue;
            }
            if (std::find(seen.begin(), seen.end(), *key) != seen.end()) {
                diagnostics_.error(key_place(pair, file), std::string(*key) + "= a second time in one line");
                continue;
            }
            seen.push_back(*key);
            if (*key == "Nodes") {
                check_prefixes(pair, file);
                hosts = read_hosts(pair, file);
            } else if (*key == "Switches") {
                children = read_hosts(pair, file);
            }
        }
        if (std::find(seen.begin(), seen.end(), "Nodes") == seen.end() && std::find(seen.begin(), seen.end(), "Switches") == seen.end())
            diagnostics_.warning(key_place(head, file),
                                 std::string(is_block ? "block" : "switch") + " '" + head.value + "' has neither nodes nor switches");
        builder_.add_switch(head.value, std::move(hosts), std::move(children), value_place(head, file));
    }

    void include(const SlurmConfPair& pair, const std::string& file, int depth) {
        if (depth == deepest_include) {
            diagnostics_.error(value_place(pair, file),
                               "includes are nested more than " + std::to_string(deepest_include) + " deep; does a file include itself?");
            return;
        }
        const std::string path = (std::filesystem::path(file).parent_path() / pair.value).string();
        const auto text = read_text_file(path);
        if (text)
            read(*text, path, depth + 1);
        else
            diagnostics_.error(value_place(pair, file), text.error().message);
    }

    Diagnostics& diagnostics_;
    FabricBuilder builder_;
    std::optional<Location> first_switch_, first_block_;
};

}  // namespace

std::optional<FabricTopology> parse_topology_conf(std::string_view text, const std::string& file, Diagnostics& diagnostics) {
    Diagnostics own;  // whether it is usable must not depend on mistakes elsewhere
    Reader reader(own);
    reader.read(text, file, 0);
    auto fabric = reader.finish(file);
    diagnostics.append(own);
    return fabric;
}

std::optional<FabricTopology> read_topology_conf(const std::string& path, Diagnostics& diagnostics) {
    const auto text = read_text_file(path);
    if (text) return parse_topology_conf(*text, path, diagnostics);
    diagnostics.error({}, text.error().message);
    return std::nullopt;
}

}  // namespace paced::io
