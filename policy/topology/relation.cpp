// SPDX-License-Identifier: BSD-3-Clause
#include "policy/topology/relation.h"

#include <array>

namespace paced::topology {

namespace {

struct Words {
    std::string_view name, meaning;
};
constexpr std::array<Words, 6> words{{
    {"PIX", "one PCIe switch"},
    {"PXB", "several PCIe bridges"},
    {"PHB", "one host bridge"},
    {"NODE", "one NUMA node"},
    {"PKG", "one package"},
    {"SYS", "across packages"},
}};

}  // namespace

std::string_view to_string(Relation relation) {
    return words[static_cast<std::size_t>(relation)].name;
}

std::string_view describe(Relation relation) {
    return words[static_cast<std::size_t>(relation)].meaning;
}

std::optional<Relation> parse_relation(std::string_view text) {
    for (std::size_t i = 0; i < words.size(); ++i)
        if (words[i].name == text) return static_cast<Relation>(i);
    return std::nullopt;
}

}  // namespace paced::topology
