// SPDX-License-Identifier: BSD-3-Clause
// The command of `paced run` where it is a launcher itself: mpirun of Open MPI, torchrun, or another. What its words say, as far as
// it matters for an order of nodes. What is not understood is said to be so, and never guessed.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace paced::launcher {

using Words = std::vector<std::string>;

enum class OuterKind {
    program,
    open_mpi,
    torchrun,
    other_launcher,  // its ranks are other processes, as mpirun's are, and its words are not known here
};

// real_path: of command[0] as the shell would find it, links followed; empty: not found. An mpirun that is not Open MPI 4
// (orterun) is another launcher.
OuterKind outer_kind(const Words& command, const std::string& real_path);
// Looks in PATH.
std::string real_path_of(const std::string& program, const std::string& path_variable);

struct MpirunLine {
    std::optional<long long> ranks;  // -np
    bool unbound = false;            // --bind-to none
    std::size_t program = 0;         // where the program's own words begin; 0: not found
    std::string kept_because;        // an option that places ranks, or one that is not known here, without full stop
};
MpirunLine parse_mpirun(const Words& command);

struct TorchrunLine {
    std::optional<std::string> nodes;      // --nnodes
    std::optional<std::string> node_rank;  // as given
    std::size_t node_rank_at = 0;          // the word that holds it
    bool within_word = false;              // --node-rank=2, and not a word of its own
    std::string rendezvous;                // --rdzv-backend; empty: not given
    bool standalone = false;
};
TorchrunLine parse_torchrun(const Words& command);
// The line with another node rank in place of the one given.
Words with_node_rank(Words command, const TorchrunLine& line, std::size_t rank);

}  // namespace paced::launcher
