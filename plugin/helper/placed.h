// SPDX-License-Identifier: BSD-3-Clause
// What srun's plugin did about the order of a step, as it travels to the nodes in SLURM_PACED_FABRIC_PLACED. The shim puts
// the job's id in front; a node believes no other job's.
//
//   42 ordered ring n[1,3,5,7,2,4,6,8]
//   42 ordered ring #8d2f4c01a3b5e677      too many hosts for a variable: their hash, and the nodes work the order out again
//   42 kept -w chooses the nodes
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paced::helper {

// Of the host list's text. A variable of more than 128 KiB would keep the tasks from being started.
inline constexpr std::size_t placed_hosts_room = 12 * 1024;

struct Placed {
    bool ordered = false;
    std::string pattern;             // ordered: "ring"
    std::vector<std::string> hosts;  // ordered: in rank order; empty: too many
    std::string hash;                // ordered: of the hosts, where they are too many
    std::string kept_because;        // not ordered

    friend bool operator==(const Placed&, const Placed&) = default;
};

// Without the job's id.
std::string to_text(const Placed& placed);
// With it; nullopt: nothing is said of this job.
std::optional<Placed> parse_placed(std::string_view text, std::string_view job);

std::string hash_of(std::span<const std::string> hosts);

}  // namespace paced::helper
