// SPDX-License-Identifier: BSD-3-Clause
// The syntax that Slurm's configuration files share: "Key=Value Key=\"Value\"" lines, comments, continuation lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/base/diagnostics.h"

namespace paced::io {

struct SlurmConfPair {
    struct Position {
        int line = 1, column = 1;
    };
    std::string key;    // as written; compare with same_key
    std::string value;  // without quotes
    Position key_position;
    std::vector<Position> value_positions;  // of each character of value and of its end: a value may span lines
};
using SlurmConfLine = std::vector<SlurmConfPair>;  // never empty

// Every line that holds anything. "Include FILE" becomes a pair with the key "Include". What is no Key=Value is an error.
std::vector<SlurmConfLine> parse_slurm_conf(std::string_view text, const std::string& file, Diagnostics& diagnostics);

// Keys do not tell capitals from small letters.
bool same_key(std::string_view a, std::string_view b);

}  // namespace paced::io
