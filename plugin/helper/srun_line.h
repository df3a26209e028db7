// SPDX-License-Identifier: BSD-3-Clause
// srun's own command line, read as srun reads it: getopt_long that stops at the first word which is no option.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plugin/helper/srun_options.h"

namespace paced::helper {

struct SrunLine {
    struct Given {
        const SrunOption* option = nullptr;
        std::optional<std::string> value;
        std::string text;  // as a person would name it: "-w", "--nodelist"
    };
    std::vector<Given> options;  // in order: the last of a kind counts
    std::string program;         // the first word that is no option; empty: there is none
    bool heterogeneous = false;  // a word ":" begins another component
    std::string problem;         // why the line is not understood, and then options are those before that word
};

// words: the first is srun itself.
SrunLine parse_srun_line(std::span<const std::string> words);

}  // namespace paced::helper
