// SPDX-License-Identifier: BSD-3-Clause
// The lines and cells of `nvidia-smi topo -m`. For nvidia_smi.cpp alone.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/topology/relation.h"

namespace paced::io::nvidia_smi {

struct Line {
    std::string_view text;  // without its newline
    int number = 0;
};

// The lines of a text that are no comments (#).
std::vector<Line> lines_of(std::string_view text);

// Terminal escapes (newer tools underline the head line) become blanks, so that columns stay where they were.
std::string without_escapes(std::string_view text);

struct Cell {
    std::string_view text;
    int column = 1;  // from 1
};

// The cells of a line: between tabs, where it has any behind its first word, else its words.
std::vector<Cell> cells_of(std::string_view line);

// Whether it is the word and a number: "GPU12".
bool is_numbered(std::string_view text, std::string_view word);

// What a cell holds.
struct CellWord {
    std::optional<topology::Relation> relation;  // nullopt: not told
};
// nullopt: nothing that a matrix holds.
std::optional<CellWord> parse_cell(std::string_view text);

// The line that names the devices.
struct Head {
    std::vector<Cell> devices;
    int cpu_column = -1;   // behind the devices, from 0
    int numa_column = -1;  // likewise
};

// nullopt: the line is not the head of a matrix.
std::optional<Head> parse_head(std::string_view line);

}  // namespace paced::io::nvidia_smi
