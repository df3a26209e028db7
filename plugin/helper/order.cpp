// SPDX-License-Identifier: BSD-3-Clause
// `paced-fabric-helper order`: in srun, before it reads its own options. Shall the ranks of this step follow an order of
// the fabric, and may they? The answer names hosts by their place in the job's list, so that it can name no other.
#include <array>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <unistd.h>

#include "plugin/helper/answer.h"
#include "plugin/helper/placed.h"
#include "plugin/helper/request.h"
#include "plugin/helper/site_policy.h"
#include "plugin/helper/step_layout.h"
#include "plugin/helper/verbs.h"
#include "plugin/step/fabric_lookup.h"
#include "plugin/step/job_facts.h"
#include "plugin/step/mpi_default.h"
#include "policy/base/text.h"
#include "policy/config/placement_applies.h"
#include "policy/io/text_file.h"
#include "policy/placement/rank_order.h"

namespace paced::helper {

namespace {

int say(const Answer& answer) { return io::write_all(STDOUT_FILENO, answer.text()) ? 0 : 3; }

// What stands on srun's own line counts more than what the job carries.
void take_flags(const SrunLine& line, config::Flags& flags) {
    const std::array<std::pair<std::string_view, config::FlagValue*>, 5> names{{{"paced-fabric", &flags.mode},
                                                                                {"paced-fabric-order", &flags.order},
                                                                                {"paced-fabric-bind", &flags.bind},
                                                                                {"paced-fabric-window", &flags.window},
                                                                                {"paced-fabric-report", &flags.report}}};
    for (const SrunLine::Given& given : line.options)
        for (const auto& [name, flag] : names)
            if (given.option->name == name) *flag = {true, given.value.value_or("")};
}

// Batch scripts and interactive shells know the user by the common variables alone.
config::JobFacts facts_of(const Environment& environment) {
    config::JobFacts facts = step::job_facts(environment);
    if (facts.user.empty()) facts.user = environment.get_or("USER", environment.get_or("LOGNAME", ""));
    return facts;
}

// "0-3,7,5": positions in submitted; empty where the two are not the same hosts.
std::string positions_of(const std::vector<std::string>& chosen, const std::vector<std::string>& submitted) {
    std::unordered_map<std::string_view, std::size_t> positions;
    for (std::size_t i = 0; i < submitted.size(); ++i) positions.emplace(submitted[i], i);
    std::string text;
    if (chosen.size() != submitted.size()) return text;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        const auto first = positions.find(chosen[i]);
        if (first == positions.end()) return {};
        std::size_t length = 1;
        for (; i + 1 < chosen.size(); ++i, ++length) {
            const auto next = positions.find(chosen[i + 1]);
            if (next == positions.end() || next->second != first->second + length) break;
        }
        if (!text.empty()) text += ',';
        text += std::to_string(first->second);
        if (length > 1) text += '-' + std::to_string(first->second + length - 1);
    }
    return text;
}

struct Decision {
    bool worth_saying = false;
    Placed placed;
    int tasks_per_node = 0;
    std::string positions;
};

Decision kept(std::string why) {
    Decision decision;
    decision.worth_saying = true;
    decision.placed.kept_because = std::move(why);
    return decision;
}

Decision decide(const Request& request, const SrunLine& line, const Environment& environment) {
    Decision nothing;
    const SitePolicyOrReason policy = read_policy(request.config);
    if (!policy.off_because.empty()) return nothing;  // the step says why
    Diagnostics ignored;                              // told by the step too
    const config::Effective effective = resolve(policy.site, request.flags, environment, facts_of(environment), ignored);
    if (!placement_applies(effective).order) return nothing;

    SlurmFacts slurm;
    slurm.version = static_cast<unsigned>(parse_integer(environment.get_or("PACED_FABRIC_HELPER_SLURM_VERSION", "0")).value_or(0));
    slurm.mpi_default = step::mpi_default(environment);
    const StepLayout layout = step_layout(line, environment, slurm);
    if (!layout.ranks) return nothing;
    if (!layout.certain()) return kept(layout.kept_because);

    const Result<topology::FabricTopology> fabric = step::read_fabric(request.topology_conf, environment);
    if (!fabric) return kept("switches are not known: " + fabric.error().message);
    const placement::RankOrder order = placement::rank_order(*fabric, layout.hosts, layout.tasks_per_node, effective.order.value);
    if (!order.improves) return nothing;  // the step works the same out, and gives the reasons

    Decision decision;
    decision.positions = positions_of(order.hosts, layout.hosts);
    if (decision.positions.empty() || order.hosts.front() != layout.hosts.front()) return kept("the order is not one of the job's nodes");
    decision.worth_saying = true;
    decision.tasks_per_node = layout.tasks_per_node;
    decision.placed.ordered = true;
    decision.placed.pattern = to_string(effective.order.value);
    decision.placed.hosts = order.hosts;
    return decision;
}

}  // namespace

int order(const Environment& environment, const std::vector<std::string>& words) {
    Request request = read_request(environment);
    const SrunLine line = parse_srun_line(words);
    take_flags(line, request.flags);
    const Decision decision = decide(request, line, environment);

    Answer answer("paced-fabric-order 1");
    if (decision.worth_saying && !answer.add("placed", to_text(decision.placed))) return 3;
    if (decision.placed.ordered) answer.add("order", std::to_string(decision.tasks_per_node) + ' ' + decision.positions);
    return say(answer);
}

}  // namespace paced::helper
