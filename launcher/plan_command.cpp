// SPDX-License-Identifier: BSD-3-Clause
#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>

#include "launcher/commands.h"
#include "launcher/plan.h"

namespace paced::launcher {

namespace {

// A node has at most some thousand CPUs, and a reason names all tasks that share a NIC.
constexpr int most_tasks = 4096;

int plan(const PlanOptions& options) {
    if (!options.node.empty() || !options.fabric.empty()) return run_plan(options);
    std::cerr << "paced plan: nothing to plan for\n"
                 "    hint: --node FILE plans the binding on a node, --fabric FILE --hosts LIST the order of hosts\n"
                 "    hint: 'paced plan --help' shows what there is\n";
    return exit_usage;
}

}  // namespace

void add_plan(CLI::App& program, Chosen& chosen) {
    CLI::App* command = program.add_subcommand("plan", "Show which GPU, NIC and CPUs each task gets, and the order of hosts");
    auto options = std::make_shared<PlanOptions>();
    const auto not_empty = [](const std::string& text) { return text.empty() ? std::string("must not be empty") : std::string(); };
    auto* node = command->add_option("--node", options->node, "a node: hwloc XML, NCCL topology XML, or the text of\n`nvidia-smi topo -m`")
                     ->type_name("FILE")->check(not_empty)->group("Binding on a node");
    command->add_option("--tasks", options->tasks, "tasks on the node; default: one for each GPU")
        ->type_name("N")->check(CLI::Range(1, most_tasks))->needs(node)->group("Binding on a node");
    command->add_option("--gpus", options->gpus, "use so many GPUs, the best ones; default: all")
        ->type_name("N")->check(CLI::Range(1, 100'000))->needs(node)->group("Binding on a node");
    auto* fabric = command->add_option("--fabric", options->fabric, "a fabric: topology.conf, topology.yaml, ibnetdiscover output, ...")
                       ->type_name("FILE")->check(not_empty)->group("Order of hosts");
    auto* hosts = command->add_option("--hosts", options->hosts, "hosts in the order in which they would be used: n[1-4,7], or\n@FILE with such a list a line; more than once: one list")
                      ->type_name("LIST")->expected(1)->allow_extra_args(false)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)->group("Order of hosts");
    fabric->needs(hosts);
    hosts->needs(fabric);
    command->add_option("--tasks-per-node", options->tasks_per_node, "ranks on each host; default 1")
        ->type_name("N")->check(CLI::Range(1, 100'000))->needs(fabric)->group("Order of hosts");
    command->add_option("--order", options->order, "the traffic that the order is for: ring (default), alltoall, tree, none,\nor a grid such as tp=8,pp=4,dp=16")
        ->type_name("PATTERN")->needs(fabric)->group("Order of hosts");
    command->add_flag("--json", options->json, "print JSON");
    command->footer(
        "Nothing is changed: this shows what a job with these tasks or hosts would get.\n"
        "\n"
        "  paced plan --node node.xml\n"
        "  paced plan --fabric /etc/slurm/topology.conf --hosts n[1-8] --tasks-per-node 8");
    command->callback([&chosen, options] { chosen = [options] { return plan(*options); }; });
}

}  // namespace paced::launcher
