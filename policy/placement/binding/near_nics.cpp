// SPDX-License-Identifier: BSD-3-Clause
#include "policy/placement/binding/near_nics.h"

#include <algorithm>
#include <string_view>

namespace paced::placement {

namespace {

using namespace paced::topology;

// mlx5_2 before mlx5_10.
bool name_before(std::string_view a, std::string_view b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
}

bool address_before(const Place& a, const Place& b, bool otherwise) {
    if (!a.pci && !b.pci) return otherwise;
    return a.pci && (!b.pci || *a.pci < *b.pci);
}

void split_by_use(const NodeTopology& node, NearNics& near) {
    std::uint32_t best_rate = 0;
    for (NicIndex nic : near.candidates)
        if (node.nic(nic).state != LinkState::down) best_rate = std::max(best_rate, node.nic(nic).rate_mbps);
    for (NicIndex index : near.candidates) {
        const Nic& nic = node.nic(index);
        if (nic.state == LinkState::down) near.down.push_back(index);
        else if (nic.rate_mbps != 0 && nic.rate_mbps < best_rate) near.slow.push_back(index);
        else near.usable.push_back(index);
    }
}

}  // namespace

bool comes_before(const Gpu& a, const Gpu& b) { return address_before(a.place, b.place, false); }
bool comes_before(const Nic& a, const Nic& b) { return address_before(a.place, b.place, name_before(a.name, b.name)); }

int NearNics::path_cost() const {
    if (!relation) return 0;
    return usable.empty() ? static_cast<int>(Relation::sys) + 1 : static_cast<int>(*relation);
}

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
    std::stable_sort(nics.begin(), nics.end(), [&](NicIndex a, NicIndex b) { return comes_before(node.nic(a), node.nic(b)); });
    return nics;
}

NearNics near_nics(const NodeTopology& node, GpuIndex gpu, const std::vector<NicIndex>& eligible) {
    NearNics near;
    std::vector<Relation> relations;
    for (NicIndex nic : eligible) relations.push_back(relation_between(node, gpu, nic));
    if (relations.empty()) return near;
    near.relation = *std::min_element(relations.begin(), relations.end());
    for (Relation relation : relations)
        if (relation > *near.relation && (!near.next_relation || relation < *near.next_relation)) near.next_relation = relation;
    for (std::size_t i = 0; i < eligible.size(); ++i) {
        if (relations[i] == *near.relation) near.candidates.push_back(eligible[i]);
        else if (relations[i] == near.next_relation) near.next.push_back(eligible[i]);
    }
    split_by_use(node, near);
    return near;
}

}  // namespace paced::placement
