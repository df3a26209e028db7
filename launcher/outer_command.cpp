// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/outer_command.h"

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <string_view>

#include <unistd.h>

#include "policy/base/text.h"

namespace paced::launcher {

namespace {

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// mpirun takes one dash or two.
std::string_view without_dashes(std::string_view word) {
    word.remove_prefix(std::min(word.find_first_not_of('-'), word.size()));
    return word;
}

// Options of Open MPI 4's mpirun that say nothing of where ranks run, and how many words follow each.
struct Harmless {
    std::string_view name;
    int values;
};
constexpr std::array harmless{Harmless{"x", 1},
                              Harmless{"report-bindings", 0},
                              Harmless{"tag-output", 0},
                              Harmless{"timestamp-output", 0},
                              Harmless{"v", 0},
                              Harmless{"verbose", 0},
                              Harmless{"q", 0},
                              Harmless{"quiet", 0},
                              Harmless{"output-filename", 1},
                              Harmless{"merge-stderr-to-stdout", 0},
                              Harmless{"wdir", 1},
                              Harmless{"wd", 1},
                              Harmless{"stdin", 1},
                              Harmless{"timeout", 1},
                              Harmless{"allow-run-as-root", 0},
                              Harmless{"display-map", 0},
                              Harmless{"display-allocation", 0}};

// Options of torchrun without a value; all others have one.
constexpr std::array<std::string_view, 7> torchrun_switches{"--standalone", "--no-python", "--module", "--run-path", "--use-env", "--virtual-local-rank",
                                                            "--help"};

constexpr std::array<std::string_view, 7> launchers{"prterun", "prun", "srun", "aprun", "jsrun", "flux", "hydra_pmi_proxy"};

bool places_ranks(std::string_view parameter) {
    for (const std::string_view start : {"rmaps", "orte_default_hostfile", "orte_rankfile", "ras", "orte_rank", "plm", "hwloc_base_binding"})
        if (parameter.starts_with(start)) return true;
    return false;
}

bool is_python(std::string_view name) { return name.starts_with("python"); }

// Where torchrun's own words begin; 0: this is not torchrun.
std::size_t torchrun_words(const Words& command) {
    if (command.empty()) return 0;
    if (base_name(command[0]) == "torchrun") return 1;
    if (!is_python(base_name(command[0]))) return 0;
    for (std::size_t i = 1; i + 1 < command.size(); ++i) {
        if (command[i] == "-m") return command[i + 1] == "torch.distributed.run" || command[i + 1] == "torch.distributed.launch" ? i + 2 : 0;
        if (!command[i].starts_with('-')) return 0;  // a script, whose words are not python's
    }
    return 0;
}

}  // namespace

OuterKind outer_kind(const Words& command, const std::string& real_path) {
    if (torchrun_words(command) > 0) return OuterKind::torchrun;
    const std::string_view name = base_name(real_path.empty() ? std::string_view(command[0]) : std::string_view(real_path));
    if (name == "orterun") return OuterKind::open_mpi;
    const bool launches = name.starts_with("mpirun") || name.starts_with("mpiexec") || std::find(launchers.begin(), launchers.end(), name) != launchers.end();
    return launches ? OuterKind::other_launcher : OuterKind::program;
}

std::string real_path_of(const std::string& program, const std::string& path_variable) {
    char real[PATH_MAX];
    const auto found = [&](const std::string& path) { return access(path.c_str(), X_OK) == 0 && realpath(path.c_str(), real) != nullptr; };
    if (program.find('/') != std::string::npos) return found(program) ? real : "";
    for (std::string_view folder : split(path_variable, ':'))
        if (!folder.empty() && found(std::string(folder) + '/' + program)) return real;
    return {};
}

MpirunLine parse_mpirun(const Words& command) {
    MpirunLine line;
    for (std::size_t i = 1; i < command.size(); ++i) {
        const std::string& word = command[i];
        if (!word.starts_with('-')) {
            line.program = i;
            break;
        }
        const std::string_view name = without_dashes(word);
        if (name == "np" || name == "n" || name == "c") {
            line.ranks = i + 1 < command.size() ? parse_integer(command[i + 1]) : std::nullopt;
            if (!line.ranks) line.kept_because = "mpirun's " + word + " is not a number";
            ++i;
        } else if (name == "bind-to" || name == "bind-to-none") {
            // An order of hosts leaves mpirun no place to bind to: it would refuse to start.
            const bool none = name == "bind-to-none" || (i + 1 < command.size() && command[i + 1] == "none");
            if (none) line.unbound = true;
            else line.kept_because = "mpirun cannot bind ranks (" + word + ") in an order of hosts";
            if (name == "bind-to") ++i;
        } else if (name == "mca" || name == "gmca" || name == "omca") {
            if (i + 1 < command.size() && places_ranks(command[i + 1])) line.kept_because = "you place ranks yourself with " + word + ' ' + command[i + 1];
            i += 2;
        } else {
            const auto known = std::find_if(harmless.begin(), harmless.end(), [&](const Harmless& one) { return one.name == name; });
            if (known == harmless.end()) {
                line.kept_because = "mpirun's option " + word + " may place ranks";
                return line;  // how many words belong to it is not known, so neither is where the program begins
            }
            i += static_cast<std::size_t>(known->values);
        }
    }
    if (line.program > 0 && std::find(command.begin() + static_cast<std::ptrdiff_t>(line.program), command.end(), ":") != command.end())
        line.kept_because = "mpirun starts several programs";
    return line;
}

TorchrunLine parse_torchrun(const Words& command) {
    TorchrunLine line;
    for (std::size_t i = torchrun_words(command); i < command.size(); ++i) {
        std::string word = command[i];
        if (!word.starts_with('-')) break;  // the script: what follows is its own
        if (!word.starts_with("--")) {
            if (word == "-r" || word == "-t") ++i;  // --redirects, --tee
            continue;
        }
        const auto equals = word.find('=');
        const bool within = equals != std::string::npos;
        std::string value = within ? word.substr(equals + 1) : i + 1 < command.size() ? command[i + 1] : "";
        word.resize(std::min(equals, word.size()));
        std::replace(word.begin(), word.end(), '_', '-');
        if (std::find(torchrun_switches.begin(), torchrun_switches.end(), word) != torchrun_switches.end()) {
            line.standalone = line.standalone || word == "--standalone";
            continue;
        }
        if (!within) ++i;
        if (word == "--nnodes") line.nodes = value;
        if (word == "--rdzv-backend") line.rendezvous = value;
        if (word != "--node-rank") continue;
        line.node_rank = std::move(value);
        line.within_word = within;
        line.node_rank_at = i;
    }
    return line;
}

Words with_node_rank(Words command, const TorchrunLine& line, std::size_t rank) {
    if (!line.node_rank || line.node_rank_at >= command.size()) return command;
    std::string& word = command[line.node_rank_at];
    word = (line.within_word ? word.substr(0, word.find('=') + 1) : std::string()) + std::to_string(rank);
    return command;
}

}  // namespace paced::launcher
