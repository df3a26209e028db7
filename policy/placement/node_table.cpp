// SPDX-License-Identifier: BSD-3-Clause
#include "policy/placement/node_table.h"

#include <algorithm>
#include <iterator>

#include "policy/base/text.h"
#include "policy/placement/balance.h"

namespace paced::placement {

namespace {

using namespace paced::topology;

std::string labels(const NodeTopology& node, const std::vector<NicIndex>& nics) {
    std::vector<std::string> names;
    for (NicIndex nic : nics) names.push_back(label(node.nic(nic)));
    return join(names, ", ");
}

bool is_down(const NodeTopology& node, NicIndex nic) {
    return node.nic(nic).state == LinkState::down;
}

// The NICs of the best class that the node has, without virtual functions of cards that are there themselves.
std::vector<NicIndex> nics_of_best_class(const NodeTopology& node) {
    std::vector<NicIndex> nics;
    for (std::size_t i = 0; i < node.nics.size(); ++i) {
        const Nic& nic = node.nics[i];
        const auto& parent = nic.virtual_function_of;
        if (parent && std::any_of(node.nics.begin(), node.nics.end(), [&](const Nic& other) { return other.place.pci == parent; }))
            continue;
        if (!nics.empty()) {
            const NicClass best = class_of(node.nic(nics.front()).kind);
            if (class_of(nic.kind) > best) continue;
            if (class_of(nic.kind) < best) nics.clear();
        }
        nics.push_back(static_cast<NicIndex>(i));
    }
    return nics;
}

void choose_candidates(const NodeTopology& node, const std::vector<NicIndex>& eligible, GpuRow& row) {
    for (NicIndex nic : eligible) {
        const Relation relation = relation_between(node, row.gpu, nic);
        if (row.relation && relation > *row.relation) continue;
        if (row.relation && relation < *row.relation) row.candidates.clear();
        row.relation = relation;
        row.candidates.push_back(nic);
    }
    std::stable_sort(row.candidates.begin(), row.candidates.end(), [&](NicIndex a, NicIndex b) {
        const auto& left = node.nic(a).place.pci;
        const auto& right = node.nic(b).place.pci;
        return left && (!right || *left < *right);
    });
}

void choose_cpus(const Gpu& gpu, const CpuSet& usable, GpuRow& row) {
    row.numa = gpu.place.numa;
    row.cpus = gpu.place.local_cpus & usable;
    if (gpu.place.local_cpus.empty()) {
        row.cpus = usable;
        row.reasons.push_back("which CPUs are near this GPU is not known: all that may be used");
    } else if (row.cpus.empty()) {
        row.cpus = usable;
        row.reasons.push_back("none of the CPUs near this GPU (" + to_string(gpu.place.local_cpus) + ") may be used: all others instead");
    }
}

void explain_nic(const NodeTopology& node, GpuRow& row) {
    if (!row.nic) {
        row.reasons.push_back("the node has no NIC");
        return;
    }
    const std::string name = label(node.nic(*row.nic));
    const std::string kind = std::string(to_string(class_of(node.nic(*row.nic).kind))) + " NIC";
    const std::string distance = " (" + std::string(to_string(*row.relation)) + ": " + std::string(describe(*row.relation)) + ')';
    const auto up = std::count_if(row.candidates.begin(), row.candidates.end(), [&](NicIndex nic) { return !is_down(node, nic); });
    if (row.candidates.size() == 1) {
        row.reasons.push_back(name + " is the nearest " + kind + distance);
    } else if (up == 1) {
        row.reasons.push_back(name + " is the only one of " + std::to_string(row.candidates.size()) + " nearest " + kind + "s" + distance +
                              " whose link is not down");
    } else {
        row.reasons.push_back(name + " is one of " + std::to_string(row.candidates.size()) + " nearest " + kind + "s" + distance +
                              ", taken for balance");
    }
    std::vector<NicIndex> down;
    for (NicIndex nic : row.candidates)
        if (is_down(node, nic)) down.push_back(nic);
    if (row.nic_down) {
        row.reasons.push_back("the link of " + name + " is down, as is that of every NIC as near: nothing should be bound to it");
    } else if (!down.empty()) {
        row.reasons.push_back("passed over because the link is down: " + labels(node, down));
    }
}

}  // namespace

NodeTable node_table(const NodeTopology& node, const std::optional<CpuSet>& allowed) {
    NodeTable table;
    const CpuSet usable = allowed ? *allowed & node.cpus : node.cpus;
    const auto nics = nics_of_best_class(node);
    std::vector<std::vector<std::size_t>> choices;
    for (std::size_t i = 0; i < node.gpus.size(); ++i) {
        GpuRow& row = table.rows.emplace_back();
        row.gpu = static_cast<GpuIndex>(i);
        choose_candidates(node, nics, row);
        choose_cpus(node.gpus[i], usable, row);
        row.nic_down = !row.candidates.empty() &&
                       std::all_of(row.candidates.begin(), row.candidates.end(), [&](NicIndex nic) { return is_down(node, nic); });
        auto& slots = choices.emplace_back();
        for (NicIndex nic : row.candidates)
            if (row.nic_down || !is_down(node, nic)) slots.push_back(to_index(nic));
    }
    const auto slots = balance(choices, node.nics.size());
    for (GpuRow& row : table.rows) {
        const std::size_t slot = slots[to_index(row.gpu)];
        if (slot < node.nics.size()) row.nic = static_cast<NicIndex>(slot);
        explain_nic(node, row);
    }

    std::vector<NicIndex> down;
    std::copy_if(nics.begin(), nics.end(), std::back_inserter(down), [&](NicIndex nic) { return is_down(node, nic); });
    if (!down.empty())
        table.warnings.push_back((down.size() == 1 ? "the link of this NIC is down: " : "the links of these NICs are down: ") +
                                 labels(node, down));
    return table;
}

}  // namespace paced::placement
