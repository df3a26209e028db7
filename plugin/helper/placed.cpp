// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/helper/placed.h"

#include <cstdint>
#include <cstdio>
#include <utility>

#include "policy/topology/host_list.h"

namespace paced::helper {

namespace {

bool cut(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix)) return false;
    text.remove_prefix(prefix.size());
    return true;
}

}  // namespace

// FNV-1a: two orders of one job must differ, nothing more.
std::string hash_of(std::span<const std::string> hosts) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const std::string& host : hosts) {
        for (const char c : host) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
        hash = (hash ^ ',') * 0x100000001b3;
    }
    char text[20];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
    return text;
}

std::string to_text(const Placed& placed) {
    if (!placed.ordered) return "kept " + placed.kept_because;
    std::string hosts = topology::compress_hosts(placed.hosts);
    if (hosts.size() > placed_hosts_room) hosts = '#' + hash_of(placed.hosts);
    return "ordered " + placed.pattern + ' ' + hosts;
}

std::optional<Placed> parse_placed(std::string_view text, std::string_view job) {
    if (job.empty() || !cut(text, job) || !cut(text, " ")) return std::nullopt;
    Placed placed;
    if (cut(text, "kept ")) {
        placed.kept_because = text;
        return placed;
    }
    if (!cut(text, "ordered ")) return std::nullopt;
    const std::size_t blank = text.find(' ');
    if (blank == std::string_view::npos || blank == 0) return std::nullopt;
    placed.ordered = true;
    placed.pattern = text.substr(0, blank);
    text.remove_prefix(blank + 1);
    if (cut(text, "#")) {
        placed.hash = text;
        return placed;
    }
    topology::HostList list = topology::expand_hosts(text);
    if (!list.errors.empty() || list.hosts.empty()) return std::nullopt;
    placed.hosts = std::move(list.hosts);
    return placed;
}

}  // namespace paced::helper
