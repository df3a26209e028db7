// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/run_plan.h"

#include <algorithm>
#include <climits>
#include <utility>

#include <unistd.h>

#include "plugin/step/fabric_lookup.h"
#include "plugin/step/node_view.h"
#include "plugin/step/report_file.h"
#include "plugin/step_environment.h"
#include "policy/config/placement_applies.h"
#include "policy/placement/rank_order.h"
#include "policy/report/plan_views.h"
#include "policy/topology/host_list.h"

namespace paced::launcher {

namespace {

// What the `paced run` that started mpirun has said of the order (hand_over.h), held against what is worked out here.
void take_handed_over(const Environment& environment, const config::Effective& effective, report::OrderView& order) {
    constexpr std::string_view kept = "kept: ";
    const std::string said = environment.get_or(step::order, "");
    if (said.starts_with(kept)) {
        order.kept_because = said.substr(kept.size());
    } else if (order.improves && topology::expand_hosts(said).hosts == order.hosts && environment.get_or("OMPI_MCA_rmaps", "") == "seq") {
        order.applied = true;
        order.kept_because.clear();
    } else if (order.improves && config::placement_applies(effective).order) {
        order.kept_because = "ranks were started before we were asked: start mpirun or torchrun by `paced run`";
    }
}

// How the job lies on the fabric, and the order of its ranks.
void place_ranks(const Launch& launch, const config::Effective& effective, const Environment& environment, report::JobPlan& plan) {
    const auto fabric = step::read_fabric("", environment);
    if (!fabric) {
        plan.fabric.problem = "switches are not known: " + fabric.error().message;
        return;
    }
    if (effective.order.value.pattern != config::Order::Pattern::none) {
        const int share = std::max(1, launch.tasks / launch.node_count);
        plan.order = report::order_view(placement::rank_order(*fabric, plan.job.hosts, share, effective.order.value), effective.order);
        take_handed_over(environment, effective, plan.order);
        if (plan.order.applied) plan.job.hosts = plan.order.hosts;
    }
    plan.fabric = report::fabric_view(*fabric, plan.job.hosts);
}

}  // namespace

report::JobPlan make_run_plan(const Launch& launch, const config::Effective& effective, const step::StepSetup& setup, const std::string& probe,
                              const Environment& environment) {
    report::JobPlan plan;
    plan.job.id = environment.get_or("SLURM_JOB_ID", "");
    plan.job.stamp = setup.stamp;
    plan.job.tasks = launch.tasks;
    plan.job.name = environment.get_or("SLURM_JOB_NAME", "");
    const bool first_node = setup.leader == "self" || setup.leader.empty();
    plan.policy = report::policy_view(effective, effective.mode.value);
    if (auto node = step::node_plan({{}, probe, {}})) plan.node = std::move(*node);
    else plan.node.remark = "topology unknown: " + node.error().message;
    plan.node.node = launch.node;
    plan.node.local_tasks = launch.local_tasks;
    plan.node.index = first_node ? 0 : 1;

    // Under Slurm the nodes of the job are known; mpirun and torchrun name only their own.
    if (launch.node_count > 1 && first_node) {
        const auto hosts = topology::expand_hosts(environment.get_or("SLURM_JOB_NODELIST", ""));
        if (hosts.hosts.size() == static_cast<std::size_t>(launch.node_count)) {
            plan.job.hosts = hosts.hosts;
            place_ranks(launch, effective, environment, plan);
        }
    }
    if (!effective.report.value.path.empty()) {
        char folder[PATH_MAX];
        const std::string here = getcwd(folder, sizeof folder) != nullptr ? folder : "";
        plan.report_path = step::report_path(effective.report.value.path, plan.job.id.empty() ? setup.session : plan.job.id,
                                             environment.get_or("SLURM_STEP_ID", "0"), here);
    }
    return plan;
}

}  // namespace paced::launcher
