// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/step/step_setup.h"

#include "plugin/step_environment.h"

namespace paced::step {

Variables variables(const StepSetup& setup, const config::Effective& effective) {
    const bool paces = effective.mode.value == config::Mode::pace;
    std::string longest = std::to_string(longest_delay(effective).count());
    if (effective.window.value.automatic && longest != "0") longest = paces ? "auto:" + longest : "auto";
    return {
        {stamp, setup.stamp},
        {mode, to_string(effective.mode.value)},
        {window, longest},
        {run_dir, setup.run_dir},
        {plan, setup.plan_file},
        {leader, setup.leader},
        {ports, to_string(effective.limits.exchange_ports.value)},
        {key_file, setup.key_file},
        {session, setup.session},
        {node, setup.node},
        {node_count, std::to_string(setup.node_count)},
        {pacing, paces ? pacing_text(effective.pacing, effective.limits) : ""},
        {leaf, paces ? setup.leaf : ""},
        {reporter, setup.reporter},
    };
}

}  // namespace paced::step
