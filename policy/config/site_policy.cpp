// SPDX-License-Identifier: BSD-3-Clause
#include "policy/config/site_policy.h"

#include <algorithm>
#include <array>

#include "policy/base/text.h"

namespace paced::config {

const NamedPolicy* SitePolicy::find(std::string_view name) const {
    const auto found = std::find_if(policies.begin(), policies.end(), [&](const NamedPolicy& policy) { return policy.name == name; });
    return found == policies.end() ? nullptr : &*found;
}

std::optional<std::string> mismatch(const Match& match, const JobFacts& job) {
    struct Condition {
        std::string_view name;
        const std::vector<std::string>& wanted;
        const std::string& actual;
    };
    const std::array<Condition, 4> conditions{{{"partition", match.partition, job.partition},
                                               {"account", match.account, job.account},
                                               {"qos", match.qos, job.qos},
                                               {"user", match.user, job.user}}};
    for (const auto& [name, wanted, actual] : conditions) {
        if (wanted.empty() || std::find(wanted.begin(), wanted.end(), actual) != wanted.end()) continue;
        if (actual.empty()) return std::string(name) + " is not known";
        const std::vector<std::string_view> words(wanted.begin(), wanted.end());
        return std::string(name) + " is '" + actual + "', not " + quoted_list(words);
    }
    if (match.min_nodes == 0 && match.max_nodes == 0) return std::nullopt;
    if (job.nodes == 0) return "the number of nodes is not known";
    const std::string count = count_of(job.nodes, "node");
    if (job.nodes < match.min_nodes) return count + ", min_nodes is " + std::to_string(match.min_nodes);
    if (match.max_nodes != 0 && job.nodes > match.max_nodes) return count + ", max_nodes is " + std::to_string(match.max_nodes);
    return std::nullopt;
}

Result<PortRange> parse_port_range(std::string_view text) {
    const auto parts = split(text, '-');
    const auto low = parse_integer(parts.front());
    const auto high = parse_integer(parts.back());
    if (parts.size() != 2 || !low || !high)
        return fail("bad port range '" + std::string(text) + "'", {"write the first and the last port, such as '61000-61999'"});
    if (*low < 1024 || *low > 65535 || *high < 1024 || *high > 65535)
        return fail("ports of '" + std::string(text) + "' are not all within 1024 to 65535");
    if (*low > *high)
        return fail("port range '" + std::string(text) + "' ends before it begins",
                    {"did you mean '" + std::string(parts[1]) + '-' + std::string(parts[0]) + "'?"});
    return PortRange{static_cast<int>(*low), static_cast<int>(*high)};
}

std::string to_string(const PortRange& range) { return std::to_string(range.low) + '-' + std::to_string(range.high); }

std::optional<Error> check_policy_name(std::string_view name) {
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    const auto allowed = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-'; };
    if (std::find(mode_names.begin(), mode_names.end(), name) != mode_names.end())
        return Error{"a policy cannot be called '" + std::string(name) + "': that is a mode", {}};
    if (name.empty() || name.size() > 63 || !letter(name.front()) || !std::all_of(name.begin(), name.end(), allowed))
        return Error{"bad policy name '" + std::string(name) + "'",
                     {"a letter, then letters, digits, '.', '_' and '-', at most 63: it is written --paced-fabric=NAME"}};
    return std::nullopt;
}

}  // namespace paced::config
