// SPDX-License-Identifier: BSD-3-Clause
#include "policy/config/placement_applies.h"

namespace paced::config {

PlacementApplies placement_applies(const Effective& effective) {
    const Mode mode = effective.mode.value;
    if (mode != Mode::pace && mode != Mode::observe) return {};
    const bool all = mode == Mode::pace;
    return {effective.bind.value != Bind::none && (all || effective.bind.by_user),
            effective.order.value.pattern != Order::Pattern::none && (all || effective.order.by_user)};
}

}  // namespace paced::config
