// SPDX-License-Identifier: BSD-3-Clause
#include <memory>

#include <CLI/CLI.hpp>

#include "launcher/commands.h"
#include "launcher/topo.h"

namespace paced::launcher {

void add_topo(CLI::App& program, Chosen& chosen) {
    CLI::App* command = program.add_subcommand("topo", "Show a node's topology and the NIC nearest to each GPU");
    auto options = std::make_shared<TopoOptions>();
    command->add_option("FILE", options->file, "hwloc XML, NCCL XML, 'nvidia-smi topo -m' or a snapshot; none: this machine");
    command->add_flag("--json", options->json, "Print JSON");
    command->callback([&chosen, options] { chosen = [options] { return run_topo(*options); }; });
}

}  // namespace paced::launcher
