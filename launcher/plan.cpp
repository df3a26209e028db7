// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/plan.h"

#include <cstdio>
#include <unordered_set>
#include <utility>

#include "launcher/commands.h"
#include "launcher/inputs.h"
#include "launcher/output.h"
#include "policy/base/text.h"
#include "policy/config/effective.h"
#include "policy/placement/binding.h"
#include "policy/placement/rank_order.h"
#include "policy/report/plan_views.h"
#include "policy/topology/host_list.h"

namespace paced::launcher {

namespace {

using topology::FabricTopology;

constexpr std::size_t shown_max = 5;              // hosts that a warning is given for, one by one
constexpr std::size_t compared_max = 20'000;      // hosts of a fabric that a slip of the finger is looked for among

int print(const Diagnostics& diagnostics) {
    std::fputs(format(diagnostics).c_str(), stderr);
    return diagnostics.has_errors() ? exit_wrong_input : exit_done;
}

NodePlanned plan_node(const topology::NodeTopology& node, const PlanOptions& options, Diagnostics& diagnostics) {
    placement::BindingRequest request;
    request.tasks = options.tasks;
    request.gpus = options.gpus;
    if (options.gpus > static_cast<int>(node.gpus.size()))
        diagnostics.warning({"--gpus", 0, 0}, "the node has " + count_of(static_cast<long long>(node.gpus.size()), "GPU") + ", not " +
                                                  std::to_string(options.gpus));
    NodePlanned planned;
    planned.title = (node.machine.empty() ? std::string("node") : node.machine) + ", from " + node.origin;
    planned.gpus = static_cast<int>(node.gpus.size());
    planned.nics = static_cast<int>(node.nics.size());
    planned.plan = report::node_view(node, placement::bind_tasks(node, request));
    planned.plan.local_tasks = static_cast<int>(planned.plan.bindings.size());
    return planned;
}

// Hosts that the order cannot be worked out with: named here, with what was probably meant. The order is then kept.
void tell_doubtful(const FabricTopology& fabric, const std::vector<std::string>& hosts, Diagnostics& diagnostics) {
    std::vector<std::string> doubtful;
    std::unordered_set<std::string_view> seen;
    std::size_t more = 0;
    for (const std::string& host : hosts) {
        std::string why = seen.insert(host).second ? fabric.why_unknown(host) : host + " stands twice in the list";
        if (why.empty()) continue;
        if (doubtful.size() == shown_max) {
            ++more;
            continue;
        }
        doubtful.push_back(host);
        Diagnostic& warning = diagnostics.warning({"--hosts", 0, 0}, std::move(why));
        if (fabric.leaf_of(host) || fabric.host_count() > compared_max || fabric.doubled().contains(host)) continue;
        std::vector<std::string_view> known;
        for (const topology::Switch& each : fabric.switches()) known.insert(known.end(), each.hosts.begin(), each.hosts.end());
        if (const auto near = did_you_mean(host, known)) warning.hints.push_back("did you mean '" + *near + "'?");
    }
    if (more > 0) diagnostics.warning({"--hosts", 0, 0}, "and so with " + count_of(static_cast<long long>(more), "more host"));
}

OrderPlanned plan_order(const FabricTopology& fabric, const std::vector<std::string>& hosts, const config::Order& pattern, const PlanOptions& options) {
    OrderPlanned planned;
    planned.fabric = fabric.origin;
    planned.tasks_per_node = options.tasks_per_node;
    planned.view = report::order_view(placement::rank_order(fabric, hosts, options.tasks_per_node, pattern), {pattern, "--order"});
    for (const std::string& host : planned.view.hosts) {
        const auto leaf = fabric.leaf_of(host);
        std::string name = leaf ? fabric.at(*leaf).name : std::string();
        if (planned.stretches.empty() || planned.stretches.back().leaf != name) planned.stretches.push_back({std::move(name), {}});
        planned.stretches.back().hosts.push_back(host);
    }
    return planned;
}

// How many ranks there are, and whether the pattern is one for so many.
void check_ranks(const std::vector<std::string>& hosts, const config::Order& pattern, const PlanOptions& options, Diagnostics& diagnostics) {
    const long long ranks = static_cast<long long>(hosts.size()) * options.tasks_per_node;
    const std::string counted = count_of(static_cast<long long>(hosts.size()), "host") + " with " + count_of(options.tasks_per_node, "task") +
                                (hosts.size() == 1 ? " is " : " each are ") + count_of(ranks, "rank");
    if (ranks > config::Order::most_ranks) diagnostics.error({"--hosts", 0, 0}, counted + ", more than " + std::to_string(config::Order::most_ranks));
    if (pattern.pattern != config::Order::Pattern::grid) return;
    long long product = 1;
    for (const auto& axis : pattern.axes) product *= axis.size;
    if (product != ranks)
        diagnostics.error({"--order", 0, 0}, "the grid '" + options.order + "' is for " + count_of(product, "rank") + ", but " + counted)
            .hints.emplace_back("the sizes of the axes multiply to the number of ranks: hosts times --tasks-per-node");
}

}  // namespace

int run_plan(const PlanOptions& options) {
    Planned planned;
    Diagnostics diagnostics;
    if (!options.node.empty()) {
        const NodeInput input = node_from_file(options.node);
        if (!input.node) return input.exit_code;
        planned.node = plan_node(*input.node, options, diagnostics);
    }
    if (!options.fabric.empty()) {
        const std::vector<std::string> hosts = hosts_of(options.hosts, diagnostics);
        const auto pattern = config::parse_order(options.order);
        if (!pattern) diagnostics.error({"--order", 0, 0}, pattern.error().message).hints = pattern.error().hints;
        else if (!hosts.empty()) check_ranks(hosts, *pattern, options, diagnostics);
        if (diagnostics.has_errors()) return print(diagnostics);
        const FabricInput input = fabric_from_file(options.fabric);
        if (!input.fabric) return input.exit_code;
        tell_doubtful(*input.fabric, hosts, diagnostics);
        planned.order = plan_order(*input.fabric, hosts, *pattern, options);
    }
    print(diagnostics);
    return options.json ? print_result(plan_json(planned)) : print_text(plan_text(planned));
}

}  // namespace paced::launcher
