// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/snapshot.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "policy/base/text.h"

namespace paced::io {

namespace {

using namespace paced::topology;
using nlohmann::json;

// --- writing

json to_json(const Place& place) {
    json bridges = json::array();
    for (const PciAddress& bridge : place.path.bridges) bridges.push_back(to_string(bridge));
    return {{"pci", place.pci ? json(to_string(*place.pci)) : json()},
            {"host_bridge", place.path.host_bridge},
            {"bridges", std::move(bridges)},
            {"cpus", to_string(place.local_cpus)},
            {"numa", place.numa ? json(*place.numa) : json()},
            {"package", place.package ? json(*place.package) : json()}};
}

json to_json(const Gpu& gpu) {
    json object = to_json(gpu.place);
    object["name"] = gpu.name;
    object["vendor"] = gpu.vendor;
    object["uuid"] = gpu.uuid;
    object["partitions"] = gpu.partitions;
    if (!gpu.partition_uuids.empty()) object["partition_uuids"] = gpu.partition_uuids;
    return object;
}

json to_json(const Nic& nic) {
    json object = to_json(nic.place);
    object["name"] = nic.name;
    if (!nic.alias.empty()) object["alias"] = nic.alias;
    if (!nic.more_names.empty()) object["more_names"] = nic.more_names;
    object["kind"] = to_string(nic.kind);
    object["state"] = to_string(nic.state);
    object["rate_mbps"] = nic.rate_mbps;
    object["netdevs"] = nic.netdevs;
    object["ports"] = json::array();
    for (const NicPort& port : nic.ports) object["ports"].push_back({port.number, to_string(port.state), port.rate_mbps});
    if (nic.virtual_function_of) object["virtual_function_of"] = to_string(*nic.virtual_function_of);
    return object;
}

// --- reading: every function throws Wrong, which read_snapshot catches

struct Wrong {
    std::string message;
};

const json& member(const json& object, const char* key) {
    const auto found = object.find(key);
    if (found == object.end()) throw Wrong{std::string("'") + key + "' is missing"};
    return *found;
}

const std::string& text_of(const json& object, const char* key) {
    const json& value = member(object, key);
    if (!value.is_string()) throw Wrong{std::string("'") + key + "' is not a text"};
    return value.get_ref<const std::string&>();
}

const json& array_of(const json& object, const char* key) {
    const json& value = member(object, key);
    if (!value.is_array()) throw Wrong{std::string("'") + key + "' is not an array"};
    return value;
}

std::uint64_t count_in(const json& value, const char* key, std::uint64_t most) {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most) throw Wrong{std::string("'") + key + "' is not a count"};
    return value.get<std::uint64_t>();
}

int number_in(const json& value, const char* key) {
    return static_cast<int>(count_in(value, key, 0x7fffffff));
}

std::optional<int> optional_number(const json& object, const char* key) {
    const json& value = member(object, key);
    if (value.is_null()) return std::nullopt;
    return number_in(value, key);
}

CpuSet cpus_of(const json& object, const char* key) {
    auto cpus = CpuSet::parse(text_of(object, key));
    if (!cpus) throw Wrong{std::string("'") + key + "' is not a list of CPUs"};
    return std::move(*cpus);
}

PciAddress address_in(const json& value, const char* key) {
    const auto address = value.is_string() ? parse_pci_address(value.get_ref<const std::string&>()) : std::nullopt;
    if (!address) throw Wrong{std::string("'") + key + "' is not a PCI address"};
    return *address;
}

Place place_in(const json& object) {
    Place place;
    if (const json& pci = member(object, "pci"); !pci.is_null()) place.pci = address_in(pci, "pci");
    place.path.host_bridge = text_of(object, "host_bridge");
    for (const json& bridge : array_of(object, "bridges")) place.path.bridges.push_back(address_in(bridge, "bridges"));
    place.local_cpus = cpus_of(object, "cpus");
    place.numa = optional_number(object, "numa");
    place.package = optional_number(object, "package");
    return place;
}

std::vector<std::string> texts_of(const json& object, const char* key) {
    std::vector<std::string> texts;
    for (const json& text : array_of(object, key)) {
        if (!text.is_string()) throw Wrong{std::string("'") + key + "' does not hold texts"};
        texts.push_back(text.get<std::string>());
    }
    return texts;
}

Gpu gpu_in(const json& object) {
    Gpu gpu{.place = place_in(object), .name = text_of(object, "name"), .vendor = text_of(object, "vendor")};
    // Snapshots of older versions, one may be there since the last boot, have neither.
    if (object.contains("uuid")) gpu.uuid = text_of(object, "uuid");
    if (object.contains("partitions")) gpu.partitions = static_cast<int>(count_in(object["partitions"], "partitions", 1024));
    if (object.contains("partition_uuids")) gpu.partition_uuids = texts_of(object, "partition_uuids");
    if (gpu.partitions < 1) throw Wrong{"'partitions' is not at least 1"};
    if (!gpu.partition_uuids.empty() && gpu.partition_uuids.size() != static_cast<std::size_t>(gpu.partitions))
        throw Wrong{"'partition_uuids' does not name one for each of 'partitions'"};
    return gpu;
}

NicPort port_in(const json& triple) {
    const auto state = triple.is_array() && triple.size() == 3 && triple[1].is_string()
                           ? parse_link_state(triple[1].get_ref<const std::string&>())
                           : std::nullopt;
    if (!state) throw Wrong{"'ports' does not hold [number, state, rate]"};
    return {number_in(triple[0], "ports"), *state, static_cast<std::uint32_t>(count_in(triple[2], "ports", 0xffffffff))};
}

Nic nic_in(const json& object) {
    Nic nic;
    nic.place = place_in(object);
    nic.name = text_of(object, "name");
    if (object.contains("alias")) nic.alias = text_of(object, "alias");
    if (object.contains("more_names")) nic.more_names = texts_of(object, "more_names");
    const auto kind = parse_nic_kind(text_of(object, "kind"));
    const auto state = parse_link_state(text_of(object, "state"));
    if (!kind) throw Wrong{"'kind' is no kind of NIC"};
    if (!state) throw Wrong{"'state' is no link state"};
    nic.kind = *kind;
    nic.state = *state;
    nic.rate_mbps = static_cast<std::uint32_t>(count_in(member(object, "rate_mbps"), "rate_mbps", 0xffffffff));
    nic.netdevs = texts_of(object, "netdevs");
    for (const json& port : array_of(object, "ports")) nic.ports.push_back(port_in(port));
    if (object.contains("virtual_function_of")) nic.virtual_function_of = address_in(object["virtual_function_of"], "virtual_function_of");
    return nic;
}

// PUs are kept as the CPUs and, beside them, the core of each; NUMA node and package follow from theirs.
void read_pus(const json& object, NodeTopology& node) {
    node.cpus = cpus_of(object, "cpus");
    const json& cores = array_of(object, "cores");
    if (cores.size() != static_cast<std::size_t>(node.cpus.count())) throw Wrong{"'cores' does not name one core for each of 'cpus'"};
    node.pus.reserve(cores.size());
    auto core = cores.begin();
    for (int cpu = node.cpus.first(); cpu >= 0; cpu = node.cpus.next(cpu))
        node.pus.push_back({.cpu = cpu, .core = number_in(*core++, "cores")});
}

void read_stated_relations(const json& object, NodeTopology& node) {
    const Wrong wrong{"'stated_relations' does not hold one relation or null for each GPU and NIC"};
    const json& rows = array_of(object, "stated_relations");
    if (rows.size() != node.gpus.size()) throw wrong;
    for (const json& row : rows) {
        if (!row.is_array() || row.size() != node.nics.size()) throw wrong;
        auto& relations = node.stated_relations.emplace_back();
        for (const json& cell : row) {
            relations.push_back(cell.is_string() ? parse_relation(cell.get_ref<const std::string&>()) : std::nullopt);
            if (!relations.back() && !cell.is_null()) throw wrong;
        }
    }
}

NodeTopology node_in(const json& object) {
    if (!object.is_object() || !object.contains("schema")) throw Wrong{"not a snapshot of a node"};
    if (object["schema"] != snapshot_schema) throw Wrong{"of schema " + object["schema"].dump() + ", not \"" + snapshot_schema + '"'};
    NodeTopology node;
    node.origin = text_of(object, "origin");
    node.machine = text_of(object, "machine");
    read_pus(object, node);
    for (const json& numa : array_of(object, "numa_nodes"))
        node.numa_nodes.push_back({number_in(member(numa, "number"), "number"), cpus_of(numa, "cpus"),
                                   count_in(member(numa, "memory_bytes"), "memory_bytes", ~std::uint64_t{0})});
    for (const json& package : array_of(object, "packages"))
        node.packages.push_back({number_in(member(package, "number"), "number"), cpus_of(package, "cpus")});
    locate_pus(node);
    for (const json& gpu : array_of(object, "gpus")) node.gpus.push_back(gpu_in(gpu));
    for (const json& nic : array_of(object, "nics")) node.nics.push_back(nic_in(nic));
    if (object.contains("stated_relations")) read_stated_relations(object, node);
    return node;
}

// Names come from firmware and drivers, and may be anything.
std::string dump(const json& value) {
    return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

// {"key": [\n  ...one entry a line...\n]}
void append_lines(std::string& text, const char* key, const json& entries) {
    text += ",\n\"" + std::string(key) + "\": [";
    bool first = true;
    for (const json& entry : entries) {
        text += first ? "\n  " : ",\n  ";
        text += dump(entry);
        first = false;
    }
    text += first ? "]" : "\n]";
}

}  // namespace

std::string write_snapshot(const NodeTopology& node) {
    json cores = json::array(), numa_nodes = json::array(), packages = json::array(), gpus = json::array(), nics = json::array();
    for (const Pu& pu : node.pus) cores.push_back(pu.core);
    for (const NumaNode& numa : node.numa_nodes)
        numa_nodes.push_back({{"number", numa.number}, {"cpus", to_string(numa.cpus)}, {"memory_bytes", numa.memory_bytes}});
    for (const Package& package : node.packages) packages.push_back({{"number", package.number}, {"cpus", to_string(package.cpus)}});
    for (const Gpu& gpu : node.gpus) gpus.push_back(to_json(gpu));
    for (const Nic& nic : node.nics) nics.push_back(to_json(nic));
    json relations = json::array();
    for (const auto& row : node.stated_relations) {
        json& cells = relations.emplace_back(json::array());
        for (const auto& relation : row) cells.push_back(relation ? json(to_string(*relation)) : json());
    }

    std::string text = "{\"schema\": " + dump(snapshot_schema);
    text += ",\n\"origin\": " + dump(node.origin);
    text += ",\n\"machine\": " + dump(node.machine);
    text += ",\n\"cpus\": " + dump(to_string(node.cpus));
    text += ",\n\"cores\": " + dump(cores);
    append_lines(text, "numa_nodes", numa_nodes);
    append_lines(text, "packages", packages);
    append_lines(text, "gpus", gpus);
    append_lines(text, "nics", nics);
    if (!node.stated_relations.empty()) append_lines(text, "stated_relations", relations);
    return text + "}\n";
}

Result<NodeTopology> read_snapshot(std::string_view text) {
    const json parsed = json::parse(text, nullptr, false);
    if (parsed.is_discarded()) return fail("not JSON");
    try {
        return node_in(parsed);
    } catch (const Wrong& wrong) {
        return fail(wrong.message);
    }
}

}  // namespace paced::io
