// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/fabric_file.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "policy/base/text.h"
#include "policy/io/ibnetdiscover.h"
#include "policy/io/infiniband_graph.h"
#include "policy/io/lingjun_csv.h"
#include "policy/io/netq_json.h"
#include "policy/io/scontrol_topology.h"
#include "policy/io/slurm_conf.h"
#include "policy/io/text_file.h"
#include "policy/io/text_lines.h"
#include "policy/io/topograph_model.h"
#include "policy/io/topology_conf.h"
#include "policy/io/topology_yaml.h"
#include "policy/topology/switch_graph.h"

namespace paced::io {

namespace {

using topology::FabricTopology;

bool starts_with_key(std::string_view line, std::string_view key) {
    return same_key(line.substr(0, key.size()), key);
}
bool has_key(std::string_view line, std::string_view key) {
    const auto same = [](char a, char b) {
        return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
    };
    return std::search(line.begin(), line.end(), key.begin(), key.end(), same) != line.end();
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// "host-1: 0x155dfffd33ff33"
bool is_host_and_guid(std::string_view line) {
    const std::size_t colon = line.rfind(": ");
    if (colon == std::string_view::npos || line.substr(0, colon).find_first_of(" \t") != std::string_view::npos) return false;
    const std::string_view guid = trim(line.substr(colon + 1));
    return guid.starts_with("0x") && parse_guid(guid).has_value();
}

// "key:" or "key: value", where a word stands before the colon.
bool is_yaml_key(std::string_view line) {
    const std::size_t colon = line.find(':');
    return colon != std::string_view::npos && colon > 0 &&
           (colon + 1 == line.size() || line[colon + 1] == ' ' || line[colon + 1] == '\t') &&
           line.substr(0, colon).find_first_of(" \t=[") == std::string_view::npos;
}

// A model is a mapping at its top, topology.yaml a list.
FabricFormat recognise_yaml(std::string_view text) {
    TextLines lines(text);
    for (std::string_view line; lines.next(line);) {
        for (std::string_view key : {"switches:", "blocks:", "capacity_blocks:", "nodes:"})
            if (line.starts_with(key)) return FabricFormat::topograph_model;
        if (line.starts_with('-') && !line.starts_with("---")) return FabricFormat::topology_yaml;
    }
    return FabricFormat::topology_yaml;
}

FabricFormat recognise_line(std::string_view line, std::string_view text) {
    if (line.front() == '<') return FabricFormat::xml;
    if (starts_with_key(line, "SwitchName")) return has_key(line, " Level=") ? FabricFormat::scontrol : FabricFormat::topology_conf;
    if (starts_with_key(line, "BlockName")) return has_key(line, " BlockIndex=") ? FabricFormat::scontrol : FabricFormat::topology_conf;
    if (starts_with_key(line, "AggregatedBlock=")) return FabricFormat::scontrol;
    if (line.starts_with("Switch: 0x") || line.starts_with("CA: ")) return FabricFormat::iblinkinfo;
    for (std::string_view head :
         {"vendid=", "devid=", "sysimgguid=", "switchguid=", "caguid=", "Switch\t", "Switch ", "Ca\t", "Ca ", "Rt\t"})
        if (line.starts_with(head)) return FabricFormat::ibnetdiscover;
    if (line.size() > 3 && (line.starts_with("CA ") || line.starts_with("SW ") || line.starts_with("RT ")))
        if (const auto rest = trim(line.substr(3)); !rest.empty() && is_digit(rest.front())) return FabricFormat::ibnetdiscover_ports;
    if (is_lingjun_head(line)) return FabricFormat::lingjun_csv;
    if (line.front() == '[' && line.size() > 1 && is_digit(line[1]) && line.find("]") != std::string_view::npos &&
        line.find('"') != std::string_view::npos)
        return FabricFormat::ibnetdiscover;
    if (line.front() == '[' || line.front() == '{') {
        // JSON is YAML too: a topology.yaml may be written so.
        const bool yaml = has_key(text, "topology:") || has_key(text, "\"topology\"");
        return yaml ? FabricFormat::topology_yaml : FabricFormat::netq_json;
    }
    if (is_host_and_guid(line)) return FabricFormat::node_guids;
    if (line.starts_with("---") || line.starts_with("%YAML") || line == "-" || line.starts_with("- ") || is_yaml_key(line))
        return recognise_yaml(text);
    // A key that is wrong, or a switch that lost its key, is for the reader of topology.conf to tell of.
    const bool conf = line.find('=') != std::string_view::npos || starts_with_key(line, "Include ");
    return conf ? FabricFormat::topology_conf : FabricFormat::unknown;
}

std::string_view without_mark(std::string_view text) {
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    return text;
}

void refuse(FabricFormat format, const std::string& file, Diagnostics& diagnostics) {
    if (format == FabricFormat::node_guids) {
        diagnostics.error({file, 0, 0}, "a list of hosts and port GUIDs: it names no switch")
            .hints.push_back(
                "it goes with the topology that sharp_cmd writes; give a topology.conf made from both, or what ibnetdiscover prints");
    } else if (format == FabricFormat::iblinkinfo) {
        diagnostics.error({file, 0, 0}, "what iblinkinfo prints is not read")
            .hints.push_back("give what ibnetdiscover prints on the same fabric");
    } else if (format == FabricFormat::unknown) {
        diagnostics.error({file, 0, 0}, "this is no fabric in a form that is known here").hints = {
            "known are topology.conf and topology.yaml of Slurm, and what scontrol show topology and ibnetdiscover print",
            "and topograph models, NetQ's topologyGraph and computeNodes, and the Lingjun host table"};
    } else {
        diagnostics.error({file, 0, 0}, "this is XML, as of the devices of one node (hwloc, NCCL), and no fabric")
            .hints.push_back("a node's file goes to paced topo or paced plan --node");
    }
}

template <class Parse>
std::optional<FabricTopology> read_graph(std::string_view text, const std::string& file, Diagnostics& diagnostics, Parse parse) {
    Diagnostics own;
    std::optional<FabricTopology> fabric;
    if (const auto graph = parse(text, file, own)) {
        fabric = topology::fabric_of(*graph, file, own);
        fabric->origin = file + " (ibnetdiscover, " + count_of(static_cast<long long>(graph->switches.size()), "switch", "switches") + ')';
        if (!own.has_errors() && fabric->host_count() == 0) own.error({file, 0, 0}, "no host in this file hangs on a switch");
    }
    if (own.has_errors()) fabric.reset();
    diagnostics.append(own);
    return fabric;
}

}  // namespace

FabricFormat recognise_fabric(std::string_view text, const std::string& file) {
    text = without_mark(text);
    TextLines lines(text);
    for (std::string_view line; lines.next(line);) {
        line = trim(line);
        if (!line.empty() && line.front() != '#') return recognise_line(line, text);
    }
    return file.ends_with(".yaml") || file.ends_with(".yml") ? FabricFormat::topology_yaml : FabricFormat::topology_conf;
}

std::optional<FabricTopology> parse_fabric(std::string_view text, const std::string& file, Diagnostics& diagnostics,
                                           std::string_view name) {
    text = without_mark(text);
    const FabricFormat format = recognise_fabric(text, file);
    if (!name.empty() && format != FabricFormat::topology_yaml) {
        diagnostics.error({file, 0, 0}, "topology '" + std::string(name) +
                                            "' is asked for, and this is no topology.yaml: it has no topologies with names");
        return std::nullopt;
    }
    switch (format) {
        case FabricFormat::topology_conf:
            return parse_topology_conf(text, file, diagnostics);
        case FabricFormat::topology_yaml:
            return parse_topology_yaml(text, file, name, diagnostics);
        case FabricFormat::scontrol:
            return parse_scontrol_topology(text, file, diagnostics);
        case FabricFormat::ibnetdiscover:
            return read_graph(text, file, diagnostics, parse_ibnetdiscover);
        case FabricFormat::ibnetdiscover_ports:
            return read_graph(text, file, diagnostics, parse_ibnetdiscover_ports);
        case FabricFormat::topograph_model:
            return parse_topograph_model(text, file, diagnostics);
        case FabricFormat::lingjun_csv:
            return parse_lingjun_csv(text, file, diagnostics);
        case FabricFormat::netq_json:
            return parse_netq_json(text, file, diagnostics);
        case FabricFormat::node_guids:
        case FabricFormat::iblinkinfo:
        case FabricFormat::xml:
        case FabricFormat::unknown:
            break;
    }
    refuse(format, file, diagnostics);
    return std::nullopt;
}

std::optional<FabricTopology> read_fabric_file(const std::string& path, Diagnostics& diagnostics, std::string_view name) {
    const auto text = read_text_file(path);
    if (text) return parse_fabric(*text, path, diagnostics, name);
    diagnostics.error({}, text.error().message);
    return std::nullopt;
}

}  // namespace paced::io
