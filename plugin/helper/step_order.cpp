// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/helper/step_order.h"

#include <algorithm>

#include "policy/config/placement_applies.h"
#include "policy/placement/rank_order.h"
#include "policy/report/plan_views.h"

namespace paced::helper {

namespace {

// A better order is known and srun has said nothing of it.
std::string why_not_tried(const Request& request, const config::Effective& effective) {
    if (effective.mode.value == config::Mode::explain) return "explain changes nothing";
    if (!placement_applies(effective).order) return "observe changes only what you ask for, by --paced-fabric-order or PACED_FABRIC_ORDER";
    if (request.hosts.size() < 3) return "fewer than 3 nodes have one order only";
    return "srun makes the order in the job's script alone: not for a step of its own job, nor from within a task";
}

}  // namespace

report::OrderView step_order(const Request& request, const config::Effective& effective, const Result<topology::FabricTopology>& fabric) {
    report::OrderView view;
    view.pattern = to_string(effective.order.value);
    view.source = effective.order.source;
    if (effective.order.value.pattern == config::Order::Pattern::none) return view;
    if (request.hosts.empty()) {
        view.kept_because = "the step's nodes are not known; is it a step over several components of a job?";
        return view;
    }

    if (fabric) {
        const int share = std::max(1, request.tasks / static_cast<int>(request.hosts.size()));
        view = report::order_view(placement::rank_order(*fabric, request.hosts, share, effective.order.value), effective.order);
    } else {
        view.kept_because = "switches are not known: " + fabric.error().message;
    }
    const std::optional<Placed>& placed = request.placed;
    if (placed && placed->ordered) {
        view.applied = true;
        view.kept_because.clear();
        const bool as_here = placed->hosts.empty() ? placed->hash == hash_of(view.hosts) : placed->hosts == view.hosts;
        if (!as_here) {
            view.hosts = placed->hosts;
            view.levels.clear();
            view.reasons = {"the node where srun ran knows another fabric than this one: costs are not known here"};
        }
    } else if (view.improves) {
        view.kept_because = placed ? placed->kept_because : why_not_tried(request, effective);
    }
    return view;
}

}  // namespace paced::helper
