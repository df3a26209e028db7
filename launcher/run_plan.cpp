// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/run_plan.h"

#include <climits>
#include <utility>

#include <unistd.h>

#include "plugin/step/fabric_lookup.h"
#include "plugin/step/node_view.h"
#include "plugin/step/report_file.h"
#include "policy/report/plan_views.h"
#include "policy/topology/host_list.h"

namespace paced::launcher {

report::JobPlan make_run_plan(const Launch& launch, const config::Effective& effective, const step::StepSetup& setup, const std::string& probe,
                              const Environment& environment) {
    report::JobPlan plan;
    plan.job.id = environment.get_or("SLURM_JOB_ID", "");
    plan.job.stamp = setup.stamp;
    plan.job.tasks = launch.tasks;
    plan.job.name = environment.get_or("SLURM_JOB_NAME", "");
    const bool first_node = setup.leader == "self" || setup.leader.empty();
    // Pacing is not there yet.
    plan.policy = report::policy_view(effective, effective.mode.value == config::Mode::pace ? config::Mode::observe : effective.mode.value);
    if (auto node = step::node_plan({{}, probe, {}})) plan.node = std::move(*node);
    else plan.node.remark = "topology unknown: " + node.error().message;
    plan.node.node = launch.node;
    plan.node.index = first_node ? 0 : 1;

    // Under Slurm the nodes of the job are known; mpirun and torchrun name only their own.
    if (launch.node_count > 1 && first_node) {
        const auto hosts = topology::expand_hosts(environment.get_or("SLURM_JOB_NODELIST", ""));
        if (hosts.hosts.size() == static_cast<std::size_t>(launch.node_count)) {
            plan.job.hosts = hosts.hosts;
            plan.fabric = step::find_fabric(hosts.hosts, "", environment);
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
